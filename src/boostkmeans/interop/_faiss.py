"""faiss, which is imported when it is wanted: few have it."""

from typing import Any


def faiss_module() -> Any:
    """The module. Raises ImportError that tells how to get it."""
    try:
        import faiss
    except ImportError as error:  # with its cause: an installation may be there, and broken
        raise ImportError("boostkmeans.interop needs faiss: pip install 'boostkmeans[faiss]'") from error
    return faiss
