"""How long a page takes to open, and how long its frames take while the map moves."""

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Zooms in and out for some frames, as a reader with a wheel does.
MOVE = """async (frames) => {
  const stage = document.getElementById("stage");
  const times = [];
  const drawn = [];
  for (let i = 0; i < frames; i++) {
    const place = { clientX: stage.clientWidth / 2, clientY: stage.clientHeight / 2 };
    const deltaY = i % 40 < 20 ? -60 : 60;
    stage.dispatchEvent(new WheelEvent("wheel", { ...place, deltaY, bubbles: true, cancelable: true }));
    times.push(await new Promise(requestAnimationFrame));
    drawn.push(Number(stage.dataset.drawn));
  }
  return { times, drawn };
}"""
OPENED = "performance.getEntriesByName('page-ready')[0].startTime / 1000"


@dataclass(frozen=True)
class PageTimes:
    """Seconds until the map is drawn, milliseconds per frame, and points per frame (medians)."""

    open_seconds: float
    frame_milliseconds: float
    slowest_milliseconds: float
    points_drawn: int

    def __str__(self) -> str:
        rate = 1000 / self.frame_milliseconds
        return (
            f"opens in {self.open_seconds:.2f} s; a frame takes {self.frame_milliseconds:.0f} ms "
            f"({rate:.0f} per second), at most {self.slowest_milliseconds:.0f} ms; "
            f"{self.points_drawn:,} points are drawn while the map moves"
        )


def measure(page: "Page", frames: int = 80) -> PageTimes:
    """Move the map of an opened page and return its times."""
    moved = page.evaluate(MOVE, frames)
    intervals = [
        after - before for before, after in zip(moved["times"], moved["times"][1:], strict=False)
    ]
    return PageTimes(
        page.evaluate(OPENED),
        statistics.median(intervals),
        max(intervals),
        int(statistics.median(moved["drawn"])),
    )
