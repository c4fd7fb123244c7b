"""Lists extend a tensor by what they say, whatever the record before them was."""

import awkward as ak
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError, RankError

NAT, DAY, SPAN = np.datetime64("NaT"), np.datetime64(5, "s"), np.timedelta64("NaT")
CASES = {
    "nulls after none": [tw.as_tensor([1, None]), [1], [None, 0], [None]],
    "nulls of rows after none": [tw.jagged([[1, None], []]), [[1], []], [[None, 0]], [[None], [2, 3]]],
    "nulls after a tensor": [tw.nullable([True], [True]), tw.nullable([False], [True]), [None]],
    "empty rows of rows": [tw.jagged([[[1], [2, 3]]]), [[], [[4]]], [[]], [[[]]], [[], []]],
    "empty rows after a box": [tw.jagged([[[1, 2]], []]), [[[1, 2]]], [[]], [[], []]],
    "empty rows after a box of text": [tw.strings([[["a", "b"]], []]), [[["c", "d"]]], [[]]],
    "empty rows of rows of rows": [tw.jagged([[[[1]], [[2], [3, 4]]]]), [[], [[]]], [[]]],
    "empty rows of text": [tw.strings([[["a"], ["b", "c"]]]), [[]], [[], [[]]]],
    "empty rows of bytes": [tw.strings([[[b"a"], [b"b", b"c"]]]), [[]]],
    "empty rows of cells": [tw.jagged([np.ones((2, 2)), np.ones((1, 3))]), [[]]],
    "times without a unit": [np.array([1], "M8[s]"), [NAT], np.array([NAT]), [NAT, DAY]],
    "a box of times without a unit": [np.array([[1]], "M8[s]"), [[NAT]], np.array([[NAT]])],
    "rows of times without a unit": [tw.jagged([[DAY], []]), [[NAT], []], [[NAT]]],
    "rows of dates with nulls": [
        tw.nullable(np.array([1, 2, 3], "M8[s]"), [True, False, True]).unflatten([1, 2]),
        [[DAY], [DAY, None]],
        [[], [DAY, None]],
        [[DAY, None], [DAY, None]],
    ],
    "text of Awkward": [tw.strings(["a", None]), ak.Array(["b\0"]), ak.Array(["c", None])],
    "rows of text of Awkward": [tw.strings([["a"], []]), ak.Array([["b\0", "c"], []])],
    "bytes of Awkward": [tw.strings([b"a"]), ak.Array([b"b\0"])],
    "durations without a unit": [np.array([1], "m8[s]"), [SPAN], np.array([SPAN])],
}


def listed(given):
    found = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(found, list):
        return [listed(own) for own in found]
    return None if isinstance(found, np.datetime64 | np.timedelta64) and np.isnat(found) else found


def plain(given):
    """Return lists in which times are those of Python."""
    if isinstance(given, list):
        return [plain(own) for own in given]
    return given.item() if isinstance(given, np.generic) else given


@pytest.mark.parametrize("reopens", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_lists_extend_after_any_record(tmp_path, name, reopens):
    steps, path = CASES[name], tmp_path / "a.tens"
    wanted = [row for step in steps for row in plain(listed(step))]
    if reopens:
        for step in steps:
            with tw.open(path, "a") as file:
                file.extend("x", step)
                file.extend("ev", {"x": step})
    else:
        with tw.open(path, "a") as file:
            for step in steps:
                file.extend("x", step)
                file.extend("ev", {"x": step})
    with tw.open(path) as file:
        assert file["x"].tolist() == file.records("ev")["x"].tolist() == wanted


def test_what_began_without_nulls_refuses_them_after_every_reopening(tmp_path):
    for given, error in (([None], DTypeError), ([1, None], ConversionError)):
        for _ in range(2):
            with tw.open(tmp_path / "a.tens", "a") as file:
                file.extend("x", [1, 2])
                with pytest.raises(error):
                    file.extend("x", given)


@pytest.mark.parametrize(
    ("inner", "row"), [((0,), []), ((0, 3), []), ((2, 0), [[], []]), ((2, 0, 5), [[], []])]
)
@pytest.mark.parametrize("dtype", ["f8", "M8[s]", "U1"])
def test_lists_without_elements_extend_boxes_of_every_rank(tmp_path, inner, row, dtype):
    first = np.zeros((2, *inner), dtype)
    with tw.open(tmp_path / "a.tens", "w") as file:
        file.extend("x", tw.strings(first) if dtype == "U1" else first)
        file.extend("x", [row, row])
        assert file["x"].shape == tw.Shape(4, *inner)
        with pytest.raises((RankError, ExtentMismatchError, ConversionError, DTypeError)):
            file.extend("x", [[[[[1]]]]])
    with tw.open(tmp_path / "a.tens") as file:
        assert file["x"].shape == tw.Shape(4, *inner)
