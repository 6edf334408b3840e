"""The demo: 25,000 real SIFT descriptors into 256 clusters, by k-means, k-means++ and boost k-means.

Prints what each reaches and how long it takes, and writes a page with a picture. Run it by `make demo`;
`boostkmeans demo` is the same as a command.
"""

import sys
from pathlib import Path

from boostkmeans.baselines._demo_page import demo_data, demo_page, demo_table, run_demo

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Clusters, compares, draws."""
    data = demo_data(ROOT / "examples" / "data" / "siftsmall.npz")
    print(f"{data.title}; k-means is scikit-learn's\n")
    runs = run_demo(data, progress=show)
    show("", 0, 0)
    print(demo_table(runs))
    target = ROOT / "demo" / "index.html"
    target.parent.mkdir(exist_ok=True)
    target.write_text(demo_page(data, runs), encoding="utf-8")
    print(f"\nThe page to look at: {target.relative_to(ROOT)}")


def show(what: str, done: int, total: int | None) -> None:
    """One line on a terminal, nothing elsewhere."""
    if sys.stderr.isatty():
        text = f"{what} ({done + 1} of {total})" if what else ""
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
