"""Configuration of the documentation site, which `make docs` builds without network access."""

import logging
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import boostkmeans

# Keep progress messages out of the pages, even if another handler is installed during the build.
logging.getLogger("boostkmeans").setLevel(logging.WARNING)

project = "boostkmeans"
author = "The boostkmeans developers"
copyright = author  # noqa: A001
version = release = boostkmeans.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
# Files that sphinx-gallery writes next to its pages.
exclude_patterns = ["gallery/*.py", "gallery/*.ipynb", "gallery/*.md5", "gallery/*.json"]
nitpicky = True

# GitHub shows the same Markdown files, so that links point to files.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

# Docstrings use single backticks for code.
default_role = "code"
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings have the types; expanded aliases would fill the page
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": "plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 60,
    "reset_modules": ("matplotlib",),
    "write_computation_times": False,
    "abort_on_example_error": True,
}

html_theme = "furo"
html_title = f"boostkmeans {release}"
html_copy_source = False
html_show_sphinx = False

# Inline code, in which no character is escaped.
CODE = re.compile(r"(``.*?``|`[^`]*`)")
# Links from a page to a Markdown file above docs/.
UPWARDS = re.compile(r"\]\((\.\./[^)#\s]*\.md)(#[^)]*)?\)")
# Characters of plain text that reStructuredText would interpret: |, a trailing underscore and *.
MARKUP = re.compile(r"\||(?<=\w)_(?!\w)|\*(?!\*)")


def escape_markup(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Escape markup in docstrings: |D|^2 is not a substitution, and labels_ is not a link."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[i] = "".join(
                part if part.startswith("`") else MARKUP.sub(r"\\\g<0>", part)
                for part in CODE.split(line)
            )


def link_to_outside_files(app: Sphinx, name: str, source: list[str]) -> None:
    """Turn links to Markdown files outside docs/, which are not pages of the site, into downloads."""
    folder = Path(app.srcdir, name).parent

    def as_file(link: re.Match[str]) -> str:
        inside = (folder / link[1]).resolve().is_relative_to(app.srcdir)
        return link[0] if inside else f"](path:{link[1]})"

    source[0] = UPWARDS.sub(as_file, source[0])


def skip_inherited(
    app: Sphinx, what: str, name: str, thing: object, skip: bool, options: object
) -> bool | None:
    """Skip members that estimators inherit from scikit-learn, which documents them."""
    home = getattr(thing, "__module__", None) or getattr(getattr(thing, "fget", None), "__module__", "")
    return True if str(home).startswith("sklearn") else None


def is_not_about_empty_globs(record: logging.LogRecord) -> bool:
    """Return False for warnings about patterns without pages: generated pages may be missing."""
    return "glob pattern" not in str(record.msg)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the functions above."""
    # Before numpydoc, which divides docstrings into sections.
    app.connect("autodoc-process-docstring", escape_markup, priority=1)
    logging.getLogger("sphinx.sphinx.directives.other").addFilter(is_not_about_empty_globs)
    app.connect("source-read", link_to_outside_files)
    app.connect("autodoc-skip-member", skip_inherited)
    return {"parallel_read_safe": True}
