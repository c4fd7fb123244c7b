"""Texts of views of rows: as they were when version 2 was made, and what strangers may not write."""

import json
from pathlib import Path
from typing import Any

import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import SelectionError

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "selections.json").read_text("utf-8"))["rows"]
A = tw.jagged([[1, 2], [3], [], [4, 5, 6]])
B = tw.jagged([[7], [], [8, 9, 10]])
NAMES: dict[str, Any] = {"a": sel.as_view(A), "b": sel.as_view(B), "sel": sel, "mask": A > 2}


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["view"])
def test_views_are_written_and_read_as_when_version_2_was_made(case):
    view = eval(case["view"], dict(NAMES))
    assert sel.to_json(view) == case["json"]
    read = sel.from_json(case["json"], sources=sel.sources(view))
    assert read.shape == view.shape
    assert read.compute().tolist() == case["elements"]


TEXT = sel.to_json(sel.concat([A, B])[1:, ::-1])
HOSTILE = {
    "an index outside": ('["index",[1,null,null],', '["index",9,'),
    "half a slice": ("[1,null,null]", "[1,null]"),
    "a step of 0": ("[null,null,-1]", "[null,null,0]"),
    "an end of 10^40": ("[1,null,null]", f"[1,null,{10**40}]"),
    "another step": ('"index"', '"rotate"'),
    "more elements": ('"size":8', '"size":9'),
    "another kind": ('"kind":"jagged"', '"kind":"smooth"'),
    "a fact more": ('"size":8', '"more":1,"size":8'),
    "another type": ('"<i8"', '"<f8"'),
    "version 1": ('"view":2', '"view":1'),
    "a mode that is none": ('"concat":0', '"concat":2'),
    "a range": ('"shape":{', '"range":{'),
}


@pytest.mark.parametrize(("old", "new"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_refused(old, new):
    assert old in TEXT
    with pytest.raises(SelectionError):
        sel.from_json(TEXT.replace(old, new), sources={"0": A, "1": B})


def test_rows_that_are_padded_beyond_the_limit_are_refused_before_they_are_made():
    text = sel.to_json(sel.as_view(A).pad_rows(3)).replace('"pad_rows":3', f'"pad_rows":{2**44}')
    with pytest.raises(SelectionError, match="bytes"):
        sel.from_json(text, sources={"0": A})
