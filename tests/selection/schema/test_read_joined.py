"""Whole tensors that a description joins: what the short way reads is what the general way reads."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import SelectionError
from tensorwrapper.selection.schema import _read

LINES = {
    "a": tw.as_tensor(np.arange(3.0)),
    "b": tw.as_tensor(np.arange(6.0))[::-2],
    "c": tw.as_tensor(np.arange(0.0)),
    "i": tw.as_tensor(np.arange(2)),
    "box": tw.as_tensor(np.ones((2, 2))),
    "far": tw.as_tensor(np.ones(2)).translate_to((5,)),
    "named": tw.as_tensor(np.ones(2)).named("x"),
    "rows": tw.jagged([[1.0], [2.0, 3.0]]),
    "vast": tw.as_tensor(np.ones(1)).broadcast((2**62,)),
}


@given(
    st.lists(
        st.one_of(
            st.sampled_from(["a", "b", "c"]).map(lambda name: {"of": {"source": name}}),
            st.sampled_from([*LINES, "missing", 1, None]).map(lambda name: {"of": {"source": name}}),
            st.sampled_from([{"of": {"source": "a"}, "ops": []}, {"of": {"source": "a", "x": 1}}, {}, 3]),
        ),
        max_size=4,
    ),
    st.sampled_from([0, 0, 0, 1, True, "0"]),
    st.sampled_from([1 << 16, 4, 2]),
    st.booleans(),
)
def test_whole_tensors_are_joined_at_once_as_they_are_one_by_one(parts, mode, nodes, as_sources):
    given_sources = {name: sel.TensorSource(t) if as_sources else t for name, t in LINES.items()}
    body = {"concat": mode, "parts": parts}
    # What a reader declares: the extent of what is joined, as far as it can be known.
    total = sum(LINES[p["of"]["source"]].size for p in parts if p in [{"of": {"source": n}} for n in LINES])
    whole = {"view": 1, "dtype": "<f8", "range": {"start": [0], "end": [min(total, 2**62)]}, "of": body}
    limits = sel.SchemaLimits(nodes=nodes)

    def outcome():
        try:
            return sel.from_json(json.dumps(whole), sources=given_sources, limits=limits)
        except SelectionError as error:
            return error.reason, str(error)

    at_once = outcome()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_read._Reader, "_joined", lambda *_: None)
        one_by_one = outcome()
    if isinstance(at_once, tuple):
        assert at_once == one_by_one
    else:
        assert at_once._expression == one_by_one._expression
        assert at_once.compute().tolist() == one_by_one.compute().tolist()
