"""Configuration of the documentation site, which `make docs` builds without network access."""

import logging
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

import boostkmeans

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Address of the repository. As long as pyproject.toml names none, pages have no link to it.
REPOSITORY: str | None = PROJECT.get("urls", {}).get("Repository")
# Files outside docs/ that are pages of the site, too.
PROJECT_PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "code_of_conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}

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
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/logo_light.svg"
templates_path = ["_templates"]
html_theme_options: dict[str, Any] = {"light_logo": "logo_light.svg", "dark_logo": "logo_dark.svg"}
if REPOSITORY is not None:
    html_theme_options |= {
        "source_repository": REPOSITORY,
        "source_branch": "main",
        "source_directory": "docs/",
        "footer_icons": [{"name": "Repository", "url": REPOSITORY, "html": "Repository", "class": ""}],
    }
# The sidebar of the theme, with a list of versions.
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "versions.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_copy_source = False
html_show_sphinx = False

# Inline code, in which no character is escaped.
CODE = re.compile(r"(``.*?``|`[^`]*`)")
# Links from a page to a file.
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")
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


def link_from_docs(text: str, folder: Path, page_folder: Path) -> str:
    """Return Markdown whose links to files, seen from `folder`, work on a page in `page_folder`.

    Files outside docs/ that are not pages of the site become downloads.
    """
    docs = ROOT / "docs"

    def relative(link: re.Match[str]) -> str:
        target, anchor = (folder / link[1]).resolve(), link[2] or ""
        if target.parent == ROOT and target.name in PROJECT_PAGES:
            target = docs / PROJECT_PAGES[target.name]
        path = Path(os.path.relpath(target, page_folder)).as_posix()
        return f"]({path}{anchor})" if target.is_relative_to(docs) else f"](path:{path})"

    return LINK.sub(relative, text)


def adapt_links(app: Sphinx, name: str, source: list[str]) -> None:
    """Adapt the links of a page."""
    if Path(app.env.doc2path(name)).suffix == ".md":
        folder = Path(app.srcdir, name).parent
        source[0] = link_from_docs(source[0], folder, folder)


def adapt_included_links(app: Sphinx, path: Path, name: str, source: list[str]) -> None:
    """Adapt the links of a file that a page of docs/ includes."""
    source[0] = link_from_docs(source[0], Path(app.srcdir, path).resolve().parent, Path(app.srcdir))


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
    app.connect("source-read", adapt_links)
    app.connect("include-read", adapt_included_links)
    # GitHub draws diagrams of Mermaid. The site shows their text.
    app.add_lexer("mermaid", TextLexer)
    app.connect("autodoc-skip-member", skip_inherited)
    return {"parallel_read_safe": True}
