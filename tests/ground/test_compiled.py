"""The loops in C do what NumPy does, for every type, empty rows, NaN and steps; wrong places are refused."""

import importlib.util
import itertools
import operator
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tensorwrapper as tw
from tensorwrapper import _compiled
from tensorwrapper._arrays import splits_of
from tensorwrapper.store.records._batch_read import RecordTemplate, find_alike
from tensorwrapper.store.records._checksum import Algorithm, checksum_of
from tensorwrapper.store.records._index_rows import Place
from tests.support.store.uniform_records import file_of, label

SOURCE = Path(_compiled.__file__).with_name("_kernels.c")
COMPILER = shutil.which("cc")
needs_loops = pytest.mark.skipif(not _compiled.is_compiled(), reason="no loops in C were built")
TYPES = ["?", "i1", "u2", "i4", "u8", "i8", "f2", "f4", "f8", ">f8", "c16"]


@st.composite
def rows(draw):
    """Return rows, short, long and empty ones."""
    lengths = draw(st.lists(st.integers(0, 20) | st.integers(100, 300), max_size=30))
    dtype = np.dtype(draw(st.sampled_from(TYPES)))
    few = dtype.kind in "fc" and draw(st.booleans())
    # Of few values, so that elements are equal, and NaN and zeros of both signs are among them.
    elements = st.sampled_from([0.0, -0.0, 1.0, -2.5, np.nan, np.inf]) if few else None
    size = sum(lengths)
    if few:
        flat = np.array(draw(st.lists(elements, min_size=size, max_size=size)), dtype)
    else:
        seed = draw(st.integers(0, 2**32 - 1))
        raw = np.random.default_rng(seed).integers(-100, 100, size)
        flat = raw.astype(dtype)
    splits = splits_of(np.array(lengths, np.int64))
    t = tw.from_buffer(flat, tw.Shape.from_offsets(splits))
    # Some rows, and steps within rows.
    return t[:: draw(st.integers(1, 2)), :: draw(st.integers(1, 2))] if lengths else t


def both_ways(work):
    """Return what work gives with the loops in C, and without them."""
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        found = work()
        patch.setattr(_compiled, "_module", lambda: None)
        return found, work()


CALLS = {
    "sum": lambda r: r.sum(),
    "max": lambda r: r.max(empty=0),
    "min": lambda r: r.min(empty=0),
    "argmax": lambda r: r.argmax(empty=-1),
    "argmin": lambda r: r.argmin(empty=-1),
    "cumsum": lambda r: r.cumsum(),
    "sort": lambda r: r.sort(),
    "sort down": lambda r: r.sort(descending=True),
    "argsort": lambda r: r.argsort(),
    "argsort down": lambda r: r.argsort(descending=True),
}


@needs_loops
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@given(rows())
def test_rows_are_as_those_of_numpy(call, t):
    own, numpys = both_ways(lambda: call(t.rows()).elements())
    assert own.dtype == numpys.dtype
    assert np.array_equal(own, numpys, equal_nan=own.dtype.kind in "fc")


@needs_loops
@given(rows(), st.data())
def test_masks_and_chosen_rows_are_as_those_of_numpy(t, data):
    mask = tw.from_buffer(data.draw(hnp.arrays(bool, t.shape.size)), t.shape)
    count = len(t)
    places = data.draw(st.lists(st.integers(0, max(count - 1, 0)), max_size=20 if count else 0))
    for key in (mask, np.array(places, np.int64)):
        own, numpys = both_ways(lambda key=key: t[key])
        assert own.shape == numpys.shape
        assert own.elements().tobytes() == numpys.elements().tobytes()


@needs_loops
@given(st.lists(st.text(max_size=30), max_size=40), st.data())
def test_strings_are_packed_as_by_numpy(texts, data):
    s = tw.strings(texts)
    places = data.draw(st.permutations(range(len(texts))))
    own, numpys = both_ways(lambda: tw.wire.encode([s[np.array(places, np.int64)]])[2:])
    assert [bytes(part) for part in own] == [bytes(part) for part in numpys]


TEXTS = st.text("ab\u00e9\0", max_size=20) | st.sampled_from(["a" * 300, "a" * 299 + "b"])
COMPARISONS = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}


@needs_loops
@pytest.mark.parametrize(("name", "python"), COMPARISONS.items(), ids=COMPARISONS)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=20), TEXTS, st.data())
def test_strings_are_compared_as_by_numpy_and_python(name, python, pairs, text, data):
    ufunc, sides = getattr(np, name), [list(side) for side in zip(*pairs, strict=True)]
    if data.draw(st.booleans()):
        sides, text = [[own.encode() for own in side] for side in sides], text.encode()
    for side in sides:
        for place in data.draw(st.sets(st.integers(1, len(pairs)), max_size=len(pairs) - 1)):
            side[place - 1] = None
    one, other = map(tw.strings, sides)
    own, numpys = both_ways(lambda: [ufunc(one, other).tolist(), ufunc(text, one[::-1]).tolist()])
    assert own == numpys
    wanted = zip([*sides[0], *[text] * len(pairs)], [*sides[1], *sides[0][::-1]], strict=True)
    assert [*own[0], *own[1]] == [None if None in pair else python(*pair) for pair in wanted]


@needs_loops
@given(
    st.lists(st.integers(1, 4) | st.integers(90, 110), min_size=1, max_size=8),
    st.sampled_from(["box", "rows"]),
    st.lists(st.tuples(st.integers(0, 2**12), st.integers(0, 255), st.booleans()), max_size=4),
    st.integers(0, 100),
    st.integers(0, 2),
)
def test_records_are_found_as_by_numpy(sizes, kind, changes, cut, skipped):
    rows = [[[k] * ((k + 1) % 3) for k in range(size)] for size in sizes]
    mapped, table = file_of([np.ones((n, 3), "i8") for n in sizes] if kind == "box" else map(tw.jagged, rows))
    like = RecordTemplate.of(mapped, Place(*table[0, :2].tolist()), label(kind))
    raw = bytearray(mapped)
    for place, value, in_header in changes:
        # Also near the start of a record, where all is checked.
        raw[place % 100 + table[place % len(table), 0] if in_header else place % len(raw)] = value
    file = memoryview(raw)[: len(raw) - cut]
    own, numpys = both_ways(lambda: find_alike(file, table.T, like, np.dtype("i8"), skipped=skipped))
    assert own[0].tolist() == numpys[0].tolist()
    assert len(own[0]) == skipped + len(sizes)
    assert not own[0][:skipped].any()
    assert changes or cut or own[0][skipped:].all()
    for ours, theirs in zip(own[1:], numpys[1:], strict=True):
        assert ours[:, own[0]].tolist() == theirs[:, own[0]].tolist()


@needs_loops
@given(st.integers(0, 2**18), st.lists(st.integers(0, 2**17), max_size=3), st.integers(0, 7))
def test_checksums_are_those_of_numpy(size, cuts, place):
    # Blocks of 64 KiB and a rest, in pieces that begin at any address.
    raw = memoryview(np.random.default_rng(size).bytes(size + place))[place:]
    marks = [0, *sorted(cut % (size + 1) for cut in cuts), size]
    pieces = [raw[begin:end] for begin, end in itertools.pairwise(marks)]
    own, numpys = both_ways(lambda: checksum_of(pieces, Algorithm.LANES))
    assert own == numpys


@needs_loops
def test_sums_of_floats_have_the_bits_of_numpy():
    rng = np.random.default_rng(3)
    splits = splits_of(np.concatenate([rng.integers(1, 9, 500), rng.integers(100, 3000, 40)]))
    flat = rng.normal(size=splits[-1]) * 10.0 ** rng.integers(-8, 8, splits[-1])
    for dtype in ("f4", "f8"):
        own = _compiled.reduced(np.add, flat.astype(dtype), splits, np.dtype(dtype))
        assert np.add.reduceat(flat.astype(dtype), splits[:-1]).tobytes() == own.tobytes()


@needs_loops
def test_numpy_warns_of_sums_that_overflow():
    t = tw.jagged([[1e308, 1e308], [1.0]])
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert t.rows().sum().tolist() == [np.inf, 1.0]
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert t.rows().cumsum().tolist() == [[1e308, np.inf], [1.0]]


NO_RECORDS = (np.zeros(0, bool), np.zeros(0, "i8"), np.zeros(0, "i8"))
"""What is written of no records."""


def at_odd(numbers):
    """Return integers that begin at an odd address."""
    return memoryview(bytearray(b"x" + np.array(numbers, np.int64).tobytes()))[1:]


def boxes_of(extents, starts, strides, goals, goal_strides):
    """Return the arguments that copy boxes from three numbers to three."""
    return 8, np.zeros(3), extents, starts, strides, goals, goal_strides, np.zeros(3)


WRONG = {
    "splits beyond": ("add", ("f8", np.zeros(3), np.array([0, 4]), np.zeros(1))),
    "splits before": ("sort", ("f8", np.zeros(3), np.array([-1, 2]), np.zeros(3))),
    "splits that descend": ("argmax", ("i4", np.zeros(3, "i4"), np.array([0, 2, 1]), np.zeros(2, "i8"))),
    "too few numbers": ("maximum", ("u1", np.zeros(3, "u1"), np.array([0, 1, 2, 3]), np.zeros(2, "u1"))),
    "too little room": ("add_running", ("f4", np.zeros(3, "f4"), np.array([0, 3]), np.zeros(2, "f4"))),
    "no splits": ("minimum", ("f8", np.zeros(3), np.zeros(0, "i8"), np.zeros(3))),
    "another type": ("argsort", ("c16", np.zeros(3), np.array([0, 3]), np.zeros(3, "i8"))),
    "runs beyond": ("copy_runs", (8, np.zeros(3), [2], [0], [2], 0, np.zeros(3))),
    "runs before": ("copy_runs", (8, np.zeros(3), [-1], [0], [2], 0, np.zeros(3))),
    "goals beyond": ("copy_runs", (8, np.zeros(3), [0], [2], [4], 0, np.zeros(3))),
    "goals before": ("copy_runs", (8, np.zeros(3), [0], [0], [1], -1, np.zeros(3))),
    "a far shift": ("copy_runs", (8, np.zeros(3), [0], [0], [1], -(2**63), np.zeros(3))),
    "runs that end before they begin": ("copy_runs", (8, np.zeros(3), [0], [2], [1], 0, np.zeros(3))),
    "splits at an odd address": ("add", ("f8", np.zeros(3), at_odd([0, 3]), np.zeros(1))),
    "elements at an odd address": ("argmin", ("i8", at_odd([0, 3]), np.array([0, 2]), np.zeros(1))),
    "starts at an odd address": ("copy_runs", (8, np.zeros(3), at_odd([0]), [0], [1], 0, np.zeros(3))),
    "room at an odd address": ("nonzero", (np.ones(3, bool), at_odd([0, 0, 0]))),
    "a box beyond": ("copy_boxes", boxes_of([2], [2], [1], [0], [1])),
    "a box before": ("copy_boxes", boxes_of([2], [0], [-1], [0], [1])),
    "a box that begins before": ("copy_boxes", boxes_of([2], [-1], [1], [0], [1])),
    "a box that goes beyond": ("copy_boxes", boxes_of([2], [0], [1], [2], [1])),
    "a box that goes before": ("copy_boxes", boxes_of([2], [0], [1], [0], [-1])),
    "a box of a far step": ("copy_boxes", boxes_of([2], [0], [-(2**63)], [0], [1])),
    "a box of a far goal": ("copy_boxes", boxes_of([2], [0], [1], [2**63 - 1], [1])),
    "a box of many elements": ("copy_boxes", boxes_of([2**62], [0], [0], [0], [0])),
    "a box of many elements in two modes": (
        "copy_boxes",
        (8, np.zeros(3), [2**32, 2**32], [0], [0, 0], [0], [0, 0], np.zeros(3)),
    ),
    "a box with a mode more": ("copy_boxes", boxes_of([1, 1], [0], [1], [0], [1])),
    "a box with a goal more": ("copy_boxes", boxes_of([1], [0], [1], [0, 0], [1])),
    "boxes of part of a mode": (
        "copy_boxes",
        (8, np.zeros(3), [1, 1, 1], [0, 0], [1] * 3, [0, 0], [1] * 3, np.zeros(3)),
    ),
    "boxes of many modes": (
        "copy_boxes",
        (8, np.zeros(3), [1] * 65, [0], [1] * 65, [0], [1] * 65, np.zeros(3)),
    ),
    "boxes of no elements": ("copy_boxes", (0, np.zeros(3), [1], [0], [1], [0], [1], np.zeros(3))),
    "boxes at an odd address": ("copy_boxes", (8, np.zeros(3), [1], at_odd([0]), [1], [0], [1], np.zeros(3))),
    "a window before": ("copy_window", (8, np.zeros(3), [0], [0, 3], -1, np.zeros(1))),
    "a window beyond": ("copy_window", (8, np.zeros(3), [0], [0, 3], 3, np.zeros(1))),
    "a window beyond the integers": ("copy_window", (8, np.zeros(3), [0], [0, 3], 2**63 - 1, np.zeros(1))),
    "a window that ends beyond": ("copy_window", (8, np.zeros(3), [0], [0, 3], 2, np.zeros(2))),
    "a window of a run beyond": ("copy_window", (8, np.zeros(3), [1], [0, 3], 0, np.zeros(3))),
    "a window of the middle of a run beyond": ("copy_window", (8, np.zeros(3), [0], [0, 9], 3, np.zeros(1))),
    "a window of far ends": ("copy_window", (8, np.zeros(3), [0], [-(2**63), 9], 0, np.zeros(1))),
    "a window of a far run": ("copy_window", (8, np.zeros(3), [2**63 - 1], [0, 3], 1, np.zeros(1))),
    "a window of runs that descend": ("copy_window", (8, np.zeros(3), [0, 0], [0, 3, 1], 0, np.zeros(4))),
    "a window of no runs": ("copy_window", (8, np.zeros(3), [], [0], 0, np.zeros(1))),
    "a window of runs with one end": ("copy_window", (8, np.zeros(3), [0], [0], 0, np.zeros(1))),
    "a window at an odd address": ("copy_window", (8, np.zeros(3), at_odd([0]), [0, 3], 0, np.zeros(1))),
    "a window of no elements": ("copy_window", (0, np.zeros(3), [0], [0, 3], 0, np.zeros(3))),
    "strings beyond": ("compare", (False, b"ab", [0], [3], b"ab", [0], [2], np.zeros(2, "i1"))),
    "strings before": ("compare", (True, b"ab", [-1], [1], b"ab", [0], [2], np.zeros(2, "i1"))),
    "strings that end before they begin": (
        "compare",
        (True, b"ab", [0], [1], b"ab", [0, 2], [2, 1], np.zeros(2, "i1")),
    ),
    "more starts than stops": ("compare", (False, b"ab", [0, 1], [2], b"ab", [0], [2], np.zeros(2, "i1"))),
    "fewer starts than pairs": (
        "compare",
        (False, b"ab", [0, 1], [1, 2], b"ab", [0], [2], np.zeros(3, "i1")),
    ),
    "strings at an odd address": (
        "compare",
        (False, b"ab", at_odd([0]), [1], b"ab", [0], [2], np.zeros(3, "i1")),
    ),
    "no place for a record": (
        "alike",
        (
            b"",
            *[[0]] * 4,
            b"",
            [0, 0],
            [0, 2, 1, 8, 9, 2, 1],
            *NO_RECORDS,
        ),
    ),
    "more starts than lengths": (
        "alike",
        (
            b"",
            [0],
            *[[]] * 3,
            b"",
            [0, 0],
            [0, 2, 1, 8, 9, 2, 1],
            np.zeros(1, bool),
            np.zeros(1, "i8"),
            np.zeros(1, "i8"),
        ),
    ),
    "a text beyond": (
        "alike",
        (
            b"",
            *[[]] * 4,
            b"a",
            [0, 2],
            [0, 2, 1, 8, 9, 2, 1],
            *NO_RECORDS,
        ),
    ),
    "rows without bytes": (
        "alike",
        (
            b"",
            *[[]] * 4,
            b"a",
            [0, 1],
            [0, 2, 1, 0, 9, 2, 1],
            *NO_RECORDS,
        ),
    ),
    "a part of a block": ("mix", (3, 29, np.zeros(2, "u8"), bytes(24))),
    "lanes at an odd address": ("mix", (3, 29, at_odd([0, 0]), bytes(16))),
    "no shift": ("mix", (3, 64, np.zeros(2, "u8"), bytes(16))),
    "no elements": ("copy_runs", (0, np.zeros(3), [0], [0], [1], 0, np.zeros(3))),
}


@needs_loops
@pytest.mark.parametrize(("name", "arguments"), WRONG.values(), ids=WRONG)
def test_wrong_places_are_refused(name, arguments):
    kernel = getattr(_compiled._module(), name)
    with pytest.raises(ValueError, match=r"splits|run|room|type|shift|elements|starts|records|modes"):
        kernel(*[np.array(own, np.int64) if isinstance(own, list) else own for own in arguments])


NUMBERS = {
    "floats": st.floats(),
    "integers": st.integers(-(2**63), 2**63 - 1),
    "any integers": st.integers(-(2**65), 2**65),
    "bools": st.booleans(),
    "both": st.floats() | st.integers(-9, 9),
    "others": st.sampled_from([1, 2.5, True, None, 1j, "a", np.float64(2), [3]]),
}


@needs_loops
@given(st.sampled_from(sorted(NUMBERS)), st.data())
def test_lists_of_numbers_are_read_as_by_numpy(kind, data):
    row = st.lists(NUMBERS[kind], max_size=5)
    lists = data.draw(st.lists(row | row.map(tuple), min_size=1, max_size=8))

    def made():
        try:
            t = tw.jagged(lists)
        except (tw.errors.TensorWrapperError, OverflowError) as error:
            return type(error), str(error)
        return t.dtype, t.shape, t.tolist().__repr__(), t.is_nullable

    own, numpys = both_ways(made)
    assert own == numpys


@needs_loops
def test_lists_that_another_thread_changes_are_read_anew():
    module = _compiled._module()
    rows, lengths, out = [[1.0, 2.0], [3.0]], np.zeros(2, np.int64), np.zeros(3)
    assert module.measure_lists(rows, lengths) == "f8"
    assert lengths.tolist() == [2, 1]
    for changed in ([[1.0, 2.0], [3.0, 4.0]], [[1.0], [3.0]], [[1.0, 2.0], [True]], [[1.0, 2.0], {3.0: 4.0}]):
        assert not module.fill_lists("f8", changed, lengths, out)
    assert not module.fill_lists("f8", rows, lengths, out[:2])
    assert not module.fill_lists("f8", rows, lengths, np.zeros(4))
    assert not module.fill_lists("f8", rows, np.array([-1, 1]), out)
    assert not module.fill_lists("f8", [[1.0, 2.0], [2**63]], lengths, out)
    assert not module.fill_lists("i8", [[2.0]], np.array([1]), np.zeros(1, np.int64))
    assert not module.fill_lists("i8", [[2**63]], np.array([1]), np.zeros(1, np.int64))
    assert module.fill_lists("f8", rows, lengths, out)
    assert out.tolist() == [1.0, 2.0, 3.0]
    assert module.fill_lists("f8", [(1, 2**60 + 1), (0.5,)], lengths, out)
    assert out.tolist() == [1.0, 2.0**60, 0.5]
    for odd in (np.zeros(3, np.int64), at_odd([2, 1])):
        with pytest.raises(ValueError, match="as many lengths as rows"):
            module.measure_lists(rows, odd)
        with pytest.raises(ValueError, match="as many lengths as rows"):
            module.fill_lists("f8", rows, odd, out)
    with pytest.raises(ValueError, match="as many lengths as rows"):
        module.fill_lists("f8", rows, lengths, at_odd([0, 0, 0]))


@needs_loops
def test_what_cancels_out_before_the_memory_is_allowed():
    out, far = np.zeros(3), 2**61
    arguments = [np.array([place], np.int64) for place in (0, far + 1, far + 3)]
    _compiled._module().copy_runs(8, np.array([1.0, 2.0]), *arguments, -far, out)
    assert out.tolist() == [0.0, 1.0, 2.0]


@needs_loops
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@given(st.lists(st.lists(st.integers(0, 255), max_size=16), max_size=20))
def test_any_byte_but_zero_is_true(call, lists):
    raw = np.array([byte for row in lists for byte in row], np.uint8)
    shape = tw.Shape.from_offsets(splits_of(np.array([len(row) for row in lists], np.int64)))
    odd, plain = (tw.from_buffer(own, shape) for own in (raw.view(bool), raw != 0))
    own, wanted = (call(t.rows()).elements() for t in (odd, plain))
    assert own.astype(wanted.dtype).tobytes() == wanted.tobytes()


@pytest.mark.parametrize("size", [5, 200])
def test_a_mask_may_have_any_byte_for_true(size):
    t = tw.from_buffer(np.arange(size), tw.Shape.from_offsets([0, 3, size]))
    mask = tw.from_buffer((np.arange(size, dtype=np.uint8) % 3).view(bool), t.shape)
    assert t[mask].tolist() == [[1, 2], [k for k in range(3, size) if k % 3]]


@needs_loops
@given(st.data(), st.integers(0, 4), st.sampled_from(["i1", "i2", "f4", "f8", "c16", "S3", "M8[s]"]))
def test_boxes_go_where_numpy_puts_them(data, rank, kind):
    """Each box is a part of one array, with its modes permuted and turned, and goes to a line of its own."""
    made = np.arange(1, 401).astype("i8")
    source = (made.view("M8[s]") if kind[0] == "M" else made).astype(kind)
    boxes, first = [], 0
    for _ in range(data.draw(st.integers(0, 5))):
        extents = data.draw(st.lists(st.integers(0, 3), min_size=rank, max_size=rank))
        sides = []
        for place, step in ((data.draw(st.integers(0, 9)), data.draw(st.integers(1, 3))), (first, 1)):
            start, strides, reach = place, [0] * rank, step
            for mode in data.draw(st.permutations(range(rank))):
                strides[mode], reach = reach, reach * max(extents[mode], 1)
                if data.draw(st.booleans()) and extents[mode]:
                    start += (extents[mode] - 1) * strides[mode]
                    strides[mode] = -strides[mode]
            sides.append((start, strides))
        first += int(np.prod(extents, dtype=int))
        boxes.append((extents, sides))
    target, wanted = np.zeros(first, kind), np.zeros(first, kind)
    for extents, ((start, steps), (goal, goal_steps)) in boxes:
        for index in np.ndindex(*extents):
            wanted[goal + int(np.dot(index, goal_steps))] = source[start + int(np.dot(index, steps))]
    rows, ones = (len(boxes), rank), (len(boxes),)
    extents = np.array([own for own, _ in boxes], np.int64).reshape(rows)
    sides = [
        np.array([both[side][k] for _, both in boxes], np.int64).reshape(rows if k else ones)
        for side in (0, 1)
        for k in (0, 1)
    ]
    assert _compiled.copy_boxes(source, target, extents, tuple(sides))
    assert target.tobytes() == wanted.tobytes()


@needs_loops
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.booleans()), max_size=6),
    st.data(),
    st.sampled_from(["i1", "f8", "c16", "S3", "M8[s]"]),
)
def test_a_window_of_runs_is_that_of_their_concatenation(runs, data, kind):
    """Runs that begin at -1 are left as they are."""
    source = np.arange(1, 41).astype("i8").view("M8[s]" if kind[0] == "M" else "i8").astype(kind)
    ends = splits_of(np.array([count for _, count, _ in runs], np.int64))
    starts = np.array([begin if is_there else -1 for begin, _, is_there in runs], np.int64)
    parts = [
        source[begin : begin + count] if is_there else np.zeros(count, kind)
        for begin, count, is_there in runs
    ]
    first = data.draw(st.integers(0, int(ends[-1])))
    stop = data.draw(st.integers(first, int(ends[-1])))
    target = np.zeros(stop - first, kind)
    assert _compiled.copy_window(source, starts, ends, first, target)
    wanted = np.concatenate([np.zeros(0, kind), *parts])[first:stop]
    assert target.tolist() == wanted.tolist()


@needs_loops
@pytest.mark.parametrize("kind", ["S2", "S4", "S8", "S3"])
def test_text_is_copied_from_any_address(kind):
    texts = np.array(["a", "bc", "", "d"], kind)
    source = np.frombuffer(b"x" + texts.tobytes(), kind, offset=1)
    target = np.zeros(4, kind)
    assert _compiled.copy_runs(source, target, np.array([2, 0]), np.array([0, 2]), np.array([2, 4]))
    assert target.tolist() == [b"", b"d", b"a", b"bc"]


def test_references_are_left_to_numpy():
    source, target = np.array(["a", "bc"], object), np.array(["", ""], object)
    one = np.array([1])
    assert not _compiled.copy_runs(source, target, one, one, one)
    assert not _compiled.copy_window(source, np.zeros(1, int), np.array([0, 2]), 0, target)
    padded = tw.strings([["a"], ["bc", "d"]]).to_padded(fill_value="-")
    assert padded.tolist() == [["a", "-"], ["bc", "d"]]


@needs_loops
def test_splits_may_be_at_any_address():
    splits = np.frombuffer(at_odd([0, 2, 2, 3]), np.int64)
    own = _compiled.reduced(np.add, np.array([1, 2, 4]), splits, np.dtype(np.int64))
    assert own.tolist() == [3, 0, 4]


def build_hook():
    """Return the module that builds the loops."""
    spec = importlib.util.spec_from_file_location("hatch_build", SOURCE.parents[1] / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


needs_compiler = pytest.mark.skipif(
    COMPILER is None or sys.platform == "win32" or sys.implementation.name != "cpython",
    reason="nothing is compiled here",
)


@needs_compiler
@pytest.mark.parametrize(
    ("variables", "made"),
    [
        ({"CC": "env cc"}, True),
        ({"CC": "cc -pthread"}, True),
        ({"CFLAGS": "-DNAMES='a b'"}, True),
        ({"CC": "false"}, False),
        ({"CC": "/nonexistent"}, False),
    ],
    ids=str,
)
def test_compilers_have_launchers_and_options(tmp_path, monkeypatch, variables, made):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (build_hook().compiled(SOURCE, tmp_path) is not None) == made


@needs_compiler
def test_a_blank_name_is_no_compiler(tmp_path, monkeypatch):
    hook = build_hook()
    monkeypatch.setenv("CC", "  ")
    blank = hook.compiled(SOURCE, tmp_path)
    monkeypatch.delenv("CC")
    assert blank == hook.compiled(SOURCE, tmp_path)


FAST = """
import importlib.util, sys
import numpy as np
spec = importlib.util.spec_from_file_location("_kernels", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
out = np.zeros(1, np.int64)
module.argmax("f8", np.array([3.0, np.nan, 4.0]), np.array([0, 3]), out)
print(out.item(), np.array([5e-324]).sum() > 0)
"""


@needs_compiler
def test_fast_mathematics_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("CFLAGS", "-ffast-math")
    made = build_hook().compiled(SOURCE, tmp_path)
    command = [sys.executable, "-c", FAST, str(made)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "True"]


@pytest.mark.parametrize("variables", [{"CC": "/nonexistent"}, {"TENSORWRAPPER_COMPILED": "0"}], ids=str)
def test_in_place_nothing_old_is_left(tmp_path, monkeypatch, variables):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    old = tmp_path / "tensorwrapper" / "_kernels.abi3.so"
    old.parent.mkdir()
    old.write_bytes(b"of an older source")
    hook = build_hook().CustomBuildHook(str(tmp_path), {}, None, None, "", "wheel")
    data = {"force_include": {}}
    hook.initialize("standard", data)
    assert old.exists()
    hook.initialize("editable", data)
    hook.finalize("editable", data, "")
    assert not old.exists()


def test_what_a_mask_marks_has_no_room_beyond():
    out = np.full(2, 9)
    if _compiled.is_compiled():
        assert _compiled._module().nonzero(np.ones(5, bool), out) == 2
        assert out.tolist() == [0, 1]
    assert _compiled.nonzero(np.array([True, False, True])).tolist() == [0, 2]


def test_the_environment_leaves_them_out():
    program = "from tensorwrapper import _compiled; print(_compiled.is_compiled())"
    off = os.environ | {"TENSORWRAPPER_COMPILED": "0"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=off, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def checked(path, environment):
    """Run the tests of a file in another process."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", str(path)]
    done = subprocess.run(
        command,
        env={key: value for key, value in os.environ.items() if key != "SANITIZED"} | environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=SOURCE.parents[1],
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]


@pytest.mark.slow
@needs_loops
def test_the_table_of_rows_holds_by_numpy_alone():
    checked(Path(__file__).parents[1] / "tensor/within/test_table.py", {"TENSORWRAPPER_COMPILED": "0"})


@pytest.mark.slow
@pytest.mark.skipif("SANITIZED" not in os.environ or COMPILER is None, reason="`.ci/long` runs this one")
def test_sanitizers_find_nothing(tmp_path):
    """Build the loops with the sanitizers, and run the laws of this file on them in another process."""
    flags = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fPIC", "-shared"]
    target = tmp_path / "_kernels.abi3.so"
    include = f"-I{sysconfig.get_path('include')}"
    subprocess.run([COMPILER, *flags, include, str(SOURCE), "-o", str(target)], check=True)
    where = [COMPILER, "-print-file-name=libasan.so"]
    library = subprocess.run(where, capture_output=True, text=True, check=True).stdout.strip()
    options = {"LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=0", "KERNELS": str(target)}
    checked(__file__, options)


@pytest.fixture(autouse=True, scope="module")
def sanitized():
    """Use the loops that `KERNELS` names, for the process of the sanitizers."""
    if "KERNELS" not in os.environ:
        yield
        return
    spec = importlib.util.spec_from_file_location("_kernels", os.environ["KERNELS"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_compiled, "_module", lambda: module)
        yield
