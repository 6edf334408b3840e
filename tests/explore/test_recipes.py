"""Recipes of docs/explorer.md with other tools. A recipe is skipped without its package."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explored import blobs

from boostkmeans import BoostKMeans
from boostkmeans.explore import page
from processes import PATIENCE

GUIDE = Path(__file__).parents[2] / "docs" / "explorer.md"
K = 40
X = blobs(300, 8, K)
TEXTS = [f"text {i} about topic {label}" for i, label in enumerate(BoostKMeans(K).fit_predict(X))]


@pytest.fixture
def exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the Parquet file of a map, in the current folder."""
    model = BoostKMeans(K, random_state=0).fit(X)
    page(model, X, texts=TEXTS, coordinates=X[:, :2]).save_parquet(tmp_path / "map.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "map.parquet"


def recipe(language: str, word: str) -> str:
    """Return the block of the guide that contains a word."""
    blocks = re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)
    (found,) = [block for block in blocks if word in block]
    return str(found)


def test_pandas_reads_the_map(exported: Path) -> None:
    pandas = pytest.importorskip("pandas")
    rows = pandas.read_parquet(exported)
    assert list(rows) == ["x", "y", "cluster", "name", "text"]
    assert rows.groupby("cluster")["name"].nunique().tolist() == [1] * K
    assert np.isfinite(rows[["x", "y"]].to_numpy()).all()
    assert rows["text"].tolist() == TEXTS


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_datamapplot_draws_the_map(exported: Path) -> None:
    pytest.importorskip("datamapplot")
    exec(compile(recipe("py", "datamapplot"), "datamapplot", "exec"), {})
    assert exported.with_suffix(".png").stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.process
def test_embedding_atlas_accepts_the_map(exported: Path) -> None:
    program = shutil.which("embedding-atlas")
    if program is None:
        pytest.skip("The test needs the command embedding-atlas: pip install embedding-atlas")
    arguments = shlex.split(recipe("sh", "embedding-atlas"))[1:]
    archive = exported.with_suffix(".zip")
    command = [program, *arguments, "--export-application", str(archive)]
    subprocess.run(command, check=True, timeout=PATIENCE)
    assert archive.stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_bertopic_uses_the_estimator() -> None:
    pytest.importorskip("bertopic")
    names: dict[str, Any] = {"BoostKMeans": BoostKMeans, "texts": TEXTS, "X": X}
    exec(compile(recipe("py", "BERTopic"), "bertopic", "exec"), names)
    labels = BoostKMeans(K, metric="cosine", random_state=0).fit_predict(X)
    pairs = set(zip(names["found"], labels.tolist(), strict=True))
    assert len(pairs) == K, "the topics are the clusters, with other numbers"
    counts = np.bincount(names["found"])
    assert (np.diff(counts) <= 0).all(), "the largest topic is the first"
