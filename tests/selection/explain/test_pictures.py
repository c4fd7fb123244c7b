"""Pictures of views: every cell has the colour of the source that its element comes from."""

import re
import xml.etree.ElementTree as ET

import numpy as np

from tensorwrapper import selection as sel

X = np.arange(6).reshape(2, 3)


def svg(view):
    text = view.to_svg()
    ET.fromstring(text)
    return text


def test_each_source_has_a_colour_of_its_own():
    one = svg(sel.as_view(X)[::-1])
    two = svg(sel.concat([X, X + 1]))

    def colours(text):
        return set(re.findall(r'fill="(#[0-9a-f]{6})"', text))

    assert len(colours(two)) > len(colours(one))


def test_a_picture_is_small_at_any_size_and_reads_nothing():
    huge = sel.concat([sel.full((10**6, 10**6), 1, dtype="i8"), sel.iota((10**6, 10**6))])

    assert len(svg(huge)) < 100_000


def test_names_of_strangers_are_text():
    view = sel.as_view(X[:, :0])

    assert "<script" not in svg(view)
