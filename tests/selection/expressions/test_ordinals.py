"""Selections that have no simpler form: elements by their number, and places of fields with views in them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError

X = np.arange(12).reshape(3, 4)
BOTH = sel.concat([sel.as_view(X), sel.as_view(X + 100)])
JOINED = np.concatenate([X, X + 100])
KEYS = st.tuples(
    *[st.builds(slice, *[st.none() | st.integers(-6, 6)] * 2, st.sampled_from([1, 2, -1, -3]))] * 2
)


@given(KEYS)
def test_what_lies_across_the_parts_is_all_elements_and_a_layout_of_them(key):
    view, expected = BOTH.reshape(4, 6).permute(1, 0)[key], JOINED.reshape(4, 6).T[key]

    assert view.compute().tolist() == expected.tolist()
    assert view.permute(1, 0).compute().tolist() == expected.T.tolist()


def test_all_elements_are_a_node_that_json_says():
    view = BOTH.reshape(4, 6).permute(1, 0)[::2]
    text = sel.to_json(view, form="normal")

    assert view.normal_form().node.name == "whole"
    assert '"whole":{' in text
    assert (
        sel.from_json(text, sources=sel.sources(view)).compute().tolist()
        == JOINED.reshape(4, 6).T[::2].tolist()
    )


def test_what_begins_anywhere_is_put_to_zero():
    padded = sel.pad(X, [(1, 0), (0, 1)], boundary="edge")

    assert padded.shape.origin == (-1, 0)
    assert padded[:2].compute().tolist() == np.pad(X, [(1, 0), (0, 1)], mode="edge")[:2].tolist()


def test_fields_with_views_in_them_are_sampled_where_they_are():
    low = sel.as_view(np.arange(12.0).reshape(3, 4))
    field = sel.uniform((3, 4), low, low + 1.0, seed=5)
    whole = field.compute().to_numpy()

    assert field[::-1, 1::2].compute().tolist() == whole[::-1, 1::2].tolist()
    assert field.permute(1, 0)[2].compute().tolist() == whole.T[2].tolist()
    with pytest.raises(ConversionError, match="steps only"):
        sel.to_json(field[::-1, 1::2], form="normal")
