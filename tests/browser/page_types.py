"""Types of the fixtures for the explorer's page."""

from collections.abc import Callable

from browser_pages import OpenPage

OpenPayload = Callable[..., OpenPage]
