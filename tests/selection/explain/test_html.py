"""What notebooks show: lists that stand by themselves, whatever sources are called."""

from html.parser import HTMLParser

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tests.support.selection.views import VIEWS

HOSTILE = '<script>alert("1")</script>&amp;<img src=x onerror=y>'


class Named:
    """A source with a name that somebody chose."""

    shape = tw.Shape(3)
    dtype = np.dtype("i8")
    version = ""

    def read(self, _selections, _out):
        raise NotImplementedError

    def cost(self, _selection):
        return 0

    def __repr__(self):
        return HOSTILE


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.met, self.texts = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.met.add(tag)
        assert {name for name, _ in attrs} <= {"style", "class", "open"}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def _parse(html):
    tags = _Tags()
    tags.feed(html)
    tags.close()
    assert tags.open == []
    return tags


MADE_OF = {"div", "style", "code", "table", "tr", "th", "td", "details", "summary", "ul", "li", "b", "span"}


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_is_shown_with_its_facts_and_its_steps(name):
    view = VIEWS[name]()
    tags = _parse(view._repr_html_())
    assert tags.met <= MADE_OF
    text = "".join("".join(tags.texts).split())
    facts = repr(view).removeprefix("<").partition(", not computed")[0]
    assert "".join(facts.split()) in text
    written = view.explain().partition("\nruns as")[0].partition("; reads ")[0]
    assert "".join(written.replace("  # ", " ").split()) in text


def test_display_neither_plans_nor_reads(monkeypatch):
    view = sel.as_view(Named())[::-1]
    monkeypatch.setattr(sel.View, "plan", None)
    monkeypatch.setattr(sel.View, "normal_form", None)
    assert "not computed" in view._repr_html_()
    assert "not computed" in repr(view)


def test_names_that_somebody_chose_are_only_text():
    def function(place):
        return place

    function.__name__ = HOSTILE
    for view in (sel.as_view(Named())[::-1], sel.compute((3,), function), sel.full((2,), HOSTILE)):
        tags = _parse(sel.stack([view, view])._repr_html_())
        assert tags.met <= MADE_OF
        assert HOSTILE in "".join(tags.texts)
