"""How the site is built: `make docs`. Nothing is fetched on the way."""

import logging
import re
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

# Progress is not for pages, whoever else listens while they are made.
logging.getLogger("boostkmeans").setLevel(logging.WARNING)

project = "boostkmeans"
author = "The boostkmeans developers"
copyright = author  # noqa: A001
version = release = installed_version("boostkmeans")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
# What sphinx-gallery leaves beside its pages.
exclude_patterns = ["gallery/*.py", "gallery/*.ipynb", "gallery/*.md5", "gallery/*.json"]
nitpicky = True

# Pages are Markdown that GitHub shows too: links go to files.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

# Docstrings put code into single backticks.
default_role = "code"
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # aliases would be spelled out, and fill the page: docstrings have the types
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

# Of code, bars and names that end with an underscore mean nothing to reStructuredText.
CODE = re.compile(r"(``.*?``|`[^`]*`)")
UPWARDS = re.compile(r"\]\((\.\./[^)#\s]*\.md)(#[^)]*)?\)")
BARS_AND_NAMES = re.compile(r"\||(?<=\w)_(?!\w)|\*(?!\*)")


def escape(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Docstrings are read as text: |D|^2 is no substitution, and labels_ no link."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[i] = "".join(
                part if part.startswith("`") else BARS_AND_NAMES.sub(r"\\\g<0>", part)
                for part in CODE.split(line)
            )


def link_outwards(app: Sphinx, name: str, source: list[str]) -> None:
    """Markdown beside docs/ is no page of the site: a link to it gives the file."""
    folder = Path(app.srcdir, name).parent

    def as_file(link: re.Match[str]) -> str:
        inside = (folder / link[1]).resolve().is_relative_to(app.srcdir)
        return link[0] if inside else f"](path:{link[1]})"

    source[0] = UPWARDS.sub(as_file, source[0])


def without_inherited(
    app: Sphinx, what: str, name: str, thing: object, skip: bool, options: object
) -> bool | None:
    """What estimators have from scikit-learn is documented there."""
    home = getattr(thing, "__module__", None) or getattr(getattr(thing, "fget", None), "__module__", "")
    return True if str(home).startswith("sklearn") else None


def is_not_about_places(record: logging.LogRecord) -> bool:
    """The list of pages has a place for some that need not be there: the paper, the peers."""
    return "glob pattern" not in str(record.msg)


def setup(app: Sphinx) -> dict[str, Any]:
    """Before numpydoc, which makes sections of the docstrings."""
    app.connect("autodoc-process-docstring", escape, priority=1)
    logging.getLogger("sphinx.sphinx.directives.other").addFilter(is_not_about_places)
    app.connect("source-read", link_outwards)
    app.connect("autodoc-skip-member", without_inherited)
    return {"parallel_read_safe": True}
