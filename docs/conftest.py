"""Pages that need libraries that the test environment leaves out are run where these are installed."""

from importlib.util import find_spec
from pathlib import Path

import pytest

_PAGES = {
    "torch": "guide/libraries/pytorch",
    "polars": "guide/libraries/polars",
    "tensorstore": "guide/libraries/tensorstore",
    "metatensor": "guide/libraries/metatensor",
    "tenpy": "guide/libraries/tenpy",
    "cytnx": "guide/libraries/cytnx",
    "pyscf": "howto/integrals",
}

collect_ignore = [f"{page}.md" for library, page in _PAGES.items() if find_spec(library) is None]
if find_spec("pyscf") is None:
    collect_ignore.append("howto/packed-integrals.md")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each page in an empty folder, as a reader would."""
    monkeypatch.chdir(tmp_path)
