"""Messages of ndsel become canonical transforms: its conformance corpus, and what else the text says.

The corpus (`tests/golden/ndsel.jsonl`, one case a line) is that of d-v-b/ndsel, MIT licence.
"""

import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import selection as sel
from tensorwrapper.errors import NdselError, ParseError

LINES = Path(__file__).parents[2].joinpath("golden/ndsel.jsonl").read_text(encoding="utf-8").splitlines()
CASES = [json.loads(line) for line in LINES]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
@pytest.mark.parametrize("as_text", [False, True])
def test_the_corpus_passes(case, as_text):
    message = json.dumps(case["input"]) if as_text else case["input"]
    if "error" in case:
        with pytest.raises(NdselError) as caught:
            sel.normalize_ndsel(message)
        assert caught.value.reason == case["error"]
        return
    found = sel.normalize_ndsel(message)
    assert json.loads(json.dumps(found)) == case["normalized"]
    assert sel.normalize_ndsel({**found, "kind": "transform"}) == found


def test_the_corpus_has_all_five_kinds_and_all_codes():
    assert {case["input"].get("kind") for case in CASES} >= {"point", "box", "slice", "points", "transform"}
    assert len({case["error"] for case in CASES if "error" in case}) == 6


@pytest.mark.parametrize(
    "message",
    [
        "",
        "{",
        "[]",
        "null",
        b"\xff",
        {"kind": 3},
        {"kind": "point"},
        {"kind": "point", "coords": [True]},
        {"kind": "point", "coords": [1.0]},
        {"kind": "point", "coords": [2**63]},
        {"kind": "point", "coords": ["+inf"]},
        {"kind": "point", "coords": 3},
        {"kind": "point", "coords": [1], "more": 1},
        {"kind": "box", "shape": [[1, 2]]},
        {"kind": "box", "shape": ["inf"]},
        {"kind": "box", "inclusive_min": [2**63 - 1], "shape": [5]},
        {"kind": "box", "shape": [1], "labels": [1]},
        {"kind": "slice", "start": [0]},
        {"kind": "slice", "start": [[0]], "stop": [1]},
        {"kind": "points", "coords": [1]},
        {"kind": "transform", "input_rank": -1},
        {"kind": "transform", "output": [3]},
        {"kind": "transform", "output": [{"stride": 2}]},
        {"kind": "transform", "output": [{"input_dimension": -1}]},
        {"kind": "transform", "output": [{"input_dimension": 0, "index_array": [1]}]},
        {"kind": "transform", "output": [{"index_array": [1, [2]]}]},
        {"kind": "transform", "output": [{"index_array": [1.5]}]},
        {"kind": "transform", "output": [{"index_array": 7}]},
        {"kind": "transform", "output": [{"index_array": [1], "index_array_bounds": [1]}]},
        {"kind": "transform", "output": [{"index_array_bounds": [0, 1]}]},
    ],
)
def test_what_is_no_message_is_invalid(message):
    with pytest.raises(NdselError) as caught:
        sel.normalize_ndsel(message)
    assert caught.value.reason == "invalid_json"
    assert isinstance(caught.value, ParseError)
    assert pickle.loads(pickle.dumps(caught.value)).reason == "invalid_json"


def test_other_codes():
    for message, reason in [
        ({"kind": ""}, "unknown_kind"),
        ({"kind": "points", "coords": [[1], [1, 2]]}, "rank_mismatch"),
        ({"kind": "slice", "start": [0], "stop": [1], "labels": []}, "rank_mismatch"),
        ({"kind": "box", "shape": [1], "inclusive_min": [0, 0]}, "rank_mismatch"),
    ]:
        with pytest.raises(NdselError) as caught:
            sel.normalize_ndsel(message)
        assert caught.value.reason == reason


def test_bounds_keep_whether_they_are_implicit():
    found = sel.normalize_ndsel(
        {"kind": "box", "inclusive_min": [[2], "-inf", 0], "inclusive_max": [9, ["+inf"], [4]]}
    )
    assert found["input_inclusive_min"] == [[2], "-inf", 0]
    assert found["input_exclusive_max"] == [10, ["+inf"], [5]]
    assert sel.normalize_ndsel({"kind": "box", "inclusive_min": [3]})["input_exclusive_max"] == [["+inf"]]
    assert sel.normalize_ndsel({"kind": "box", "inclusive_min": [3], "shape": [[4]]})[
        "input_exclusive_max"
    ] == [[7]]


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(1, 9))
def test_slices_mean_what_python_means(start, stop, step):
    found = sel.normalize_ndsel({"kind": "slice", "start": [start], "stop": [stop], "step": [step]})
    (low,), (high,), (output,) = found["input_inclusive_min"], found["input_exclusive_max"], found["output"]
    chosen = [output["offset"] + output["stride"] * i for i in range(low, high)]
    assert chosen == list(range(start, stop, step))
    assert 0 <= output["offset"] < step
