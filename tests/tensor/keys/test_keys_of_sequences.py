"""S1: every sequence is a list of positions, wherever brackets stand; what is no key is refused."""

import array
import collections

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import IndexTypeError, JaggedModeError, StepError

X = np.arange(24).reshape(4, 6)
SEQUENCES = {
    "list": [0, 1],
    "range": range(2),
    "stepped range": range(0, 2, 1),
    "array.array": array.array("q", [0, 1]),
    "deque": collections.deque([0, 1]),
    "UserList": collections.UserList([0, 1]),
    "memoryview": memoryview(np.array([0, 1])),
    "ndarray": np.array([0, 1]),
    "tensor": tw.as_tensor([0, 1]),
    "view": sel.as_view(tw.as_tensor([0, 1])),
    "bools": [True, True, False, False],
    "deque of bools": collections.deque([True, True, False, False]),
}
NOT_KEYS = {
    "bytes": b"\x00\x01",
    "bytearray": bytearray(b"\x00\x01"),
    "text": "ab",
    "float": 1.0,
    "floats": [0.0, 1.0],
    "dict": {0: 1},
    "set": {0, 1},
    "frozenset": frozenset({0, 1}),
    "generator": (k for k in (0, 1)),
    "True": True,
    "numpy bool": np.True_,
    "object": object(),
    "words": ["a"],
    "complex": 1j,
}
KINDS = {"tensor": tw.as_tensor, "view": lambda x: sel.as_view(tw.as_tensor(x))}
BRACKETS = {"brackets": lambda t: t, "oindex": lambda t: t.oindex, "vindex": lambda t: t.vindex}


@pytest.fixture(params=KINDS)
def make(request):
    return KINDS[request.param]


@pytest.mark.parametrize("at", BRACKETS.values(), ids=BRACKETS)
@pytest.mark.parametrize("key", SEQUENCES.values(), ids=SEQUENCES)
def test_s1_a_sequence_takes_the_rows_that_it_names(make, at, key):
    found = at(make(X))[key]

    assert found.shape.extents == (2, 6)
    assert np.array_equal(np.asarray(found), X[:2])


@pytest.mark.parametrize("at", BRACKETS)
@pytest.mark.parametrize("key", SEQUENCES.values(), ids=SEQUENCES)
def test_s1_a_sequence_beside_a_slice_takes_columns(make, at, key):
    if len(key) == 4:
        key = [*key, False, False]
    found = np.asarray(BRACKETS[at](make(X))[:, key])

    # The modes of points come first.
    assert np.array_equal(found.T if at == "vindex" else found, X[:, :2])


@pytest.mark.parametrize("at", ["brackets", "oindex", "vindex"])
@pytest.mark.parametrize("key", SEQUENCES.values(), ids=SEQUENCES)
def test_s1_a_sequence_writes_the_rows_that_it_names(make, at, key):
    x = X.copy()
    target = make(x)
    if at != "brackets" and not hasattr(type(BRACKETS[at](target)), "__setitem__"):
        BRACKETS[at](target)[key].assign(99)
    else:
        BRACKETS[at](target)[key] = 99

    assert (x[:2] == 99).all()
    assert np.array_equal(x[2:], X[2:])


@pytest.mark.parametrize("at", BRACKETS.values(), ids=BRACKETS)
@pytest.mark.parametrize("key", NOT_KEYS.values(), ids=NOT_KEYS)
@pytest.mark.parametrize("place", ["alone", "beside a slice"])
def test_s1_what_is_no_key_is_refused(make, at, key, place):
    x = X.copy()
    t = make(x)
    whole = key if place == "alone" else (slice(None), key)
    with pytest.raises(IndexTypeError):
        at(t)[whole]
    if hasattr(type(at(t)), "__setitem__"):
        with pytest.raises(IndexTypeError):
            at(t)[whole] = 99
    assert np.array_equal(x, X)


@pytest.mark.parametrize("at", BRACKETS)
@pytest.mark.parametrize("key", [*SEQUENCES.values(), (0, 1)], ids=[*SEQUENCES, "tuple"])
def test_s1_sequences_beside_each_other(make, at, key):
    if len(key) == 4:
        key = [0, 1]
    found = np.asarray(BRACKETS[at](make(X))[key, (2, 3)])

    assert found.tolist() == ([[2, 3], [8, 9]] if at == "oindex" else [2, 9])


@pytest.mark.parametrize("key", [((0, 2),), ((),), ((2, 0, 2),)])
def test_s1_a_tuple_within_a_key_is_a_sequence_for_rows_too(make, key):
    rows = make(tw.jagged([[1, 2], [3], [4, 5, 6]]))

    assert rows[key].tolist() == rows.oindex[key].tolist() == rows[list(key[0])].tolist()
    with pytest.raises(JaggedModeError):
        rows[0, (0, 1)]


@pytest.mark.parametrize("at", BRACKETS.values(), ids=BRACKETS)
@pytest.mark.parametrize(
    ("item", "error"),
    [(slice(None, None, 0), StepError), (slice("a"), IndexTypeError), (slice(0.0, 1), IndexTypeError)],
)
def test_s1_a_slice_beside_positions_is_refused_as_alone(make, at, item, error):
    t = make(X)
    for key in (item, (item, [0]), ([0], item)):
        with pytest.raises(error):
            at(t)[key]


@pytest.mark.parametrize("number", [0, np.int64(0), np.uint8(0), np.array(0)])
@pytest.mark.parametrize("rest", [(...,), (None,), (..., None), (slice(0, 3), ...)])
def test_s1_numbers_of_numpy_select_a_view_as_other_integers_do(make, number, rest):
    x = X.copy()
    found = make(x)[(number, *rest)]

    assert np.array_equal(np.asarray(found), x[(0, *rest)])
    found.assign(99)
    assert (x[(0, *rest)] == 99).all()
    rows = make(tw.jagged([[1, 2], [3]]))
    assert rows[number, ...].tolist() == [1, 2]


def test_s1_rows_take_sequences_too():
    rows = tw.jagged([[1, 2], [3], [4, 5, 6]])

    assert rows[range(2)].tolist() == rows[[0, 1]].tolist() == [[1, 2], [3]]
    assert rows.oindex[collections.deque([2, 0])].tolist() == [[4, 5, 6], [1, 2]]
    with pytest.raises(IndexTypeError):
        rows[b"\x00"]


def test_s1_a_wrong_key_is_what_numpy_and_python_say():
    assert issubclass(IndexTypeError, IndexError)
    assert issubclass(IndexTypeError, TypeError)
