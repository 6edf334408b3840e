"""Data and payloads of the explorer's tests."""

import json
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostkmeans.explore import Page

Payload = dict[str, Any]


def blobs(n: int, d: int, k: int, seed: int = 0) -> NDArray[np.float64]:
    """Return rows around k centres that are far apart."""
    rng = np.random.default_rng(seed)
    return rng.normal(scale=6, size=(k, d))[rng.integers(k, size=n)] + rng.normal(size=(n, d))


def payload_of(page: Page) -> Payload:
    """Return the data of a page, as a browser reads them."""
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page.html, re.DOTALL)
    assert len(found) == 1
    content = json.loads(found[0])
    assert isinstance(content, dict)
    return content
