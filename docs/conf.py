"""Sphinx configuration; `make docs` builds the site."""

import sys
from inspect import getdoc
from pathlib import Path
from typing import Any

STATIC = Path(__file__).with_name("_static")  # each file changes a page, and can be deleted
project = "adbench-text"
author = "The adbench-text developers"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_llms_txt",
]
templates_path = ["_templates"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # notebooks keep their outputs; `make gallery` runs them
nb_render_markdown_format = "gfm"  # with tables
add_module_names = False
default_role = "py:obj"  # in docstrings, `LLR` is a link
napoleon_google_docstring = False
smartquotes = False  # `--sweep` and quotes stay as they are, also outside of code
html_theme = "furo"
html_title = project
html_static_path = [STATIC.name] if STATIC.is_dir() else []
html_css_files = [file.name for file in sorted(STATIC.glob("*.css"))]
html_js_files = [(file.name, {"defer": "defer"}) for file in sorted(STATIC.glob("*.js"))]
llms_txt_summary = "Which detector finds the odd documents in a text corpus, and how well?"

_REFERENCES = "\nReferences\n----------\n"


def setup(app: Any) -> None:
    """Leave out set_fit_request and its like, which scikit-learn adds to every estimator.

    A class that refers to the head of its module shows it, because no page of the reference is of a module.
    """
    app.connect("autodoc-skip-member", _is_request)
    app.connect("autodoc-process-docstring", _show_head)


def _is_request(app: Any, kind: str, name: str, *others: Any) -> bool | None:
    return True if name.startswith("set_") and name.endswith("_request") else None


def _show_head(app: Any, kind: str, name: str, documented: Any, options: Any, lines: list[str]) -> None:
    if kind == "class" and lines and lines[0].endswith("see the head of the module."):
        head, _, references = (getdoc(sys.modules[documented.__module__]) or "").partition(_REFERENCES)
        lines[:1] = head.splitlines()
        if references:  # below the parameters
            lines += ["", ".. rubric:: References", "", *references.splitlines()]
