"""Pages on libraries that the test environment leaves out are run where these are installed."""

from importlib.util import find_spec

_PAGES = {"torch": "pytorch", "polars": "polars", "tensorstore": "tensorstore"}

collect_ignore = [
    f"guide/libraries/{page}.md" for library, page in _PAGES.items() if find_spec(library) is None
]
