"""A figure that notebooks display. This module imports Matplotlib."""

import io

from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """A figure outside of pyplot, which a notebook displays once, as the value of a cell.

    A figure of pyplot would be displayed a second time at the end of the cell, and would stay in memory
    until it is closed. Without pyplot, IPython does not know how to display figures.
    """

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()
