"""Recipes of docs/explorer.md with other tools. A recipe is skipped without its package."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from explored import blobs

from boostkmeans import BoostKMeans
from boostkmeans.explore import page
from processes import PATIENCE

X = blobs(200, 8, 4)
TEXTS = [f"text {i} about topic {label}" for i, label in enumerate(BoostKMeans(4).fit_predict(X))]


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """Return a Parquet file of a map."""
    model = BoostKMeans(4, random_state=0).fit(X)
    page(model, X, texts=TEXTS).save_parquet(tmp_path / "map.parquet")
    return tmp_path / "map.parquet"


def test_pandas_reads_the_map(exported: Path) -> None:
    pandas = pytest.importorskip("pandas")
    rows = pandas.read_parquet(exported)
    assert list(rows) == ["x", "y", "cluster", "name", "text"]
    assert rows.groupby("cluster")["name"].nunique().tolist() == [1, 1, 1, 1]
    assert np.isfinite(rows[["x", "y"]].to_numpy()).all()
    assert rows["text"].tolist() == TEXTS


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_datamapplot_draws_the_map(exported: Path) -> None:
    datamapplot = pytest.importorskip("datamapplot")
    rows = pytest.importorskip("pandas").read_parquet(exported)
    figure, _ = datamapplot.create_plot(rows[["x", "y"]].to_numpy(), rows["name"].astype(str).to_numpy())
    figure.savefig(exported.with_suffix(".png"))
    assert exported.with_suffix(".png").stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.process
def test_embedding_atlas_accepts_the_map(exported: Path) -> None:
    program = shutil.which("embedding-atlas")
    if program is None:
        pytest.skip("The test needs embedding-atlas: pip install embedding-atlas")
    archive = exported.with_suffix(".zip")
    command = [program, str(exported), "--text", "text", "--x", "x", "--y", "y"]
    subprocess.run([*command, "--export-application", str(archive)], check=True, timeout=PATIENCE)
    assert archive.stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_bertopic_uses_the_estimator() -> None:
    bertopic = pytest.importorskip("bertopic")
    from bertopic.dimensionality import BaseDimensionalityReduction

    model = BoostKMeans(4, metric="cosine", random_state=0)
    topics = bertopic.BERTopic(
        embedding_model=None, umap_model=BaseDimensionalityReduction(), hdbscan_model=model
    )
    found, _ = topics.fit_transform(TEXTS, X)
    assert len(set(found)) == 4
