"""Rules of fusion: what two steps come down to, written in two ways that have one normal form."""

from typing import ClassVar, final

import numpy as np
import pytest

from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, ExtentMismatchError
from tests.support.selection.brute import elements_of
from tests.support.selection.normal_forms import SAME

# Each row: what is written, and what it comes down to.


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME)
def test_two_ways_to_write_a_view_have_one_normal_form(pair):
    written, simple = pair[0](), pair[1]()
    np.testing.assert_array_equal(elements_of(written._expression), elements_of(simple._expression))
    one, other = written[...].normal_form(), simple[...].normal_form()
    np.testing.assert_array_equal(elements_of(one), elements_of(simple._expression))
    assert one == other
    assert hash(one) == hash(other)


class _Differences(sel.Node):
    """A node that says only what every node must say; whether its operands fit is not its own to check."""

    def __init__(self, *operands):
        self._operands = operands

    dtype = np.dtype(np.float64)
    name = "differences"

    @property
    def operands(self):
        return self._operands

    @property
    def extents(self):
        return self._operands[0].shape.extents

    def with_operands(self, operands):
        return type(self)(*operands)

    def values(self, places, given=()):  # noqa: ARG002
        return given[0] - given[1]


@final
class _Outer(_Differences):
    is_cellwise: ClassVar[bool] = False

    @property
    def extents(self):
        return tuple(own.shape.extents[0] for own in self.operands)


KEYS = [np.s_[:], np.s_[0], np.s_[1:], np.s_[::2], np.s_[..., ::-1], np.s_[[0, 1]]]


@pytest.mark.parametrize("other", [np.ones((4, 3)), np.ones((2, 4)), np.ones((1, 4)), np.ones(12), 1.0])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_section_4_operands_of_another_box_are_refused(other, key):
    node = _Differences(sel.as_view(np.ones((3, 4))).expression, sel.as_view(other).expression)
    with pytest.raises(ExtentMismatchError, match="operand 1 of 'differences'"):
        sel.View(node.all())[key].compute()


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_section_4_a_node_that_does_not_say_what_parts_of_it_are_is_refused(key):
    node = _Outer(sel.as_view(np.arange(3.0)).expression, sel.as_view(np.arange(4.0)).expression)
    for work in (lambda view: view.compute(), lambda view: view.plan().steps, lambda view: view.explain()):
        with pytest.raises(ConversionError, match="'differences' is not cellwise"):
            work(sel.View(node.all())[key])
