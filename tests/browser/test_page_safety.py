"""The page makes no request, executes no text of users, and explains damage."""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser_pages import open_page, render, write_page
from page_payloads import JPEG, Payload, as_json, make_payload
from page_types import OpenPayload

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest_plugins = ("browser_fixtures",)
pytestmark = pytest.mark.process

FAILED = "html[data-state=failed]"
ATTACKS = [
    "</script><img src=x onerror=\"document.title='hacked'\">",
    "<svg onload=alert(1)>",
    "\"'><script>document.title='hacked'</script>",
    "line\u2028separator \u2029 & &lt;b&gt; <!-- <script>",
    "javascript:alert(1)",
    "=HYPERLINK(\"http://example.org\",'x')",
    "{{ 7 * 7 }} {% raw %}",
]


def attacked(payload: Payload) -> Payload:
    """Return a payload in which all texts are attacks."""

    def attack(i: int) -> str:
        return ATTACKS[i % len(ATTACKS)]

    rows = payload["rows"]
    indexes = range(len(rows["row"]))
    clusters = [
        {
            **cluster, "name": attack(i), "terms": [[attack(i), 1.0]],
            "distinct": [[attack(i + 1), 1.0]], "columns": [[attack(i), attack(i)]],
        }
        for i, cluster in enumerate(payload["clusters"])
    ]  # fmt: skip
    images = [
        "javascript:alert(1)",
        "data:text/html,<script>1</script>",
        "https://example.org/x.jpg",
        "data:image/svg+xml,x",
        JPEG,
    ]
    return {
        **payload,
        "title": ATTACKS[0], "clusters": clusters, "tree": None, "columns": [attack(0), attack(1)],
        "rows": {
            **rows, "text": [attack(i) for i in indexes], "id": [attack(i + 1) for i in indexes],
            "image": [images[i % 5] for i in indexes],
            "values": [[attack(i), attack(i + 2)] for i in indexes],
        },
        "facts": [[attack(i), attack(i)] for i in range(7)], "command": ATTACKS[0], "omitted": ATTACKS,
        "history_note": ATTACKS[1],
        "history": {"seconds": [0, 1], "distortion": [2, 1], "kind": ATTACKS[:2]},
    }  # fmt: skip


def test_texts_of_users_stay_texts(open_payload: OpenPayload, thousand: Payload) -> None:
    page = open_payload(attacked(thousand)).page
    assert page.title() == ATTACKS[0]
    assert page.locator("header h1").inner_text() == ATTACKS[0]
    page.locator("table.clusters tbody .set-link").first.click()
    page.locator("#search").fill("script")
    page.get_by_role("heading", name="Rows", exact=True).wait_for()
    assert set(page.locator(".row-text").all_text_contents()) <= set(ATTACKS)
    for tab in ["Outliers", "Fit", "Selection", "Clusters"]:
        page.get_by_role("tab", name=tab).click()
    page.get_by_role("tab", name="Outliers").click()
    sources = page.locator("#app img").evaluate_all("images => images.map((image) => image.src)")
    assert sources
    assert {source[:22] for source in sources} == {"data:image/jpeg;base64"}
    assert page.locator("#app script, #app svg[onload], #app [onerror]").count() == 0
    assert page.title() == ATTACKS[0]


def test_formulas_in_downloads_are_quoted(
    open_payload: OpenPayload, thousand: Payload, tmp_path: Path
) -> None:
    names = ["=1+1", "+cmd", "-2", "@x", 'a "quoted", name', "-cmd", "two\nlines", " =1+1"]
    clusters = [
        {**cluster, "name": names[i % len(names)]} for i, cluster in enumerate(thousand["clusters"])
    ]
    page = open_payload({**thousand, "clusters": clusters, "tree": None}).page
    page.locator("#downloads summary").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Labels of all").click()
    download.value.save_as(tmp_path / "labels.csv")
    text = (tmp_path / "labels.csv").read_bytes().decode()
    found = {row["name"] for row in csv.DictReader(io.StringIO(text, newline=""))}
    assert found == {"'=1+1", "'+cmd", "-2", "'@x", 'a "quoted", name', "'-cmd", "two\nlines", "' =1+1"}


def test_policy_forbids_requests(open_payload: OpenPayload, thousand: Payload) -> None:
    page = open_payload(thousand)
    assert page.problems() == []
    assert (
        page.page.evaluate("fetch('https://example.org/').then(() => 'sent', () => 'refused')")
        == "refused"
    )
    assert any("Content Security Policy" in message for message in page.logged)
    page.logged.clear()


def damaged_pages() -> dict[str, tuple[str, str]]:
    payload = make_payload(100, 4)
    points = payload["points"]
    cut = {**points["x"], "data": points["x"]["data"][:40]}
    short = {**points["y"], "length": 99}
    return {
        "json": (as_json(payload)[:-50], "not valid JSON"),
        "format": (as_json({**payload, "format": 2}), "format 2"),
        "array": (as_json({**payload, "points": {**points, "x": cut}}), '"points.x" is damaged'),
        "length": (as_json({**payload, "points": {**points, "y": short}}), "should have 99 values"),
        "label": (as_json({**payload, "clusters": payload["clusters"][:2]}), "label without a cluster"),
        "missing": ("{}", "format undefined"),
    }


def test_damage_is_explained(browser: "Browser", tmp_path: Path) -> None:
    page = None
    for name, (data, message) in damaged_pages().items():
        path = tmp_path / f"{name}.html"
        path.write_text(render(data), encoding="utf-8")
        if page is None:
            page = open_page(browser, path, ready=FAILED)
        else:
            page.page.goto(path.as_uri())
            page.page.wait_for_selector(FAILED, state="attached")
        assert message in page.page.get_by_role("alert").inner_text()
    assert page is not None
    assert page.logged == []
    page.page.context.close()


def test_old_browsers_are_told(browser: "Browser", tmp_path: Path, thousand: Payload) -> None:
    path = write_page(tmp_path / "page.html", thousand)
    opened = open_page(browser, path, ready=FAILED, script="delete window.DecompressionStream")
    assert "Your browser is too old" in opened.page.get_by_role("alert").inner_text()
    opened.page.context.close()
