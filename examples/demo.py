"""Demonstration: cluster 25,000 SIFT descriptors by k-means, k-means++ and boost k-means.

The script prints the distortion and the time of each method, and writes a page with a picture. Run it
with `make demo`. The command `boostkmeans demo` does the same.
"""

import sys
from pathlib import Path

from boostkmeans.baselines._demo_page import demo_data, demo_page, demo_table, run_demo

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Cluster the data by all methods, print a table and write the page."""
    data = demo_data(ROOT / "examples" / "data" / "siftsmall.npz")
    print(f"{data.title}. K-means is the implementation of scikit-learn.\n")
    runs = run_demo(data, progress=show)
    show("", 0, 0)
    print(demo_table(runs))
    target = ROOT / "demo" / "index.html"
    target.parent.mkdir(exist_ok=True)
    target.write_text(demo_page(data, runs), encoding="utf-8")
    print(f"\nPage with a picture: {target.relative_to(ROOT)}")


def show(method: str, done: int, total: int | None) -> None:
    """Show the current method in one line on a terminal, and nothing elsewhere."""
    if sys.stderr.isatty():
        text = f"{method} ({done + 1} of {total})" if method else ""
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
