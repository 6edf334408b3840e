"""`boostkmeans fit`: cluster vectors."""

from boostkmeans.cli.commands.fit.command import fit

__all__ = ["fit"]
