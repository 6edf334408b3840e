"""Rendered pages, and the browser that opens them."""

import base64
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import pytest

from page_payloads import Payload, as_json

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BUNDLE = Path(__file__).parents[2] / "src" / "boostkmeans" / "explore" / "_page"
OPTIONS = [
    "--no-sandbox", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
READY = 'html[data-state="ready"]'
VIEWPORT = {"width": 1100, "height": 680}  # small, because software draws the pixels
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def render(data: str, title: str = "Page") -> str:
    """Return the page with a JSON document, under the policy that forbids every request."""
    script = (BUNDLE / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    scripts = f"script-src 'sha256-{digest}'"
    csp = f"default-src 'none'; {scripts}; style-src 'unsafe-inline'; img-src data: blob:"
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string((BUNDLE / "page.html.j2").read_text(encoding="utf-8"))
    style = (BUNDLE / "page.css").read_text(encoding="utf-8")
    return template.render(title=title, style=style, script=script, data=data, csp=csp)


def write_page(path: Path, payload: Payload) -> Path:
    """Write the page of a payload."""
    path.write_text(render(as_json(payload), payload["title"]), encoding="utf-8")
    return path


@contextmanager
def start_browser(*options: str) -> Iterator["Browser"]:
    """Start a browser without a window. Skip the test if there is none."""
    api = pytest.importorskip(
        "playwright.sync_api", reason="The test needs Playwright: pip install playwright"
    )
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("The test needs a browser: run `make browser`, or install Chromium or Chrome")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*OPTIONS, *options])
        try:
            yield browser
        finally:
            browser.close()


class OpenPage:
    """A page in a tab, with everything that it requested and logged."""

    def __init__(self, page: "Page", url: str) -> None:
        self.page = page
        self.requests: list[str] = []
        self.logged: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.logged.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.logged.append(f"error: {error}"))
        page.goto(url)

    def problems(self) -> list[str]:
        """Return requests of anything but the file, and messages of the console."""
        allowed = (self.requests[0], "data:", "blob:")
        foreign = [url for url in self.requests if not url.startswith(allowed)]
        return foreign + [message for message in self.logged if not is_of_the_driver(message)]


def is_of_the_driver(message: str) -> bool:
    """Return True for remarks of the software renderer about itself."""
    return "GPU stall due to ReadPixels" in message or "software WebGL" in message.lower()


def open_page(
    browser: "Browser", path: Path, *, ready: str = READY, script: str | None = None, **context: Any
) -> OpenPage:
    """Open a page in a new profile and wait for the map. `script` runs before the page's own."""
    tab = browser.new_context(**{"viewport": VIEWPORT, "reduced_motion": "reduce", **context})
    tab.set_default_timeout(15_000)
    if script is not None:
        tab.add_init_script(script)
    opened = OpenPage(tab.new_page(), path.as_uri())
    opened.page.wait_for_selector(ready, state="attached", timeout=60_000)
    return opened
