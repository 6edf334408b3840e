"""Print the section of a version in CHANGELOG.md, as the notes of its release.

`python tools/release_notes.py VERSION` prints the section without its heading. It needs only Python's
standard library, because a workflow runs it before anything is installed.
"""

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"
# A heading such as "## 0.14.0 - 2026-11-20".
HEADING = re.compile(r"^## (\S+)[^\n]*\n", re.MULTILINE)
# A link to a file of the repository, relative to its root.
RELATIVE_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://|#)[^)]*\)")


def release_notes(changelog: str, version: str) -> str:
    """Return the section of a version. Links to files become plain text, as notes have no folder."""
    headings = list(HEADING.finditer(changelog))
    for heading, end in zip(headings, [*(one.start() for one in headings[1:]), None], strict=True):
        if heading[1] == version:
            section = changelog[heading.end() : end].strip()
            return RELATIVE_LINK.sub(r"\1", section) + "\n"
    raise ValueError(f"The changelog has no section of version {version}.")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: python tools/release_notes.py VERSION")
    sys.stdout.write(release_notes(CHANGELOG.read_text(encoding="utf-8"), sys.argv[1]))
