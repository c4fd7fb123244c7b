"""Views and reductions for clients: at the versions that were asked for, and within limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.server import _evaluate
from tensorwrapper.remote.server._catalogue import Catalogue
from tensorwrapper.selection import Outer

X, Y = np.arange(12.0).reshape(3, 4), np.arange(12.0)[::-1].reshape(3, 4)


def served(allow=None, **limits):
    found = Catalogue(allow, ServeLimits(**limits))
    found.put("x", X)
    found.put("y", Y)
    return found


def told(found, view, *names):
    at = {own.name: own.version for own in found.answer(ev.AskFacts(("x", "y")), "").facts}
    of = tuple((alias, name, at[name]) for alias, name in zip(sel.sources(view), names, strict=True))
    return ev.Described(sel.to_json(view), (), of)


def least(found):
    return told(found, sel.minimum(sel.as_view(X), sel.as_view(Y)), "x", "y")


def test_selections_of_a_view_are_of_one_version_of_each_tensor():
    found = served()
    view = least(found)
    answer = found.answer(ev.AskView(view, (Outer([[0, 2], range(4)]),)), "")
    assert np.array_equal(np.frombuffer(answer.frames[0]).reshape(2, 4), np.minimum(X, Y)[[0, 2]])
    assert answer.version == view.version
    found.put("y", Y + 1)
    assert found.answer(ev.AskView(view, (Outer([[0], [1]]),)), "").reason == "changed"


def test_a_tensor_that_is_edited_while_a_view_waits_is_changed():
    found = served()
    view = least(found)
    holdings = [found._holdings[name] for _, name, _ in view.of]
    with found.editing("x"):
        pass
    with pytest.raises(Exception, match="version"):
        _evaluate.compute_view(ev.AskView(view, ()), holdings, found.limits)


def test_what_is_not_for_a_client_is_missing_in_views_too():
    found = served({"*": ["root"], "x": ["alice"]})
    found._allow, allow = None, found._allow
    view = least(found)
    found._allow = allow
    request = ev.AskView(view, (Outer([[0], [1]]),))
    assert isinstance(found.answer(request, "root"), ev.Elements)
    assert found.answer(request, "alice").reason == "missing"
    assert found.answer(ev.AskReduce(view, "add", 0), "alice").reason == "missing"


@settings(max_examples=20)
@given(st.integers(0, 1), st.sampled_from(["add", "minimum", "maximum"]), st.sampled_from([32, 64, 1000]))
def test_reductions_are_those_of_numpy_in_regions_of_any_size(mode, name, block):
    found = served()
    before, _evaluate._BLOCK = _evaluate._BLOCK, block
    try:
        answer = found.answer(ev.AskReduce(least(found), name, mode), "")
    finally:
        _evaluate._BLOCK = before
    expected = getattr(np, name).reduce(np.minimum(X, Y), axis=mode)
    assert answer.extents == expected.shape
    assert np.array_equal(np.frombuffer(answer.values), expected)


@pytest.mark.parametrize("over", ["rows", "tiles", 0])
@pytest.mark.parametrize("initial", [2**63, -(2**63), 0.5, float("nan")])
def test_an_initial_number_of_a_stranger_that_does_not_fit_is_refused(over, initial):
    small = tw.as_tensor(np.ones((2, 3), np.int8))
    given = small.tiled(tw.Tiling([1, 1], [3])) if over == "tiles" else small
    found = served()
    found.put("x", given)
    view = told(found, sel.as_view(given), "x")
    assert found.answer(ev.AskReduce(view, "maximum", over, initial), "").reason in ("bounds", "unsupported")


def test_limits_come_before_work():
    for found in (served(work_bytes=64), served(answer_bytes=16)):
        assert found.answer(ev.AskReduce(least(found), "add", 0), "").reason == "limit"
        request = ev.AskView(least(found), (Outer([range(3), range(4)]),))
        assert found.answer(request, "").reason == "limit"
    found = served()
    assert found.answer(ev.AskReduce(least(found), "add", 5), "").reason == "bounds"


def test_an_empty_mode_has_the_identity():
    found = served()
    view = told(found, sel.as_view(X)[:0], "x")
    assert np.frombuffer(found.answer(ev.AskReduce(view, "add", 0), "").values).tolist() == [0.0] * 4
