"""The manual as a site: how Sphinx builds it from the Markdown beside this folder."""

import tomllib
from pathlib import Path

MANIFEST = tomllib.loads(
    (Path(__file__).parents[2] / "blender_manifest.toml").read_text(encoding="utf-8")
)

project = f"{MANIFEST['name']} {MANIFEST['version']}"
author = MANIFEST["maintainer"]
project_copyright = MANIFEST["copyright"][0]
language = "en"

extensions = ["myst_parser", "docs.site.contents", "docs.site.samples", "docs.site.sentences"]
smartquotes = False  # messages are searched for as Blender shows them
exclude_patterns = ["site", "figures", "vat", "images"]
myst_heading_anchors = 6
nitpicky = True

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["pictures.css"]
html_title = project
html_copy_source = False
html_show_sourcelink = False
