"""Pages of fitted models open in a browser: texts with a tree, a table and images."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from boostkmeans import BisectingBoostKMeans, BoostKMeans
from boostkmeans.explore import page
from browser_pages import OpenPage, open_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.process

N, K = 300, 6
WORDS = ["apple pie", "red car", "deep sea", "old king", "cold snow", "</script><b>green tea</b>"]


@pytest.fixture(scope="module")
def rows() -> Any:
    rng = np.random.default_rng(0)
    return 9 * rng.normal(size=(K, 5))[np.arange(N) % K] + rng.normal(size=(N, 5))


def opened(browser: "Browser", path: Path, shown: Any) -> OpenPage:
    shown.save(path)
    return open_page(browser, path)


def test_texts_and_tree(browser: "Browser", tmp_path: Path, rows: Any) -> None:
    model = BisectingBoostKMeans(K, random_state=0).fit(rows)
    texts = [f"{WORDS[i % K]} number {i}" for i in range(N)]
    found = page(model, rows, texts=texts, title="<i>Drinks</i> & more", command="a command")
    tab = opened(browser, tmp_path / "page.html", found)
    assert tab.page.title() == "<i>Drinks</i> & more"
    text = tab.page.inner_text("#panel")
    for name in found.names:
        assert name in text
    assert tab.page.locator("#panel b").filter(has_text="green tea").count() == 0
    assert tab.problems() == []
    tab.page.context.close()


@pytest.mark.parametrize("kind", ["table", "image", "vector"])
def test_other_rows(browser: "Browser", tmp_path: Path, rows: Any, kind: str) -> None:
    model = BoostKMeans(K, random_state=0).fit(rows)
    contents: dict[str, Any] = {}
    if kind == "table":
        contents["table"] = {"size": rows[:, 0], "word": [WORDS[i % K] for i in range(N)]}
    if kind == "image":
        for i in range(K):
            Image.new("RGB", (20, 20), (40 * i, 0, 0)).save(tmp_path / f"{i}.png")
        contents["images"] = [tmp_path / f"{i % K}.png" for i in range(N)]
    found = page(model, rows, coordinates=rows[:, :2], **contents)
    tab = opened(browser, tmp_path / "page.html", found)
    assert found.names[0] in tab.page.inner_text("#panel")
    assert tab.problems() == []
    tab.page.context.close()
