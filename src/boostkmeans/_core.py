"""Explanation for installations in which the compiled module `_core` is missing.

Python prefers the compiled module of the same name, so this file runs only without it.
"""

raise ImportError(
    "boostkmeans is not compiled for this Python: its C++ core is missing. "
    "Install the package with pip ('pip install .' in a copy of the source code)."
)
