"""Import of faiss, which is optional."""

from typing import Any

from boostkmeans._runtime.installation import install_hint


def faiss_module() -> Any:
    """Import faiss, or raise an ImportError that says how to install it."""
    try:
        import faiss
    except ImportError as error:  # chained, because an existing installation may be broken
        raise ImportError(f"boostkmeans.interop needs faiss: {install_hint('faiss')}") from error
    return faiss
