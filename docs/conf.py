"""Sphinx configuration; `make docs` builds the site."""

from typing import Any

project = "adbench-text"
author = "The adbench-text developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
add_module_names = False
default_role = "py:obj"  # in docstrings, `LLR` is a link
napoleon_google_docstring = False
html_theme = "furo"
html_title = project


def setup(app: Any) -> None:
    """Leave out set_fit_request and its like, which scikit-learn adds to every estimator."""
    app.connect("autodoc-skip-member", _is_request)


def _is_request(app: Any, kind: str, name: str, *others: Any) -> bool | None:
    return True if name.startswith("set_") and name.endswith("_request") else None
