"""What an outside look at views turned up."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError


def test_attack_25_outer_and_pointwise_keys_of_views_are_written_to():
    for name, key in (("oindex", ([2, 0], [3, 1])), ("vindex", ([2, 0], [3, 1]))):
        array = np.arange(12).reshape(3, 4)
        tensor, other = tw.as_tensor(array.copy()), tw.as_tensor(array.copy())
        getattr(tensor, name)[key] = 99
        getattr(sel.as_view(other), name)[key] = 99
        assert other.tolist() == tensor.tolist() != array.tolist()


def test_section_4_a_view_of_no_expression_says_what_makes_one():
    with pytest.raises(ConversionError, match=r"as_view\(\)"):
        sel.View(tw.as_tensor([1, 2]))


def test_section_4_an_empty_view_takes_nothing_and_is_added_to_in_vain():
    t = tw.as_tensor([1, 2, 3])
    for empty in (sel.pad(t, [(1, 0)])[0:0], sel.as_view(t)[:0].repeat((3,))):
        tw.as_tensor(np.zeros(0, "i8")).accumulate_into(empty)
        empty.assign(np.zeros(0, "i8"))
    assert t.tolist() == [1, 2, 3]


def test_section_4_a_box_of_an_empty_view_is_read_back_or_refused():
    a = tw.as_tensor(np.arange(24).reshape(4, 6))
    for view in (sel.as_view(a)[2:2, 1:], sel.as_view(a)[:, 3:3], sel.as_view(a)[4:]):
        text = sel.to_json(view, form="box")
        assert sel.from_json(text, sources={"0": a}).shape.extents == view.shape.extents
    for view in (sel.as_view(a)[2:2].repeat((1, 2)), sel.as_view(a)[:0].repeat_each(1, 3)):
        with pytest.raises(ConversionError, match="not a region"):
            sel.to_json(view, form="box")


# Where views that are put together lie: as ufuncs, one origin is kept, and different ones are refused.
