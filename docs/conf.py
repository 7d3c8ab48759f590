"""Sphinx configuration; `make docs` builds the site."""

project = "adbench-text"
author = "The adbench-text developers"
extensions = ["myst_parser"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = project
