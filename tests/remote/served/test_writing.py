"""What is written from outside is written as a whole, once, by who may, and only where it fits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import RequestRefusedError
from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.served._writing import Repeats, check_distinct
from tensorwrapper.remote.server._catalogue import Catalogue
from tensorwrapper.selection import Outer, Runs

CLIENT = "0" * 32


def served(x, *, writable=True):
    found = Catalogue(None, ServeLimits(), writable)
    found.put("x", x)
    return found


def write(selections, values, dtype="<f8", version="", client=CLIENT):
    data = memoryview(np.asarray(values, dtype=dtype).tobytes())
    return ev.AskWrite("x", version, client, dtype, tuple(selections), data)


@pytest.mark.parametrize(
    "selections",
    [
        (Outer([range(1, 3), range(0, 4, 3)]),),
        (Outer([[0, 2], [1, 2]]),),
        (Runs([0, 5], [2, 3]),),
        (Outer([range(1), range(4)]), Runs([4, 9])),
        (Outer([range(0), range(4)]),),
        (),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_values_are_stored_where_the_selections_are(selections, turned):
    memory = np.zeros((4, 3)).T if turned else np.zeros((3, 4))
    expected = np.zeros(12)
    count = sum(own.size for own in selections)
    grid = np.arange(12).reshape(3, 4)
    numbers = [
        own.numbers() if isinstance(own, Runs) else grid[np.ix_(*own.modes)].reshape(-1) for own in selections
    ]
    if numbers:
        expected[np.concatenate(numbers)] = np.arange(count) + 1.0
    answer = served(memory).answer(write(selections, np.arange(count) + 1.0), "", 5)

    assert isinstance(answer, ev.Written)
    assert np.array_equal(memory.reshape(-1), expected)


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (write([Outer([range(3), range(5)])], np.zeros(15)), "bounds"),
        (write([Outer([range(1), range(2)]), Runs([1])], np.zeros(3)), "schema"),
        (write([Runs(0, 3)], np.zeros(2)), "schema"),
        (write([Runs(0, 3)], np.zeros(3), "<f4"), "unsupported"),
        (write([Runs(0, 3)], np.zeros(3), version="other"), "changed"),
    ],
)
def test_what_does_not_fit_changes_nothing(request_, reason):
    memory = np.ones((3, 4))
    found = served(memory)
    version = found.answer(ev.AskFacts(("x",)), "").facts[0].version
    answer = found.answer(request_, "", 5)

    assert answer.reason == reason
    assert (memory == 1).all()
    assert found.answer(ev.AskFacts(("x",)), "").facts[0].version == version


def test_a_bool_is_0_or_1():
    memory = np.zeros(3, bool)
    answer = served(memory).answer(write([Runs(0, 3)], [0, 1, 2], "u1"), "", 5)
    assert answer.reason == "unsupported"
    bad = ev.AskWrite("x", "", CLIENT, "|b1", (Runs(0, 3),), memoryview(b"\0\1\2"))
    assert served(memory).answer(bad, "", 5).reason == "schema"
    assert not memory.any()


@pytest.mark.parametrize(
    "given_",
    [
        np.broadcast_to(np.zeros(1), (3,)),
        tw.as_tensor(np.frombuffer(b"1" * 24)),
        tw.selection.pad(tw.as_tensor(np.zeros(2)), [(0, 1)]),
    ],
)
def test_what_cannot_change_is_readonly(given_):
    found = served(given_)
    assert not found.answer(ev.AskFacts(("x",)), "").facts[0].writable
    assert found.answer(write([Runs(0, 1)], [1.0]), "", 5).reason == "readonly"


def test_who_may_write_is_said_by_patterns_and_nobody_may_by_default():
    memory = np.zeros(3)
    assert served(memory, writable=False).answer(write([Runs(0, 1)], [1.0]), "", 5).reason == "readonly"
    found = served(memory, writable={"x*": ["alice"]})
    assert found.answer(write([Runs(0, 1)], [1.0]), "bob", 5).reason == "readonly"
    assert not memory.any()
    assert isinstance(found.answer(write([Runs(0, 1)], [1.0]), "alice", 5), ev.Written)
    assert memory.tolist() == [1.0, 0.0, 0.0]


def test_a_write_that_is_sent_again_is_done_once():
    memory = np.zeros(3)
    found = served(memory)
    first = found.answer(write([Runs(0, 1)], [1.0]), "", 5)
    second = found.answer(write([Runs(0, 1)], [2.0]), "", 6)
    again = found.answer(write([Runs(0, 1)], [1.0]), "", 5)
    other = found.answer(write([Runs(1, 1)], [9.0], client="1" * 32), "", 5)

    assert again == first != second
    assert isinstance(other, ev.Written)
    assert memory.tolist() == [2.0, 9.0, 0.0]


def test_answers_are_kept_for_so_many_writes_and_then_it_is_said_that_nobody_knows():
    kept = Repeats()
    for number in range(2000):
        kept.keep("", CLIENT, number, ev.Written(str(number)))

    assert kept.find("", CLIENT, 1999) == ev.Written("1999")
    assert kept.find("", CLIENT, 3).reason == "replayed"
    assert kept.find("", CLIENT, 2000) is None
    assert kept.find("", "1" * 32, 3) is None


def test_answers_to_many_clients_are_bounded_in_all():
    kept = Repeats()
    clients = [f"{k:032x}" for k in range(20)]
    for client in clients:
        for number in range(1024):
            kept.keep("", client, number, ev.Written(str(number)))

    known = [client for client in clients if kept.find("", client, 1023) is not None]
    assert known == clients[-8:]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 3), st.booleans()), max_size=4))
def test_elements_that_are_twice_are_found(runs):
    shape = tw.Shape(3, 3)
    selections = [Runs(a, n) if flat else Outer([[a // 3], [a % 3]]) for a, n, flat in runs]
    numbers = [k for a, n, flat in runs for k in range(a, a + (n if flat else 1))]
    if len(set(numbers)) == len(numbers):
        check_distinct(selections, shape)
    else:
        with pytest.raises(RequestRefusedError):
            check_distinct(selections, shape)
