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

extensions = [
    "myst_parser",
    "docs.site.contents",
    "docs.site.languages",
    "docs.site.picture_sizes",
    "docs.site.samples",
    "docs.site.sentences",
]
smartquotes = False  # messages are searched for as Blender shows them
exclude_patterns = ["site", "figures", "vat", "images", "locale"]
locale_dirs = ["locale"]
gettext_location = False
myst_heading_anchors = 6
nitpicky = True

html_theme = "furo"
html_static_path = ["static"]
templates_path = ["templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "languages.html",
        "sidebar/scroll-end.html",
    ]
}
html_css_files = ["pictures.css"]
html_title = project
html_copy_source = False
html_scaled_image_link = False
html_show_sourcelink = False
