"""How Sphinx builds the documentation: `make docs`."""

import sys
from pathlib import Path

import pursuit

sys.path.append(str(Path(__file__).parent))  # mathml.py

# Registering a class gives it a long name, for Numba's sake (see pursuit.compiling.dispatch). Autodoc would
# take a class of another name for an alias and leave out its documentation.
for _member in vars(sys.modules["pursuit.methods"]).values():
    if isinstance(_member, type):
        _member.__name__ = _member.__qualname__

project = "pursuit"
author = "The pursuit developers"
version = release = pursuit.__version__

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
autodoc_mock_imports = ["torch"]

# The few names that we link to, in a file: a build needs no network.
intersphinx_mapping = {
    "python": ("https://docs.python.org/3/", "inventories/python.txt"),
    "numpy": ("https://numpy.org/doc/stable/", "inventories/numpy.txt"),
    "scipy": ("https://docs.scipy.org/doc/scipy/", "inventories/scipy.txt"),
}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
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
html_favicon = "_static/favicon.svg"
html_sidebars = {page: [] for page in ("index", "comparison", "gallery", "questions", "parallel")}
html_css_files = ["pursuit.css"]
html_js_files = ["copy.js"]
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}
html_theme_options = {
    "header_links_before_dropdown": 9,
    "navbar_end": ["theme-switcher"],
    # The tables of the comparison need the room.
    "secondary_sidebar_items": {"**": ["page-toc"], "comparison": []},
    "footer_start": ["sphinx-version"],
    "footer_end": ["theme-version"],
}
