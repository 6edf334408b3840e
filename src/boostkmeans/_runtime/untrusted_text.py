"""Escaping of text from untrusted files."""


def escape_untrusted(text: str) -> str:
    """Return the text with control and other unprintable characters escaped.

    File names and file contents can hold escape sequences that a terminal would obey.
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text
    )
