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
    texts = [page.read_text(encoding="utf-8") for page in [DOCS.parent / "README.md", *DOCS.rglob("*.md")]]
    in_text = r"!\[(?P<text>.*?)\]\(.*?pictures/(?P<name>.+?)\.svg\)"
    on_cards = r":img-top: .*?pictures/(?P<name>.+?)\.svg\n:img-alt: (?P<text>.*)"
    used = [
        match.groupdict() for text in texts for way in (in_text, on_cards) for match in re.finditer(way, text)
    ]

    assert {own["name"] for own in used} == set(SCRIPT.PICTURES)
    assert all(len(own["text"]) > 10 for own in used)
