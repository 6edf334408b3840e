"""How to install the optional parts of the package."""

# The only place that states this command. When wheels are published, it becomes
# "pip install 'boostkmeans[{extra}]'".
INSTALL_EXTRA = "pip install '.[{extra}]' in a copy of the source code"


def install_hint(extra: str) -> str:
    """Return the command that installs an extra."""
    return INSTALL_EXTRA.format(extra=extra)
