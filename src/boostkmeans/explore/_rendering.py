"""Rendering: the payload, the script and the style as one HTML page."""

import base64
import hashlib
from importlib.resources import files
from typing import Any

from boostkmeans.explore._packages import import_jinja2
from boostkmeans.explore._packing import to_json

FOLDER = files("boostkmeans.explore") / "_page"
TEMPLATE, SCRIPT, STYLE = "page.html.j2", "page.js", "page.css"


def render(payload: dict[str, Any]) -> str:
    """Return the complete HTML page. It needs no other file and makes no request."""
    script, style = _read(SCRIPT), _read(STYLE)
    template = environment().from_string(_read(TEMPLATE))
    return str(
        template.render(
            title=payload["title"],
            style=style,
            script=script,
            data=to_json(payload),
            csp=content_security_policy(script),
        )
    )


def environment() -> Any:
    """Return the jinja2 environment. Values are escaped, and an unknown name is an error."""
    jinja2 = import_jinja2()
    return jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)


def content_security_policy(script: str) -> str:
    """Return a policy that allows this script, inline styles and embedded images, and no request."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data: blob:"
    )


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
