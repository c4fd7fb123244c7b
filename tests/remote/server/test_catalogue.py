"""What is served under which name, at which version, and to whom."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import TensorNameError
from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.server._catalogue import Catalogue
from tensorwrapper.selection import Outer, Runs


def catalogue(allow=None, **tensors):
    found = Catalogue(allow, ServeLimits())
    for name, tensor in tensors.items():
        found.put(name, tensor)
    return found


def version_of(found, name="x"):
    return found.answer(ev.AskFacts((name,)), "").facts[0].version


def test_a_tensor_that_is_replaced_has_another_version_and_the_old_one_is_changed():
    found = catalogue(x=np.arange(3))
    old = version_of(found)
    found.put("x", np.arange(4))

    assert version_of(found) != old
    answer = found.answer(ev.AskRead("x", old, None, (Runs(0, 1),)), "")
    assert isinstance(answer, ev.Refused)
    assert answer.reason == "changed"
    assert isinstance(found.answer(ev.AskRead("x", "", None, (Runs(0, 1),)), ""), ev.Elements)


def test_editing_holds_back_and_changes_the_version_also_after_an_error():
    found = catalogue(x=np.arange(3))
    old = version_of(found)

    def edit():
        with found.editing("x"):
            assert not found.is_quick(ev.AskRead("x", old, None, ()), "")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        edit()
    assert version_of(found) != old


def test_what_a_key_may_not_see_is_as_if_it_were_not_there():
    found = catalogue({"run*": ["alice"], "*": ["root"]}, run1=[1], secret=[2])

    assert found.answer(ev.AskNames("", 9), "alice").names == ("run1",)
    assert found.answer(ev.AskNames("", 9), "root").names == ("run1", "secret")
    assert found.answer(ev.AskNames("", 9), "").names == ()
    hidden = found.answer(ev.AskFacts(("secret",)), "alice")
    missing = found.answer(ev.AskFacts(("nobody",)), "alice")
    assert hidden.reason == missing.reason == "missing"
    assert hidden.text.replace("secret", "nobody") == missing.text


def test_what_a_key_may_not_see_goes_the_way_of_what_is_not_there():
    """A thread of its own, or memory that is waited for, takes time that tells."""
    found = catalogue({"run*": ["alice"], "*": ["root"]}, secret=np.zeros(10**6))
    ways = [
        (found.is_quick(own, key), found.bytes_of(own, key))
        for name, key in [("secret", "alice"), ("nobody", "alice"), ("secret", "root")]
        for own in [ev.AskRead(name, "", None, (Runs(0, 10**6),))]
    ]
    assert ways == [(True, 0), (True, 0), (False, 4 * 2**20)]


def test_names_come_in_pages():
    found = catalogue(a=[1], b=[1], c=[1])

    assert found.answer(ev.AskNames("", 2), "") == ev.Names(("a", "b"), more=True)
    assert found.answer(ev.AskNames("b", 2), "") == ev.Names(("c",), more=False)


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 1025, 7])
def test_not_everything_is_a_name(name):
    with pytest.raises(TensorNameError):
        catalogue().put(name, [1])
    with pytest.raises(TensorNameError):
        catalogue().drop(name)


def test_what_goes_wrong_inside_stays_inside(caplog):
    class Broken:
        shape, dtype, version = np.empty(3), np.dtype("f8"), ""

    found = catalogue(x=np.arange(3))
    found._holdings["x"]._whole.source = Broken()
    found._holdings["x"]._whole._memory = None
    answer = found.answer(ev.AskRead("x", "", None, (Runs(0, 1),)), "")

    assert answer.reason == "internal"
    assert "Broken" not in answer.text
    assert answer.text.split()[-1] in caplog.text


def test_a_client_of_another_protocol_is_told_which_is_spoken():
    assert catalogue().answer(ev.Hello("0" * 32, 2, 3), "").reason == "version"
    assert catalogue().answer(ev.Hello("0" * 32, 0, 1), "").version == 1


# The short way of small reads.

BOX = np.arange(2.0 * 3 * 4).reshape(2, 3, 4)


@st.composite
def modes(draw, extent):
    start, step = draw(st.integers(0, extent + 1)), draw(st.integers(1, 3))
    return range(start, start + step * draw(st.integers(0, 4)), step)


@given(st.lists(modes(4), min_size=2, max_size=4), st.sampled_from(["", "now", "old"]), st.booleans())
def test_a_small_read_is_answered_at_once_as_it_is_in_a_thread(wanted, version, again):
    found = catalogue(x=BOX)
    version = version_of(found) if version == "now" else version
    one = ev.AskRead("x", version, None, (Outer(wanted),))
    # Two selections, of which one is empty, have no short way.
    two = ev.AskRead("x", version, None, (Outer(wanted), Runs([], [])))

    if again:
        found.at_once(one, "")
    short, long = found.at_once(one, ""), found.answer(two, "")
    assert type(short) is type(long)
    if isinstance(short, ev.Elements):
        assert [bytes(own) for own in short.frames] == [bytes(own) for own in long.frames]
        assert short.version == long.version
    else:
        assert short == long


def test_what_was_read_before_is_read_as_it_is_now():
    array = BOX.copy()
    found = catalogue(x=array)
    request = ev.AskRead("x", "", None, (Outer([range(2), range(1), range(4)]),))
    before = found.at_once(request, "")
    with found.editing("x"):
        array += 1
    after = found.at_once(request, "")

    assert after.version != before.version
    assert bytes(after.frames[0]) == (BOX + 1)[:, :1].tobytes()
    found.put("x", BOX * 2)
    assert bytes(found.at_once(request, "").frames[0]) == (BOX * 2)[:, :1].tobytes()
    found.drop("x")
    assert found.at_once(request, "").reason == "missing"


def test_what_may_wait_or_is_large_is_not_answered_at_once():
    found = catalogue(x=BOX, large=np.zeros(10_000))
    request = ev.AskRead("x", "", None, (Outer([range(2), range(1), range(4)]),))
    with found.editing("x"):
        assert found.at_once(request, "") is None
    assert found.at_once(request, "") is not None
    assert found.at_once(ev.AskRead("large", "", None, (Outer([range(10_000)]),)), "") is None


def test_no_more_than_some_parts_are_kept():
    found = catalogue(x=np.arange(1000))
    for k in range(600):
        found.at_once(ev.AskRead("x", "", None, (Outer([range(k, k + 1)]),)), "")
    assert len(found._holdings["x"]._whole._parts) <= 256
