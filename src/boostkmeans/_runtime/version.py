"""The version of the package: the only place that states it.

It is the version of the newest section of CHANGELOG.md, released or not. pyproject.toml reads it from
this file.
"""

VERSION = "0.14.0"
