"""Configuration of the documentation: ``sphinx-build -W -n docs docs/_build``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from reference_signatures import inventories

from tensorwrapper import __version__

project = "tensorwrapper"
author = "The tensorwrapper developers"
copyright = "2026, The tensorwrapper developers"
release = version = __version__
extensions = [
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "reference_pages",
    "reference_signatures",
    "reference_types",
    "page_texts",
    "static_viewer",
]
# Sphinx puts `tags` here.
if "tags" in globals() and globals()["tags"].has("check"):
    # Pages of source code add no text, and take a sixth of the build time.
    extensions.remove("sphinx.ext.viewcode")
exclude_patterns = ["_build"]
nitpicky = True
html_theme = "furo"
html_title = "tensorwrapper"
html_static_path = ["_static"]
html_css_files = ["theme.css"]
default_role = "code"
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
# A button copies the input only: prompts, output and examples with intended errors are left out.
copybutton_prompt_text = r">>> ?|\.\.\.(?: |$)"
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
copybutton_remove_prompts = True
copybutton_selector = "div:not(.raises) > div.highlight > pre"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_use_type_comments = False
autodoc_type_aliases = {"npt.ArrayLike": "numpy.typing.ArrayLike", "npt.DTypeLike": "numpy.typing.DTypeLike"}
autodoc_inherit_docstrings = True
autosummary_generate = False
intersphinx_mapping = inventories()
intersphinx_cache_limit = -1
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
