"""How Sphinx makes the site of these pages: offline, searchable, with nothing fetched from elsewhere."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.abspath("../src"))

from discreet.version import __version__

project = "discreet"
author = "the discreet developers"
copyright = author
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = f"discreet {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "native"
