"""The pictures of the guide are those that its script makes, and all of them are used."""

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[3] / "docs"
SPEC = importlib.util.spec_from_file_location("pictures_of_the_guide", DOCS / "pictures.py")
SCRIPT = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(SCRIPT)


@pytest.mark.parametrize("name", SCRIPT.PICTURES)
def test_a_picture_is_what_the_script_makes(name):
    # Bytes, because a checkout may change the ends of lines.
    assert (SCRIPT.FOLDER / f"{name}.svg").read_bytes().decode() == f"{SCRIPT.PICTURES[name]()}\n"


def test_there_is_no_other_picture():
    assert {p.stem for p in SCRIPT.FOLDER.iterdir()} == set(SCRIPT.PICTURES)


def test_every_picture_is_used_and_says_what_it_shows():
    used = [
        match.groups()
        for page in [DOCS.parent / "README.md", *DOCS.rglob("*.md")]
        for match in re.finditer(r"!\[(.*?)\]\(.*?pictures/(.+?)\.svg\)", page.read_text(encoding="utf-8"))
    ]

    assert {name for _, name in used} == set(SCRIPT.PICTURES)
    assert all(len(text) > 10 for text, _ in used)
