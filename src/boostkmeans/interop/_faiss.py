"""Import of faiss, which is optional."""

from typing import Any


def faiss_module() -> Any:
    """Import faiss, or raise an ImportError that says how to install it."""
    try:
        import faiss
    except ImportError as error:  # chained, because an existing installation may be broken
        raise ImportError("boostkmeans.interop needs faiss: pip install 'boostkmeans[faiss]'") from error
    return faiss
