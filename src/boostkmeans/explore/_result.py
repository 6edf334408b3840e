"""`Page`: an explorer page as a string, a file or an inline display in a notebook."""

import html as markup
import os
from dataclasses import dataclass
from typing import Any

from boostkmeans._storage.atomic_file import atomic_write_text
from boostkmeans.explore._parquet import write_parquet

# Height of the page in a notebook, in pixels.
NOTEBOOK_HEIGHT = 720
# Rights of the page in a notebook: it may run its own script and save files, and nothing else.
SANDBOX = "allow-scripts allow-downloads"


@dataclass(frozen=True, repr=False, eq=False)
class Page:
    """An explorer page. Created by `boostkmeans.explore.page`.

    In a notebook, a page is displayed if it is the last value of a cell.
    """

    html: str
    """The complete HTML page."""
    title: str
    """Title of the page."""
    n_rows: int
    """Number of rows."""
    names: list[str]
    """Name of each cluster."""
    omitted: list[str]
    """Sentences that say which contents do not fit into the page."""
    columns: "dict[str, Any]"
    """Columns of the Parquet file that `save_parquet` writes: "x", "y", "cluster", "name" and, if they
    are known, "id" and "text"."""

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> None:
        """Write the page to a file.

        The file is replaced atomically: after a crash, the old or the new page is complete.

        Parameters
        ----------
        path : path
            Name of the file.
        force : bool, default=True
            Whether to replace an existing file. If False, an existing file raises FileExistsError.
        """
        atomic_write_text(path, self.html, force=force)

    def save_parquet(self, path: str | os.PathLike[str], *, force: bool = True) -> None:
        """Write one row per row of X to a Parquet file, for other tools.

        The columns are x, y, cluster, name and, if they are known, id and text. This requires pyarrow.

        Parameters
        ----------
        path : path
            Name of the file.
        force : bool, default=True
            Whether to replace an existing file. If False, an existing file raises FileExistsError.
        """
        write_parquet(path, self.columns, force=force)

    def __repr__(self) -> str:
        return (
            f"Page({self.title!r}, n_rows={self.n_rows}, n_clusters={len(self.names)}, "
            f"{len(self.html) / 1e6:.1f} MB)"
        )

    def _repr_html_(self) -> str:
        """Return a frame that displays the page in a notebook.

        The page is in the attribute `srcdoc`. It has an origin of its own, so that neither its script
        nor its data can reach the notebook.
        """
        return (
            f'<iframe title="{markup.escape(self.title)}" sandbox="{SANDBOX}" '
            f'srcdoc="{markup.escape(self.html)}" width="100%" height="{NOTEBOOK_HEIGHT}" '
            'style="border: 1px solid #8888; border-radius: 4px"></iframe>'
        )
