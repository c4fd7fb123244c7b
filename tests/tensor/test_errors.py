"""What tensors refuse: the class of each error, what its text names, and that nothing is changed."""

import mmap
from multiprocessing import shared_memory

import awkward as ak
import numpy as np
import pytest
import xarray as xr

import tensorwrapper as tw
from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper import selection as sel
from tensorwrapper.buffer import Dense, from_functions, join
from tensorwrapper.errors import (
    BufferSizeError,
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    LocalProtocolError,
    ModeNameError,
    OutOfBoundsError,
    RankError,
    ReadOnlyError,
    TensorWrapperError,
    TooManyIndicesError,
)

X = np.arange(12.0).reshape(3, 4)
FIXED = np.arange(3.0)
FIXED.flags.writeable = False


def box():
    return tw.as_tensor(X.copy())


def computed(extents):
    size = int(np.prod(extents))
    return tw.from_buffer(from_functions(size, "f8", lambda places: places * 1.0), Shape.smooth(extents))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda t: t[3], OutOfBoundsError, r"position 3 is outside mode 0"),
        (lambda t: t[:, [0, 4]], OutOfBoundsError, r"index 4 is out of bounds for axis 1.*\(3, 4\)"),
        (lambda t: t.oindex[[0, -4]], OutOfBoundsError, r"-4"),
        (lambda t: t.vindex[[0], [9]], OutOfBoundsError, r"9"),
        (lambda t: t.rows()[3], OutOfBoundsError, r"row 3 is outside the 3 rows"),
        (lambda t: t[0, 0, 0], TooManyIndicesError, r"3 .*2"),
        (lambda t: t.permute((0,)), RankError, r"\(0,\) is not a permutation of the modes 0 to 1"),
        (lambda t: t.astype("O"), DTypeError, r"object are not supported"),
        (lambda t: t.astype([("a", "i4")]), DTypeError, r"not supported: allowed are"),
        (lambda t: t.repeat((1, 2)).assign(0), ReadOnlyError, r"mode 1, which repeats its elements"),
        (lambda t: t.broadcast((2, 3, 4)).assign(0), ReadOnlyError, r"mode 0, which repeats its elements"),
        (lambda t: t.sliding_window(0, 2).assign(0), ReadOnlyError, r"modes that overlap"),
        (
            lambda t: t.repeat((1, 2))[:, :4].assign(0),
            ReadOnlyError,
            r"repeated in a tensor of which this is a",
        ),
        (lambda t: t.assign(np.zeros((2, 4))), ExtentMismatchError, r"\(2, 4\).*\(3, 4\)"),
        (lambda t: t.__setitem__(0, [1, 2, 3]), ExtentMismatchError, r"\(3,\).*\(4,\)"),
        (lambda t: t.__setitem__([0], [1, 2, 3]), ExtentMismatchError, r"\(3,\).*\(1, ?4\)"),
        (lambda t: t.rotate((1, 1)).__setitem__([0], [1, 2, 3]), ExtentMismatchError, r"\(3,\).*\(1, ?4\)"),
        (lambda t: t.rotate((1, 1)).assign(np.zeros((2, 4))), ExtentMismatchError, r"\(2, 4\).*\(3, 4\)"),
        (lambda t: t.pad_rows(9, fill_value="7"), ConversionError, r"fill_value='7' is nothing"),
    ],
)
def test_an_error_says_what_was_given_and_where(call, error, text):
    t = box()
    with pytest.raises(error, match=text):
        call(t)
    assert t.tolist() == X.tolist()


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        (Layout(Shape(3, 4)), r"offsets 0 to 11; the buffer has 10"),
        (Layout.packed(Shape(2, 3), offset=5), r"offsets 5 to 10; the buffer has 10"),
        (Layout(Shape(5)).reverse()[:1], None),
        (Layout.packed(Shape(5), offset=-1), r"offsets -1 to 3; the buffer has 10"),
    ],
)
def test_a_buffer_that_is_too_small_is_told_the_least_and_the_greatest_offset(layout, text):
    buffer = Dense(np.zeros(10))
    if text is None:
        assert tw.Tensor(layout, buffer).size == 1
        return
    with pytest.raises(BufferSizeError, match=text):
        tw.Tensor(layout, buffer)
    with pytest.raises(BufferSizeError, match=text):
        tw.from_buffer(buffer, layout.shape, layout=layout)


@pytest.mark.parametrize("fixed", [FIXED, FIXED.tobytes(), memoryview(FIXED)])
def test_read_only_memory_is_so_in_every_view(fixed):
    t = tw.from_buffer(fixed, (3,), dtype="f8")
    for view in (t, t[1:], t.reverse(), t.rotate([1]), t.gather(0, [2, 0]), t.unflatten([1, 2])[1]):
        assert view.is_readonly
        with pytest.raises(ReadOnlyError, match="read-only"):
            view[...] = 0.0
    with pytest.raises(ReadOnlyError, match="read-only"):
        tw.as_tensor([1.0, 2.0, 3.0]).accumulate_into(t)


def test_buffers_over_the_same_memory_join_to_what_cannot_be_written_to():
    memory = np.arange(4.0)
    shared = [[Dense(memory)] * 2, [Dense(memory[:3]), Dense(memory[2:])]]
    for parts in shared:
        t = tw.from_buffer(join(parts), Shape(sum(part.size for part in parts)))
        with pytest.raises(ReadOnlyError):
            t.assign(0.0)
    apart = join([Dense(memory[:2]), Dense(memory[2:]), Dense(memory[:0])])
    tw.from_buffer(apart, Shape(4)).assign(1.0)
    assert memory.tolist() == [1.0] * 4


@pytest.mark.parametrize(
    "value",
    [
        lambda t: t.rotate((1, 0)),
        lambda t: t.gather(0, [0, 2, 1]),
        lambda t: t.to_layout(Layout.tiled(Tiling([2, 1], [2, 2]))),
        lambda _: computed((3, 4)),
        lambda _: computed((4,)),
    ],
)
def test_a_value_in_any_place_can_be_assigned_to_memory(value):
    t = box()
    given = value(t)
    expected = np.broadcast_to(given.tolist(), (3, 4)).tolist()
    t.assign(given)
    assert t.tolist() == expected
    into = tw.zeros((3, 4))
    into[...] = value(box())
    assert into.tolist() == expected


@pytest.mark.parametrize("value", [[[1], [2, 3]], [[1, 2], [3, 4]], np.zeros((2, 2)), ()])
def test_a_jagged_tensor_takes_no_lists(value):
    t = tw.jagged([[1, 2], [3]])
    with pytest.raises(ConversionError, match="cell by cell"):
        t.assign(value)
    assert t.tolist() == [[1, 2], [3]]


# A tensor holds on to its memory: whoever wants to close it is refused, or the memory stays.


def test_a_released_memoryview_leaves_the_memory_to_the_tensor():
    memory = bytearray(np.arange(2.0).tobytes())
    view = memoryview(memory)
    t = tw.from_buffer(view, (2,), dtype="f8")
    view.release()
    assert t.tolist() == [0.0, 1.0]
    with pytest.raises(BufferError):
        memory.extend(bytes(1000))
    own = t.as_memoryview()
    own.release()
    assert t.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("make", [tw.as_tensor, lambda view: tw.from_buffer(view, (2,), dtype="f8")])
def test_a_view_that_was_released_before_is_refused(make):
    view = memoryview(bytearray(16))
    view.release()
    with pytest.raises(ConversionError, match="released"):
        make(view)


def test_a_map_cannot_be_closed_under_a_tensor():
    memory = mmap.mmap(-1, 64)
    t = tw.from_buffer(memory, (8,), dtype="f8")[::2]
    with pytest.raises(BufferError):
        memory.close()
    t[...] = 1.0
    del t
    assert memory[:8] == np.float64(1).tobytes()
    memory.close()
    with pytest.raises(ConversionError, match="closed"):
        tw.from_buffer(memory, (8,), dtype="f8")


def test_shared_memory_lives_until_the_last_tensor_is_gone():
    block = shared_memory.SharedMemory(create=True, size=64)
    t = tw.from_buffer(block.buf, (8,), dtype="f8")[2:]
    block.unlink()
    with pytest.raises(BufferError):
        block.close()
    t.assign(2.0)
    assert t.tolist() == [2.0] * 6
    del t
    block.close()


# Rank 0: nothing to index, no rows, and no foreign error about it.


@pytest.mark.parametrize("make", [lambda: tw.as_tensor(5.0), lambda: computed(())])
@pytest.mark.parametrize("key", [[0], np.array([0]), np.ones(3, bool), ([0], [0])])
def test_arrays_are_too_many_indices_for_rank_0(make, key):
    with pytest.raises(TooManyIndicesError):
        make()[key]


@pytest.mark.parametrize("make", [lambda: tw.as_tensor(5.0), lambda: computed(())])
def test_a_bool_selects_all_or_nothing_of_rank_0(make):
    first = make().item()
    assert make()[np.array(True)].tolist() == [first]
    assert make()[np.array(False)].tolist() == []


def test_a_tensor_of_rank_0_has_no_rows():
    with pytest.raises(RankError, match="no rows"):
        tw.as_tensor(5.0).rows()


def test_tiles_that_lie_one_after_the_other_are_elements():
    tiling = Tiling([2, 1], [2, 2])
    tiles = box().to_layout(Layout.tiled(tiling)).tiled(tiling)
    assert tiles.tile((0, 1)).tolist() == [[2.0, 3.0], [6.0, 7.0]]
    assert tiles.element((0, 1)).tolist() == [[2.0, 3.0], [6.0, 7.0]]


def provoked(value):
    """Return what errors say when everything that a value can is asked for with what does not fit."""
    for name in dir(value):
        if name.startswith(("_", "to_", "draw", "show")):
            continue
        for arguments in [("no",), (-7, 10**9), (value, value), (None, 3, "x")]:
            try:
                found = getattr(value, name)
                if callable(found):
                    found(*arguments)
            except TensorWrapperError as error:
                yield name, str(error)
            except (TypeError, AttributeError, ValueError, LookupError):
                pass


@pytest.mark.parametrize("count", [400, 10**4])
@pytest.mark.parametrize("make", [lambda t: t, lambda t: t.shape, lambda t: t.layout, sel.as_view])
def test_errors_about_many_rows_are_short(make, count):
    """Up to 1000 numbers a shape is written in full, and read back; an error holds a part of it."""
    value = make(tw.zeros(Shape.jagged([[1] * (k % 3) for k in range(count)])))
    texts = list(provoked(value))

    assert len(texts) > 20
    assert [(name, text) for name, text in texts if len(text) > 600 or "\n" in text] == []


def test_a_long_error_says_its_beginning_and_its_end_and_keeps_all():
    error = RankError("a" * 5000 + ": `t.copy()` copies")

    assert len(str(error)) < 600
    assert str(error).startswith("aaa")
    assert str(error).endswith("a: `t.copy()` copies")
    assert len(error.args[0]) > 5000
    assert str(RankError("b" * 590)) == "b" * 590
    for other in (ModeNameError("c" * 5000), LocalProtocolError("schema", "d" * 5000)):
        assert len(str(other)) <= 600


NO_ARRAYS = {
    "lists of several lengths": [[1], [2, 3]],
    "arrays of several lengths": [np.arange(1), np.arange(3)],
    "a number beside a list": [1, [2]],
    "rows of Awkward Array": ak.Array([[1], [2, 3]]),
    "a Dataset of xarray": xr.Dataset({"a": ("x", [1, 2])}),
}
TAKE_ARRAYS = {
    "full": lambda given: tw.full((2,), given),
    "full of a view": lambda given: sel.full((2,), given),
    "coords": lambda given: tw.sparse(given, [1.0, 2.0], Shape(3)),
    "blocks": lambda given: tw.blocks({(0,): given}, Tiling([2, 1])),
    "unflatten": lambda given: tw.as_tensor([1, 2, 3]).unflatten(given),
    "unflatten of a view": lambda given: sel.as_view([1, 2, 3]).unflatten(given),
    "fill_null": lambda given: tw.nullable(tw.as_tensor([1]), tw.as_tensor([False])).fill_null(given),
    "in": lambda given: given in tw.as_tensor([1, 2]),
    "packed": lambda given: tw.from_packed(given, "s2", (2, 2)),
    "tiles": lambda given: tw.as_tensor([1, 2, 3]).tiled(Tiling([1, 2])).keep_tiles(given),
    "a row": lambda given: tw.jagged([[1, 2], []]).assign(given),
    "validity": lambda given: tw.nullable(tw.as_tensor([1]), given),
    "edges": lambda given: tw.jagged([[1, 2], []]).rows().histogram(given),
    "gather": lambda given: tw.as_tensor([1, 2, 3]).gather(0, given),
}


@pytest.mark.parametrize("given", NO_ARRAYS.values(), ids=NO_ARRAYS)
@pytest.mark.parametrize("call", TAKE_ARRAYS.values(), ids=TAKE_ARRAYS)
def test_what_is_no_array_is_refused_in_words_of_this_package(call, given):
    """NumPy, Awkward Array and xarray raised their own errors where no array can be made."""
    with pytest.raises(TensorWrapperError):
        call(given)


@pytest.mark.parametrize("call", [tw.jagged, lambda given: sel.pad(tw.as_tensor([1]), given)])
def test_an_array_without_modes_is_no_sequence(call):
    with pytest.raises(ConversionError):
        call(np.array(3.5))
