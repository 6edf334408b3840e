"""A notebook with a real kernel: the live line, figures, tables, and Ctrl-C."""

from typing import Any

import pytest

from processes import PATIENCE

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")

CELLS = {
    "import": """
import numpy as np
from boostkmeans import BisectingBoostKMeans, BoostKMeans
from boostkmeans.select import scan
X = np.random.default_rng(0).normal(size=(2000, 8))
""",
    "fit": "model = BoostKMeans(20, random_state=0, verbose=1, n_init=3).fit(X)",
    "html": "model",
    "scan": "found = scan(X[:300], range(2, 5), random_state=0, n_references=2, verbose=1)",
    "table": "found",
    "plot": "found.plot()",
    "pyplot": "import matplotlib.pyplot as plt; found.plot()",
    "history": "model.plot_history()",
    "figures": "print(plt.get_fignums())",
    "tree": "BisectingBoostKMeans(200, random_state=0).fit(X).tree_",
    "interrupt": """
import os, signal
big = np.random.default_rng(0).normal(size=(100_000, 32))
slow = BoostKMeans(64, tol=0, init="random", annealing=0, random_state=0, verbose=1)
slow.set_params(callback=lambda record: os.kill(os.getpid(), signal.SIGINT))
try:
    slow.fit(big)
except KeyboardInterrupt:
    print("stopped:", slow.stop_reason_)
""",
}


@pytest.fixture(scope="module")
def outputs() -> dict[str, list[Any]]:
    """Return the outputs of each cell."""
    cells = [nbformat.v4.new_code_cell(code) for code in CELLS.values()]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=int(PATIENCE), kernel_name="python3").execute()
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def mime_types(output: Any) -> set[str]:
    return set(output.data)


@pytest.mark.slow
@pytest.mark.process
class TestNotebook:
    def test_verbose_is_one_display_that_was_updated(self, outputs: dict[str, list[Any]]) -> None:
        (output,) = outputs["fit"]
        assert output.output_type == "display_data"
        # nbclient shows the last update.
        assert output.data["text/plain"].startswith("BoostKMeans: k=20, inertia ")
        assert "stop reason" in output.data["text/html"]
        assert '<progress max="1" value="1.0000"' in output.data["text/html"]

    def test_scan_is_one_display(self, outputs: dict[str, list[Any]]) -> None:
        (output,) = outputs["scan"]
        assert output.data["text/plain"].startswith("3 numbers of clusters, suggested k=")

    def test_fitted_estimator_shows_its_result(self, outputs: dict[str, list[Any]]) -> None:
        (output,) = outputs["html"]
        assert "stop reason" in output.data["text/html"]

    def test_scan_is_a_table(self, outputs: dict[str, list[Any]]) -> None:
        (output,) = outputs["table"]
        assert "<table" in output.data["text/html"]
        assert output.data["text/plain"].startswith("Scan(n_clusters=[2, 3, 4], suggestion=")

    @pytest.mark.parametrize("cell", ["plot", "pyplot"])
    def test_plot_of_a_scan_is_shown_once(self, outputs: dict[str, list[Any]], cell: str) -> None:
        (output,) = outputs[cell]
        assert output.output_type == "execute_result"
        assert "image/png" in mime_types(output)

    def test_history_is_shown_once(self, outputs: dict[str, list[Any]]) -> None:
        images = [one for one in outputs["history"] if "image/png" in mime_types(one)]
        assert len(images) == 1

    def test_no_figure_stays_in_memory(self, outputs: dict[str, list[Any]]) -> None:
        assert [one.text for one in outputs["figures"]] == ["[]\n"]

    def test_tree_is_short(self, outputs: dict[str, list[Any]]) -> None:
        (output,) = outputs["tree"]
        assert output.data["text/plain"].startswith("ClusterTree(n_leaves=200, ")

    def test_fit_can_be_interrupted(self, outputs: dict[str, list[Any]]) -> None:
        display, text = outputs["interrupt"]
        assert "stop reason interrupted" in display.data["text/plain"]
        assert text.text == "stopped: interrupted\n"
