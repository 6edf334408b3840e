"""The table, the tree, the search and the other controls."""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from map_pixels import map_pixels, places_of_points
from page_payloads import Payload, make_payload, name_of, packed, text_of, unpacked
from page_types import OpenPayload

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest_plugins = ("browser_fixtures",)
pytestmark = pytest.mark.process


def column(page: "Page", index: int) -> list[str]:
    """Return the texts of one column of the table."""
    return page.locator(
        f"table.clusters tbody tr > *:nth-child({index + 1}) :is(.set-name, .measure)"
    ).all_inner_texts()


def numbers(page: "Page", index: int) -> list[float]:
    """Return the numbers of one column of the table."""
    return [float(text.replace(",", "")) for text in column(page, index)]


def test_table_is_sorted_by_every_column(open_payload: OpenPayload, thousand: Payload) -> None:
    page = open_payload(thousand).page
    sizes = sorted((cluster["size"] for cluster in thousand["clusters"]), reverse=True)
    assert numbers(page, 1) == sizes
    for index, title in enumerate(["Cluster", "Size", "Tightness", "Separation"]):
        header = page.locator("table.clusters thead th").nth(index)
        for _ in range(2):
            header.get_by_role("button", name=title).click()
            values = column(page, 0) if index == 0 else numbers(page, index)
            descending = header.get_attribute("aria-sort") == "descending"
            assert values == sorted(values, reverse=descending)
    assert page.locator("th[aria-sort$=scending]").count() == 1


def test_ten_thousand_clusters_are_shown_in_pages(open_payload: OpenPayload) -> None:
    page = open_payload(make_payload(10_000, 10_000, tree=False)).page
    assert page.locator("table.clusters tbody tr").count() == 50
    first = column(page, 0)
    page.get_by_role("button", name="Next").click()
    assert page.locator(".paging-text").inner_text() == "51\u2013100 of 10,000"
    assert not set(first) & set(column(page, 0))


def test_opened_cluster_shows_its_rows_and_neighbours(
    open_payload: OpenPayload, thousand: Payload
) -> None:
    page = open_payload(thousand).page
    before = len(places_of_points(page))
    page.get_by_role("button", name="Space telescopes", exact=False).first.click()
    cluster = next(c for c in thousand["clusters"] if c["name"] == "space telescopes")
    number = thousand["clusters"].index(cluster)
    assert page.locator("#opened-name").inner_text() == "space telescopes"
    for title, key in [
        ("Central rows", "central"),
        ("Borderline rows", "borderline"),
        ("Outlying rows", "outlying"),
    ]:
        section = page.locator("section").filter(has=page.get_by_role("heading", name=title))
        rows = section.locator(".row-card").evaluate_all(
            "cards => cards.map((card) => Number(card.dataset.row))"
        )
        assert rows == cluster[key]
        assert section.locator(".row-text").first.inner_text() == text_of(rows[0], number)
    nearest = thousand["clusters"][cluster["neighbours"][0]]["name"]
    assert page.locator(".also-near .set-name").first.inner_text() == nearest
    assert len(places_of_points(page)) < before / 2  # the other clusters are pale
    page.locator(".chips .set-name").first.click()
    assert page.locator("#opened-name").inner_text() == nearest
    page.get_by_role("button", name="All clusters").click()
    assert page.locator("table.clusters").is_visible()


def test_slider_cuts_the_tree_on_map_and_table(
    open_payload: OpenPayload, thousand: Payload, tmp_path: Path
) -> None:
    page = open_payload(thousand).page
    before = map_pixels(page)
    page.locator("#cut").fill("3")
    page.get_by_text("3 of 20").wait_for()
    tree = thousand["tree"]
    first, second = tree["children"][0]
    parts = [*tree["children"][1], second if tree["split"][1] == first else first]
    assert sorted(numbers(page, 1)) == sorted(tree["nodes"][part]["size"] for part in parts)
    assert sorted(column(page, 0)) == sorted(tree["nodes"][part]["name"] for part in parts)
    assert sorted(numbers(page, 3)) == sorted(tree["nodes"][part]["separation"][0][1] for part in parts)
    assert sorted(page.locator("table.clusters .terms").all_inner_texts()) == sorted(
        " · ".join(term for term, _ in tree["nodes"][part]["distinct"]) for part in parts
    )
    assert page.get_attribute("#stage", "data-names") == "3"
    assert np.abs(map_pixels(page) - before).max() > 60
    page.locator("table.clusters tbody .set-link").first.click()
    assert page.get_by_role("heading", name="Contains").count() == 1
    labels = download(page, "Labels of all", tmp_path)
    assert len({row["set"] for row in labels}) == 3
    assert len({row["cluster"] for row in labels}) == 20
    page.locator("#cut").press("End")
    page.get_by_text("all 20").wait_for()
    assert page.locator("#opened-name").inner_text() in [name_of(cluster) for cluster in range(20)]
    page.get_by_role("button", name="All clusters").click()
    page.locator("#cut").fill("5")
    page.get_by_text("5 of 20").wait_for()
    assert max(numbers(page, 3)) < 0.5, "the separation is that of the cut"


def test_merged_clusters_show_images_in_proportion_to_their_parts(open_payload: OpenPayload) -> None:
    payload = make_payload(1000, kind="image")
    sizes = [1000 if cluster == 0 else 10 for cluster in range(20)]
    clusters = [{**each, "size": size} for each, size in zip(payload["clusters"], sizes, strict=True)]
    page = open_payload({**payload, "clusters": clusters}).page
    page.locator("#cut").fill("2")
    page.get_by_text("2 of 20").wait_for()
    # Sets are numbered by their first cluster, so that set 0 contains cluster 0.
    page.locator("table.clusters tr[data-set='0'] .set-link").click()
    central = page.locator("section").filter(has=page.get_by_role("heading", name="Central rows"))
    shown = central.locator(".row-card").evaluate_all("all => all.map((one) => Number(one.dataset.row))")
    assert shown[:8] == clusters[0]["central"]
    assert len(shown) == 12
    assert "Nearest to the centres of its clusters." in central.locator(".note").inner_text()


def test_zero_is_not_negative_on_axes(open_payload: OpenPayload, thousand: Payload) -> None:
    history = {"seconds": [0, 1, 2], "distortion": [1.0, 0.5, 0.0], "kind": ["sweep"] * 3}
    page = open_payload({**thousand, "history": history}).page
    page.get_by_role("tab", name="Fit").click()
    ticks = page.locator("svg[role=img] .tick").all_text_contents()
    assert "0" in ticks
    assert not [tick for tick in ticks if tick.startswith("-")]


def download(page: "Page", button: str, folder: Path) -> list[dict[str, str]]:
    """Return the rows of a file from the menu."""
    page.locator("#downloads summary").click()
    with page.expect_download() as started:
        page.get_by_role("button", name=button).click()
    started.value.save_as(folder / "file.csv")
    return list(csv.DictReader(io.StringIO((folder / "file.csv").read_text(encoding="utf-8"))))


def test_search_finds_clusters_rows_and_ids(open_payload: OpenPayload, thousand: Payload) -> None:
    unlike: Payload = {"terms": [], "distinct": []}
    clusters = [{**each, **unlike, "name": each["name"].title()} for each in thousand["clusters"]]
    page = open_payload({**thousand, "clusters": clusters}).page
    page.keyboard.press("/")
    page.keyboard.type("TENNIS finals")
    texts = [text for text in thousand["rows"]["text"] if "Tennis finals" in text]
    page.get_by_text(f"1 cluster, {len(texts)} rows").wait_for()
    assert page.locator(".row-text").all_inner_texts() == texts
    assert (
        f"the {len(thousand['rows']['row'])} of 1,000 rows"
        in page.locator("#panel-body .note").inner_text()
    )
    assert page.locator("#status").inner_text() == f"Found 1 cluster and {len(texts)} rows."
    row = thousand["rows"]["row"][7]
    page.locator("#search").fill(f"doc-{row}")
    page.locator(f".row-card[data-row='{row}']").wait_for()
    page.locator("#search").fill("no such <b>thing</b>")
    page.get_by_text("Nothing contains “no such <b>thing</b>”.").wait_for()
    page.keyboard.press("Escape")
    assert page.locator("#search").input_value() == ""
    assert page.locator("table.clusters").is_visible()


def test_search_covers_all_rows_if_the_page_contains_their_texts(
    open_payload: OpenPayload, thousand: Payload
) -> None:
    labels = unpacked(thousand["points"]["label"])
    texts = "\n".join(text_of(row, labels[row]) for row in range(1000)).encode()
    page = open_payload({**thousand, "search": {"text": packed(np.frombuffer(texts, np.uint8))}}).page
    page.locator("#search").fill("item 123.")
    page.get_by_text("0 clusters, 1 row").wait_for()
    assert page.locator(".row-text").all_inner_texts() == [text_of(123, labels[123])]
    assert "all 1,000 rows" in page.locator("#panel-body .note").inner_text()
    page.get_by_role("button", name="Show row 123 on the map").click()
    assert page.locator(".row-card[aria-current]").count() == 1


def test_labels_of_all_rows_are_downloaded(
    open_payload: OpenPayload, thousand: Payload, tmp_path: Path
) -> None:
    page = open_payload(thousand).page
    labels = unpacked(thousand["points"]["label"])
    rows = download(page, "Labels of all 1,000 rows", tmp_path)
    assert [int(row["row"]) for row in rows] == list(range(1000))
    assert [int(row["cluster"]) for row in rows] == labels.tolist()
    assert [row["name"] for row in rows] == [name_of(label) for label in labels]
    shown = set(thousand["rows"]["row"])
    assert [row["id"] for row in rows] == [f"doc-{i}" if i in shown else "" for i in range(1000)]


def test_ids_of_all_rows_are_found_and_downloaded(
    open_payload: OpenPayload, thousand: Payload, tmp_path: Path
) -> None:
    ids = [f"doc-{row}" for row in range(1000)]
    content = np.frombuffer("\n".join(ids).encode(), np.uint8)
    page = open_payload({**thousand, "search": {"id": packed(content)}}).page
    assert [row["id"] for row in download(page, "Labels of all", tmp_path)] == ids
    hidden = min(set(range(100, 1000)) - set(thousand["rows"]["row"]))
    page.locator("#search").fill(f"doc-{hidden}")
    page.get_by_text("0 clusters, 1 row").wait_for()
    assert f"doc-{hidden}" in page.locator(".row-meta").inner_text()
    assert "the ids of all 1,000 rows" in page.locator("#panel-body .note").inner_text()


def test_ids_do_not_turn_the_words_after_them(open_payload: OpenPayload, thousand: Payload) -> None:
    ids = [f"\u202e{one}" for one in thousand["rows"]["id"]]
    page = open_payload({**thousand, "rows": {**thousand["rows"], "id": ids}}).page
    page.locator("table.clusters tbody .set-link").first.click()
    assert page.locator(".row-meta bdi").first.inner_text() == ids[thousand_row(page, thousand)]


def thousand_row(page: "Page", payload: Payload) -> int:
    """Return the place of the first row that the panel shows."""
    row = page.locator(".row-card").first.get_attribute("data-row")
    return int(payload["rows"]["row"].index(int(row or -1)))


def test_outliers_are_sorted_by_distance(open_payload: OpenPayload, thousand: Payload) -> None:
    page = open_payload(thousand).page
    page.get_by_role("tab", name="Outliers").click()
    distance = dict(zip(thousand["rows"]["row"], thousand["rows"]["distance"], strict=True))
    shown = page.locator(".row-card").evaluate_all(
        "cards => cards.map((card) => Number(card.dataset.row))"
    )
    assert [distance[row] for row in shown] == sorted(distance.values(), reverse=True)[:50]
    page.get_by_role("button", name="more of").click()
    assert page.locator(".row-card").count() == 100
    page.get_by_role("button", name="Select the farthest").click()
    farthest = int(np.sum(unpacked(thousand["points"]["distance"]) == 255))
    assert page.locator("#panel-body h2").inner_text() == f"{farthest} rows selected"


def test_fit_shows_curve_facts_and_command(open_payload: OpenPayload, thousand: Payload) -> None:
    page = open_payload(thousand, permissions=["clipboard-read", "clipboard-write"]).page
    page.get_by_role("tab", name="Fit").click()
    assert page.locator("svg[role=img] .mark").count() == 40
    assert page.locator(".legend").inner_text().split() == ["anneal", "sweep", "repair"]
    for text in [
        thousand["history_note"],
        "no move improved the result",
        thousand["command"],
        thousand["omitted"][0],
    ]:
        assert page.get_by_text(text, exact=True).is_visible()
    page.get_by_role("button", name="Copy").click()
    page.get_by_text("Copied", exact=True).wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == thousand["command"]


def test_theme_follows_the_system_until_it_is_chosen(
    open_payload: OpenPayload, thousand: Payload
) -> None:
    page = open_payload(thousand, color_scheme="dark").page
    assert map_pixels(page)[5, 200].max() < 60
    page.get_by_role("button", name="Use light colours").click()
    assert map_pixels(page)[5, 200].min() > 200
    page.reload()
    page.wait_for_selector('html[data-state="ready"]', state="attached")
    assert page.get_attribute("html", "data-theme") == "light"


def test_everything_is_reachable_with_the_keyboard(open_payload: OpenPayload, thousand: Payload) -> None:
    page = open_payload(thousand).page
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip the map"
    reached = []
    for _ in range(20):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
    assert [
        name
        for name in ["search", "theme", "stage", "cut", "tab-clusters", "Size"]
        if name not in reached
    ] == []
    page.locator("#tab-clusters").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#tab-outliers", "aria-selected") == "true"
    page.keyboard.press("ArrowLeft")
    page.locator("table.clusters tbody .set-link").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "opened-name"
    page.keyboard.press("Escape")
    opener = page.locator("table.clusters tbody .set-link").first
    assert opener.evaluate("element => element === document.activeElement")
