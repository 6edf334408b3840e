"""Screenshots for the documentation, of the sample of WordNet. `make screenshots` stores them."""

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from boostkmeans import BisectingBoostKMeans, explore
from browser_pages import OpenPage, open_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
MAX_BYTES = 200_000
WIDE, NARROW = {"width": 1280, "height": 760}, {"width": 390, "height": 760}

pytest_plugins = ("browser_fixtures",)
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        "BOOSTKMEANS_SCREENSHOTS" not in os.environ, reason="Stores files: run `make screenshots`"
    ),
]


@pytest.fixture(scope="module")
def glosses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page that the guide creates from the sample of WordNet."""
    with np.load(ROOT / "examples" / "data" / "wordnet.npz") as sample:
        X, texts = sample["X"], sample["texts"].tolist()
    model = BisectingBoostKMeans(40, refine=True, metric="cosine", random_state=0).fit(X)
    path = tmp_path_factory.mktemp("page") / "page.html"
    explore.page(model, X, texts=texts, title="Glosses of WordNet").save(path)
    return path


@pytest.fixture
def opened(browser: "Browser", glosses: Path, request: pytest.FixtureRequest) -> Iterator["Page"]:
    """Return the open page, in a window that the parameter describes."""
    context: dict[str, Any] = request.param
    tab: OpenPage = open_page(browser, glosses, **context)
    yield tab.page
    assert tab.problems() == []
    tab.page.context.close()


def store(page: "Page", name: str) -> None:
    """Store a picture of the page with few colours, which keeps it small."""
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(400)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture = picture.quantize(256, kmeans=4, dither=Image.Dither.NONE)
    picture.save(IMAGES / name, optimize=True)
    assert (IMAGES / name).stat().st_size < MAX_BYTES


@pytest.mark.parametrize("opened", [{"viewport": WIDE}], indirect=True)
def test_map_in_light_colours(opened: "Page") -> None:
    store(opened, "explorer_map.png")


@pytest.mark.parametrize("opened", [{"viewport": WIDE, "color_scheme": "dark"}], indirect=True)
def test_opened_cluster_in_dark_colours(opened: "Page") -> None:
    opened.locator("table.clusters tbody .set-link").first.click()
    store(opened, "explorer_cluster.png")


@pytest.mark.parametrize("opened", [{"viewport": NARROW}], indirect=True)
def test_narrow_screen(opened: "Page") -> None:
    opened.locator("#cut").fill("8")
    store(opened, "explorer_narrow.png")
