"""Records: the shape that fields share, rows of all fields, and groups of fields."""

import copy
import pickle

import numpy as np
import pytest

import tensorwrapper as tw


@pytest.fixture
def events():
    return tw.records(
        {
            "t": tw.jagged([[5, 1, 7], [], [2, 9]]),
            "q": tw.jagged([[0.5, 1.5, 2.5], [], [3.5, 4.5]]),
            "run": [10, 20, 30],
        }
    )


def test_fields_of_equal_shapes_have_one_shape_object(events):
    assert events["t"].shape is events["q"].shape is events.shape
    assert events["t"].layout is events["q"].layout


def test_fields_whose_shape_differs_from_their_place_share_it_too():
    rows = tw.jagged([[5, 1], [], [2, 9, 4]])
    other = tw.jagged([[2, 9, 4], [], [5, 1]])

    made = tw.records({"a": rows[::-1], "b": other})

    assert made["a"].shape is made["b"].shape is made.shape
    assert made["a"].tolist() == [[2, 9, 4], [], [5, 1]]


def test_records_group_and_do_not_copy():
    rows = tw.jagged([[1, 2], [3]])
    made = tw.records({"t": rows, "u": tw.jagged([[3, 4], [5]])})

    made["t"][...] = 0
    made["u"][...] = 1

    assert rows.tolist() == [[0, 0], [0]]
    assert made["u"].tolist() == [[1, 1], [1]]


@pytest.mark.parametrize(
    "key",
    [
        slice(None, None, -1),
        [2, 0],
        [True, False, True],
        (slice(None), slice(0, 1)),
        (..., slice(0, 1)),
        1,
        (2, 0),
        None,
        tw.jagged([[0, -1], [], [1]]),
        tw.jagged([[True, False, True], [], [False, True]]),
    ],
    ids=str,
)
def test_a_key_selects_of_each_field_what_it_selects_of_a_tensor(events, key):
    found = events[key]

    for name in ("t", "q"):
        assert found[name].tolist() == events[name][key].tolist()
    assert found["t"].shape is found["q"].shape is found.shape


@pytest.mark.parametrize(
    "key",
    [
        np.int64(2),
        np.array(2),
        tw.as_tensor([2, 0]),
        tw.selection.as_view([2, 0]),
        tw.as_tensor([True, False, True]),
        tw.sparse([(0,), (2,)], [True, True], (3,)),
        tw.selection.as_view(tw.jagged([[True, False, True], [], [False, True]])),
        (np.array([2, 0]), slice(None, None, -1)),
        (tw.as_tensor([2, 0]), ...),
        range(2),
        {"event": 1},
    ],
    ids=str,
)
def test_keys_of_every_kind_select_as_they_do_of_tensors(key):
    one, two = tw.jagged([[5, 1, 7], [], [2, 9]]), tw.jagged([[1.5, 2.5, 3.5], [], [4.5, 5.5]])
    if isinstance(key, dict):
        one, two = one.named("event", "hit"), two.named("event", "hit")
    r = tw.records({"t": one, "q": two, "v": tw.selection.as_view(one)})

    found = r[key]

    assert found["t"].tolist() == one[key].tolist()
    assert found["q"].tolist() == two[key].tolist()
    assert found["v"].compute().tolist() == one[key].tolist()


def test_a_prefix_field_gets_the_first_parts_of_a_key(events):
    assert events[:0:-1, :1]["run"].tolist() == [30, 20]
    assert events[2, 1].to_dict() == {"t": 9, "q": 4.5, "run": 30}
    assert events[..., 0:1]["run"].tolist() == [10, 20, 30]


def test_a_key_of_points_of_several_modes_needs_fields_of_these():
    made = tw.records({"x": np.arange(6).reshape(2, 3), "n": [7, 8]}, shape=(2, 3))

    assert made[[1, 0], 2].to_dict() == {"x": [5, 2], "n": [8, 7]}
    assert made[0, [2, 1]].to_dict() == {"x": [2, 1], "n": 7}
    for key in (made["x"] > 3, ([[0], [1]], [0, 1])):
        with pytest.raises(tw.errors.ExtentMismatchError, match=r"drop\('n'\)"):
            made[key]
    assert made.drop("n")[made["x"] > 3].to_dict() == {"x": [4, 5]}


def test_iteration_gives_rows(events):
    assert [row.to_dict() for row in events] == events.tolist()


def test_mappings_take_records(events):
    assert dict(events)["t"] is events["t"]
    assert list({**events}) == ["t", "q", "run"]


def test_records_pickle_and_copy(events):
    for made in (pickle.loads(pickle.dumps(events)), copy.copy(events), copy.deepcopy(events), events.copy()):
        assert made.array_equal(events)
        assert made["t"].shape is made["q"].shape is made.shape


def test_a_view_makes_records_lazy(events):
    lazy = events.with_field("t", tw.selection.as_view(events["t"]))

    assert lazy.is_lazy
    assert not events.is_lazy
    assert lazy[1:, :1].is_lazy
    assert lazy[1:, :1].compute().array_equal(events[1:, :1])
    rows = lazy[[2, 0]]
    assert rows["t"].shape is rows["q"].shape is rows.shape
