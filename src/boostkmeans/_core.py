"""Error message for installations without the compiled module `_core`.

Python prefers a compiled module of the same name, so this file is imported only if that is missing.
"""

raise ImportError(
    "boostkmeans is not compiled for this Python: its C++ core is missing. "
    "Install the package with pip ('pip install .' in a copy of the source code)."
)
