"""Payload: everything that the page shows, as one JSON object. Its keys are the page's interface."""
