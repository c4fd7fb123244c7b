"""Tests of the documentation as readers see it: its sources, and that the measures of its pages can fail."""

import json
import re
import xml.etree.ElementTree as ET
from difflib import SequenceMatcher
from itertools import combinations, pairwise
from pathlib import Path

import pytest

import tensorwrapper
from tests.repository.pages import measures_of_pages as site

DOCS = Path(__file__).resolve().parents[3] / "docs"
PICTURES = sorted((DOCS / "guide" / "pictures").glob("*.svg"))
THEME = (DOCS / "_static" / "theme.css").read_text(encoding="utf-8")


def page(article, *, head='<link href="theme.css">'):
    return f"<html>{head}<article>{article}</article></html>"


def test_a_page_in_which_all_is_well_has_no_faults():
    whole = (
        '<h1>Shapes<a href="#">¶</a></h1><img alt="three rows of shapes" src="x.svg">'
        '<table class="docutils align-default"></table><pre>&gt;&gt;&gt; x\n1\n</pre>'
        '<dt class="sig sig-object py">ends<span>: IntArray</span></dt><dt class="field-odd">Raises:</dt>'
    )

    assert site.faults_of(page(whole)) == []


@pytest.mark.parametrize(
    ("article", "fault"),
    [
        ('<img src="x.svg">', "no words"),
        ('<img alt="" src="x.svg">', "no words"),
        ("<table></table>", "does not scroll"),
        ('<h2>AnErrorWhoseNameNoPhoneHasRoomForError<a href="#">¶</a></h2>', "long word"),
        ('<dt class="sig py">ends: ndarray[<b>tuple</b>[Any]]</dt>', "evaluated: ends"),
        ('<dt class="field-even">Type<span>:</span></dt>', "taken for a type"),
        ("<pre>&gt;&gt;&gt; x\n1\n\n</pre>", "blank lines"),
    ],
)
def test_what_is_wrong_with_a_page_is_found(article, fault):
    (found,) = site.faults_of(page(article))

    assert fault in found


def test_a_page_without_the_theme_is_found():
    assert site.faults_of(page("", head="")) == ["no theme"]


def test_a_word_that_leads_elsewhere_is_found():
    words = [word for words in site.FOUND_BY.values() for word in words.split(", ")]
    index = {"docnames": list(site.FOUND_BY), "indexentries": {}}
    for number, words_of_page in enumerate(site.FOUND_BY.values()):
        for word in words_of_page.split(", "):
            index["indexentries"][word] = [[number, "id", True]]

    assert len(set(words)) == len(words)
    assert site.faults_of_search(f"Search.setIndex({json.dumps(index)})") == []
    index["indexentries"]["axis"] = [[0, "id", True]]
    del index["indexentries"]["shard"]
    assert len(site.faults_of_search(f"Search.setIndex({json.dumps(index)})")) == 2


def test_a_first_page_that_lists_all_is_found():
    assert site.faults_of_front(page('<a class="reference internal"></a>' * 90)) == [
        "three users have a card each",
        "90 links: it is no list of all pages",
        "the contents have other than 7 entries",
    ]


def test_a_page_of_a_class_that_begins_with_others_is_found():
    assert site.faults_of_class(page("final class Shape(a)<br>" * 8)) == [
        "it does not begin with what it is and has"
    ]
    assert "come before the text" in site.faults_of_class("x" * 200_000 + page(""))[0]


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_can_be_read_on_a_phone_and_in_the_dark(path):
    text = path.read_text(encoding="utf-8")
    root = ET.fromstring(text)
    # As theme.css has it: no picture is narrower than 480 pixels if it was wider.
    scale = min(1.0, 480 / float(root.get("width")))

    assert "max-width:100%" in root.get("style")
    assert "prefers-color-scheme:dark" in text
    assert len(root.get("aria-label")) > 5
    assert scale * 10.0 >= 5.0


@pytest.mark.parametrize(
    "rule",
    [
        r"article table\.docutils \{[^}]*overflow-x: auto",
        r"article table\.docutils \{[^}]*max-width: 100%",
        r'body\[data-theme="dark"\] \{\s*color-scheme: dark',
        r'body\[data-theme="light"\] \{\s*color-scheme: light',
        r"prefers-color-scheme: dark\) \{\s*body:not\(\[data-theme=\"light\"\]\) \{\s*color-scheme: dark",
        r"p:has\(> img:only-child\) \{\s*overflow-x: auto",
        r"img:only-child \{\s*max-width: max\(100%, 30rem\)",
        r"h2 \{\s*font-size: min\(",
        r"body\[data-theme=\"dark\"\] article img\[src\$=\"\.png\"\] \{\s*filter: invert",
        r"(?m)^\.highlight pre \{\s*white-space: pre-wrap;\s*overflow-wrap: anywhere",  # at every width
    ],
)
def test_the_theme_has_what_keeps_pages_in_their_width_and_dark(rule):
    assert re.search(rule, THEME)


def test_the_changelog_has_a_heading_for_each_version_the_latest_first():
    lines = (DOCS / "changelog.md").read_text(encoding="utf-8").splitlines()
    heads = [line for line in lines if line.startswith("## ")]
    found = [re.fullmatch(r"## (\d+)\.(\d+)\.(\d+) - (unreleased|\d{4}-\d\d-\d\d)", head) for head in heads]

    assert all(found), heads
    versions = [tuple(map(int, match.groups()[:3])) for match in found]
    assert ".".join(map(str, versions[0])) == tensorwrapper.__version__
    assert all(a > b for a, b in pairwise(versions))
    assert all(match[4] != "unreleased" for match in found[1:])


def test_the_changelog_says_nothing_twice():
    lines = (DOCS / "changelog.md").read_text(encoding="utf-8").splitlines()
    said = [line for line in lines if line.startswith("- ")]

    assert len(set(said)) == len(said)


def repeated_sentences(line):
    """Return the pairs of nearly equal sentences of a paragraph, or of a cell of a table."""
    found = []
    for part in line.split("|") if line.startswith("|") else [line]:
        sentences = [own.strip() for own in re.split(r"(?<=[.;])\s+", part) if len(own.strip()) > 12]
        found += [
            pair
            for pair in combinations(sentences, 2)
            if SequenceMatcher(None, *pair, autojunk=False).ratio() > 0.85
        ]
    return found


def test_no_paragraph_says_a_thing_twice():
    assert repeated_sentences("| `a` | It adds check sums. It adds checksums. |")
    for path in [*sorted(DOCS.rglob("*.md")), DOCS.parent / "README.md"]:
        if not {"_build", "reference"} & set(path.relative_to(DOCS.parent).parts):
            texts = re.sub(
                r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
            )
            assert [found for line in texts.splitlines() if (found := repeated_sentences(line))] == [], path
