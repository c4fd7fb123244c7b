"""What one tensor answers, and what it refuses before it does any work."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, RequestRefusedError
from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.served._served_tensor import ServedTensor
from tensorwrapper.selection import Outer, Runs

X = np.arange(12.0).reshape(3, 4)


def holding(given=X, **limits):
    return ServedTensor("x", given, "1", ServeLimits(**limits))


def test_elements_of_all_selections_are_one_part():
    found = holding().read([Outer([[2], range(0, 4, 3)]), Runs([0, 5], [1, 2])], None)

    assert np.frombuffer(found.frames[0]).tolist() == [8.0, 11.0, 0.0, 5.0, 6.0]


def test_elements_are_cast_before_they_travel_if_they_fit():
    assert np.frombuffer(holding().read([Runs(3, 2)], "<i2").frames[0], "<i2").tolist() == [3, 4]
    with pytest.raises(OverflowError):
        holding(X * 1e6).read([Runs(3, 2)], "|i1")


def test_a_cast_makes_no_more_bytes_than_an_answer_may_have():
    """Sixteen times the limit went out: bytes of ours were counted, and not those that are sent."""
    own = holding(np.zeros(100, "i1"), answer_bytes=160)
    assert own.read([Runs(0, 10)], "<c16").frames[0].nbytes == 160
    with pytest.raises(RequestRefusedError, match="limit"):
        own.read([Runs(0, 11)], "<c16")
    assert own.bytes_of([Runs(0, 11)], "<c16") == 11 * 17
    assert own.bytes_of([Runs(0, 11)], "<c99") == 0


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (Outer([range(4), range(1)]), "bounds"),
        (Outer([range(1)]), "bounds"),
        (Runs(10, 3), "bounds"),
        (Runs(2**62, 2), "bounds"),
        (Outer([range(3), range(4)]), "limit"),
    ],
)
def test_what_leaves_the_tensor_or_is_too_much_is_refused(wanted, reason):
    with pytest.raises(RequestRefusedError) as caught:
        holding(answer_bytes=80).read([wanted], None)
    assert caught.value.reason == reason


def test_rows_are_told_by_runs():
    rows = holding(tw.jagged([[1, 2], [], [3], [4, 5, 6]]))
    found = rows.rows(Runs([0, 2], [1, 2]))

    assert rows.facts.rows == 4
    assert (found.starts.tolist(), found.lengths.tolist()) == ([0, 2], [2, 1, 3])
    for wanted, reason in ((Runs(3, 2), "bounds"), (Runs(2**61, 1), "bounds")):
        with pytest.raises(RequestRefusedError) as caught:
            rows.rows(wanted)
        assert caught.value.reason == reason
    with pytest.raises(RequestRefusedError):
        holding().rows(Runs(0, 1))


def test_entries_are_those_within_selections():
    sparse = holding(tw.sparse([(0, 1), (2, 3), (2, 0)], [5.0, 7.0, 9.0], tw.Shape(3, 4)))
    found = sparse.entries([Outer([[2], range(0, 4, 3)]), Outer([[0, 2], [1, 2]]), Runs(11, 1), Runs([], [])])

    assert found.counts.tolist() == [2, 1, 1, 0]
    assert found.numbers.tolist() == [8, 11, 1, 11]
    assert np.frombuffer(found.values).tolist() == [9.0, 7.0, 5.0, 7.0]
    with pytest.raises(RequestRefusedError):
        holding().entries([])


def test_what_does_not_travel_is_not_served():
    with pytest.raises(ConversionError, match="cannot serve the tensor 'x'"):
        holding(tw.as_tensor(np.zeros(2, np.longdouble)))


def test_a_shape_has_a_limit_as_well():
    deep = tw.from_buffer(np.arange(6), tw.Shape.jagged([[1], [2, 3]]))

    assert tw.Shape.from_json(holding(deep).text().text) == deep.shape
    with pytest.raises(RequestRefusedError):
        holding(deep, shape_bytes=10).text()


@given(
    st.lists(st.integers(0, 4), max_size=10).map(lambda own: [1, 3, *own]),
    st.lists(st.integers(0, 11), max_size=8, unique=True).map(sorted),
)
def test_elements_that_come_with_the_lengths_of_rows_are_those_of_the_rows(lengths, numbers):
    numbers = [k for k in numbers if k < len(lengths)]
    rows = tw.from_buffer(np.arange(float(sum(lengths))), tw.Shape.jagged(lengths))
    found = ServedTensor("x", rows, "v", ServeLimits())
    answer = found.rows(Runs(numbers), 2**15)
    expected = [value for k in numbers for value in rows[k].tolist()]
    runs = Runs(answer.starts, found.splits[Runs(numbers).ends] - answer.starts) if numbers else Runs([], [])
    assert np.frombuffer(answer.elements).tolist() == expected
    assert bytes(found.read((runs,), None).frames[0]) == bytes(answer.elements)


@pytest.mark.parametrize("ragged", [False, True])
def test_views_of_text_keep_the_nulls_of_their_mask(ragged):
    def shaped(t):
        return t.unflatten([2, 0, 1]) if ragged else t

    mask = shaped(tw.as_tensor([True, None, False]))
    by_mask = tw.where(mask, shaped(tw.strings(["a", "b", "c"])), shaped(tw.strings(["x", "y", "z"])))
    some = shaped(tw.strings(["a", None, "b"]))
    by_text = tw.where(some == "a", some, some)
    assert by_mask.is_nullable
    assert by_mask.tolist() == shaped(tw.strings(["a", None, "z"])).tolist()
    with tw.serve({"mask": by_mask, "text": by_text}) as server, tw.connect(server.address) as remote:
        for name, view in (("mask", by_mask), ("text", by_text)):
            there = remote[name]
            assert there.is_nullable
            assert there.tolist() == view.tolist()
            assert there[::-1].tolist() == view[::-1].tolist()
            assert there.null_count == 1


def test_a_shape_of_many_rows_is_written_once_and_not_beyond_its_limit(monkeypatch):
    rows = tw.jagged([[1] * (k % 3) for k in range(100)])
    held = holding(rows)
    assert held.text() == held.text()
    monkeypatch.setattr(tw.Shape, "to_json", None)
    assert held.text().text == held.text().text
    with pytest.raises(RequestRefusedError, match="100 rows"):
        holding(rows, shape_bytes=150).text()
