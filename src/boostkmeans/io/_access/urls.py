"""URLs as paths: their detection, and their names without passwords."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from boostkmeans._runtime.untrusted_text import escape_untrusted

# A scheme such as "s3://", or a chain of fsspec such as "simplecache::s3://".
SCHEME = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*::)*([A-Za-z][A-Za-z0-9+.-]*)://")
# Schemes of local files.
LOCAL_SCHEMES = ("file", "local")
# Name and password in front of the host.
USER = re.compile(r"(?<=://)[^/\s@]*@")
# Query of a URL. A signed URL has its signature there.
QUERY = re.compile(r"(://[^\s?'\"]*)\?[^\s'\",)]*")


def is_url(path: str) -> bool:
    """Return True if the path is a URL of a file on another machine.

    >>> is_url("s3://bucket/x.npy"), is_url("file:///x.npy"), is_url("x.npy")
    (True, False, False)
    """
    found = SCHEME.match(path)
    if found is None or (found[1].lower() in LOCAL_SCHEMES and "::" not in path):
        return False
    return not _exists(path)  # a local file may have a strange name


def local_path(path: str) -> str:
    """Return the path of a `file://` URL. Return other paths as they are.

    >>> local_path("file:///data/a%20b.npy"), local_path("a.npy")
    ('/data/a b.npy', 'a.npy')
    """
    found = SCHEME.match(path)
    if found is None or found[1].lower() not in LOCAL_SCHEMES or "::" in path or _exists(path):
        return path
    parts = urlsplit(path)
    if parts.netloc not in ("", "localhost"):
        raise ValueError(
            f"{escape_untrusted(path)} names the host {parts.netloc!r}. Write file:/// for a local file."
        )
    return url2pathname(unquote(parts.path)) if "%" in parts.path else parts.path


def _exists(path: str) -> bool:
    """Return True if there is such a file. A URL may be too long for the name of a file."""
    try:
        return Path(path).exists()
    except OSError:
        return False


def public_name(path: str) -> str:
    """Return a path or URL without name, password and query, for messages.

    >>> public_name("sftp://me:secret@host/x.npy"), public_name("https://host/x.npy?sig=secret")
    ('sftp://host/x.npy', 'https://host/x.npy')
    """
    return path if not is_url(path) else without_secrets(path)


def without_secrets(text: str) -> str:
    """Return a text in which URLs have neither name, password nor query."""
    return QUERY.sub(r"\1", USER.sub("", text))
