"""Layouts over bytes: no place of an accepted layout lies outside of its memory."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tensorwrapper import Layout
from tensorwrapper.errors import (
    BufferSizeError,
    TensorWrapperError,
)
from tests.support.layout.strided import strided_layouts

HUGE = st.sampled_from([2**31, 2**62, 2**63 - 1, 2**63, 2**64, 2**70, 10**30])


COUNTS = st.integers(-1, 5) | HUGE


STEPS = st.integers(-20, 20) | HUGE | HUGE.map(lambda number: -number)


@st.composite
def hostile(draw):
    rank = draw(st.integers(0, 4))
    fields = {
        "shape": draw(st.lists(COUNTS, min_size=rank, max_size=rank).map(tuple)),
        "typestr": draw(st.sampled_from(["<i4", "|u1", "<f8", "|V3", "<c16"])),
        "version": 3,
    }
    if draw(st.booleans()):
        spare = draw(st.sampled_from([0, 0, 0, 0, 1, -1]))
        fields["strides"] = draw(
            st.lists(STEPS, min_size=max(rank + spare, 0), max_size=max(rank + spare, 0))
        )
    return fields


def reached(fields, itemsize):
    """The first byte and the end of the last, from the element at the origin; None if there is no element."""
    shape = fields["shape"]
    if 0 in shape:
        return None
    strides = fields.get("strides")
    if strides is None:
        strides, step = [], itemsize
        for extent in reversed(shape):
            strides.insert(0, step)
            step *= extent
    ends = [(min(0, (n - 1) * s), max(0, (n - 1) * s)) for n, s in zip(shape, strides, strict=True)]
    return sum(low for low, _ in ends), sum(high for _, high in ends) + itemsize


@given(hostile(), STEPS, st.integers(0, 200))
def test_an_accepted_layout_lies_inside_its_buffer(fields, offset, size):
    try:
        found = Layout.from_array_interface({**fields, "data": bytearray(size), "offset": offset})
    except TensorWrapperError:
        return
    ends = reached(fields, found.dtype.itemsize)
    if ends is None:
        assert (found.nbytes, found.byte_offset) == (0, 0)
        return
    assert 0 <= offset + ends[0] <= offset + ends[1] <= size
    assert (found.byte_offset, found.nbytes) == (offset + ends[0], ends[1] - ends[0])
    low, high = found.layout.bounds()
    assert low == 0
    assert (high + 1) * found.dtype.itemsize == found.nbytes


@given(hostile(), COUNTS, st.tuples(COUNTS, COUNTS))
@example({"shape": (2,), "typestr": "<i4", "strides": (-8,)}, 8, (0, 2**64))
@example({"shape": (0, 2**62), "typestr": "<i4", "strides": (2**70, 2**70)}, 0, (0, 0))
def test_an_accepted_layout_lies_inside_the_range_that_is_allowed(fields, address, within):
    try:
        found = Layout.from_array_interface({**fields, "data": (address, True)}, within=within)
    except TensorWrapperError:
        return
    ends = reached(fields, found.dtype.itemsize)
    assert found.is_readonly
    if ends is not None:
        assert within[0] <= address + ends[0] <= address + ends[1] <= sum(within)
        assert found.address == address + ends[0]


@given(strided_layouts(reach=2**40), st.integers(0, 64))
def test_an_export_never_leaves_its_memory(layout, nbytes):
    low, high = layout.bounds()
    fits = not layout.shape.size or (low >= 0 and (high + 1) * 4 <= nbytes)
    for export in (layout.to_array_interface, layout.to_buffer_info, layout.to_dltensor):
        if fits:
            export("i4", nbytes=nbytes)
        else:
            with pytest.raises(BufferSizeError, match="needs the bytes"):
                export("i4", nbytes=nbytes)
