"""Import of the engines, which are optional dependencies."""

import importlib
import sys
from typing import Any

from boostkmeans._runtime.installation import install_hint

# Package that the adapter of an engine imports, for each extra of this project.
PACKAGES = {"dask": "distributed", "ray": "ray"}


def import_engine(engine: str) -> Any:
    """Import the package of an engine, or raise an ImportError that says how to install it."""
    try:
        return importlib.import_module(PACKAGES[engine])
    except ImportError as error:  # chained, because an existing installation may be broken
        raise ImportError(
            f"engine={engine!r} needs the package {PACKAGES[engine]!r}, which is part of the extra "
            f"{engine!r}: {install_hint(engine)}"
        ) from error


def loaded(package: str) -> Any:
    """Return a package if this process has imported it, and None otherwise.

    Without the package, no object of its types exists, and no cluster of this process can run.
    """
    return sys.modules.get(package)
