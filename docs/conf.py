"""How the documentation is built: ``sphinx-build -W -n docs docs/_build``."""

from tensorwrapper import __version__

project = "tensorwrapper"
author = "The tensorwrapper developers"
copyright = "2026, The tensorwrapper developers"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "tensorwrapper"
default_role = "code"
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
autodoc_inherit_docstrings = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
