"""`boostkmeans images`: cluster the images of a folder."""

from boostkmeans.cli.commands.images.command import images

__all__ = ["images"]
