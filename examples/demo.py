"""Demonstration: cluster 25,000 SIFT descriptors by k-means, k-means++ and boost k-means.

The script prints the distortion and the time of each method. It writes a page with a picture, and a page
that shows the clusters. Run it with `make demo`. The command `boostkmeans demo` does the same.
"""

import sys
from pathlib import Path

from boostkmeans.baselines._demo_page import N_CLUSTERS, demo_data, demo_page, demo_table, run_demo
from boostkmeans.explore._demo import demo_explorer

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Cluster the data by all methods, print a table and write the pages."""
    data = demo_data(ROOT / "examples" / "data" / "siftsmall.npz")
    print(f"{data.title}. K-means is the implementation of scikit-learn.\n")
    runs = run_demo(data, progress=show)
    show("", 0, 0)
    print(demo_table(runs))
    target = ROOT / "demo" / "index.html"
    target.parent.mkdir(exist_ok=True)
    explorer = target.with_name("explorer.html")
    clusters = demo_explorer(data.X, N_CLUSTERS, title=data.title, command="make demo", progress=show)
    show("", 0, 0)
    clusters.save(explorer)
    target.write_text(demo_page(data, runs, explorer=explorer.name), encoding="utf-8")
    print(f"\nPage with a picture: {target.relative_to(ROOT)}")
    print(f"Page that shows the clusters: {explorer.relative_to(ROOT)}")


def show(what: str, done: int, total: int | None) -> None:
    """Show the current step in one line on a terminal, and nothing elsewhere."""
    if sys.stderr.isatty():
        text = f"{what} ({done} of {total})" if total else what
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
