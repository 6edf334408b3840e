"""Texts of strangers on a terminal."""


def escape_untrusted(text: str) -> str:
    """What a terminal might obey, and what cannot be printed, is escaped."""
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text
    )
