"""Escaping of text from untrusted files."""


def as_utf8(text: str) -> str:
    """Return a text that UTF-8 can encode. File names can hold bytes that are not UTF-8."""
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")


def escape_untrusted(text: str) -> str:
    """Return the text with control and other unprintable characters escaped.

    File names and file contents can hold escape sequences that a terminal would obey.
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text
    )
