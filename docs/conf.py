"""How Sphinx builds the documentation: `make docs`."""

import sys

import pursuit

# Registering a class gives it a long name, for Numba's sake (see pursuit.compiling.dispatch). Autodoc would
# take a class of another name for an alias and leave out its documentation.
for _member in vars(sys.modules["pursuit.methods"]).values():
    if isinstance(_member, type):
        _member.__name__ = _member.__qualname__

project = "pursuit"
author = "The pursuit developers"
version = release = pursuit.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

default_role = "py:obj"
add_module_names = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = False
maximum_signature_line_length = 88
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "pursuit"
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["_static"]
html_sidebars = {page: [] for page in ("index", "tutorial", "choosing", "extending", "study", "coco")}
html_css_files = ["tables.css"]
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["sphinx-version"],
    "footer_end": ["theme-version"],
}
