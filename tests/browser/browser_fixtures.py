"""A browser and pages for the tests of the explorer's page."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browser_pages import OpenPage, open_page, start_browser, write_page
from page_payloads import Payload, make_payload
from page_types import OpenPayload

if TYPE_CHECKING:
    from playwright.sync_api import Browser


# Not for the whole session: Playwright occupies the event loop, which other tests need.
@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with start_browser() as started:
        yield started


@pytest.fixture(scope="session")
def thousand() -> Payload:
    """Return 1,000 rows in 20 clusters, with texts and a tree. Tests must not change it."""
    return make_payload(1000)


@pytest.fixture
def open_payload(browser: "Browser", tmp_path: Path) -> Iterator[OpenPayload]:
    """Return a function that opens the page of a payload, and check that no page had problems."""
    opened: list[OpenPage] = []

    def open_one(payload: Payload, **context: Any) -> OpenPage:
        path = write_page(tmp_path / f"page{len(opened)}.html", payload)
        opened.append(open_page(browser, path, **context))
        return opened[-1]

    yield open_one
    problems = [problem for page in opened for problem in page.problems()]
    for page in opened:
        page.page.context.close()
    assert problems == []
