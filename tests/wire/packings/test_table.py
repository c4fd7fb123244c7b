"""What a label says of its packing: a name and a version that the table knows, in an object."""

import pytest

from tensorwrapper.wire import decode
from tests.support.wire.spoilt_packings import CELLS, DROP, ROWS, TILED

# [[1, 2], [3]], [], [[4, 5, 6]]: part 1 splits rows, part 2 cells; part 3 has origins of mode 1.


# Three cells of rank 2: (1, 2), (0, 7), (2, 2).


# 3 x 4 elements, cut into (1, 2) x (4).


ALL = [ROWS, CELLS, TILED]


@pytest.mark.parametrize("good", ALL, ids=["rows", "cells", "tiled"])
@pytest.mark.parametrize(
    ("version", "reason"),
    [
        *[(version, "schema") for version in (DROP, None, True, False, 1.0, "1", [1], {})],
        *[(version, "unsupported") for version in (0, 2, -1, 10**30)],
    ],
)
def test_versions(good, version, reason):
    assert good.reason(version=version) == reason


@pytest.mark.parametrize("good", ALL, ids=["rows", "cells", "tiled"])
@pytest.mark.parametrize("packed", [None, True, 1, "x", [], [1]])
def test_a_packing_is_described_by_an_object(good, packed):
    assert good.reason(packed=packed) == "schema"


@pytest.mark.parametrize("good", ALL, ids=["rows", "cells", "tiled"])
@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("order", [[0, 1], [1, 0], [0], [], None]),
        ("ascend", [[True, True], [False, True], [True], [], None]),
        ("origin", [[0, 0], [1, 2], [0], [], 0]),
    ],
)
def test_a_packing_leaves_no_choice_of_order_or_origin(good, key, values):
    for value in values:
        assert good.reason(beside={key: value}) == "unsupported", value
    (read,) = decode(good.frames(beside={"origin": None})).tensors
    assert read.tolist() == decode(good.frames()).tensors[0].tolist()


def test_null_is_as_absent_where_a_key_may_be_absent():
    (read,) = decode(ROWS.frames(origins=None)).tensors
    assert read.shape == decode(ROWS.frames(origins=DROP)).tensors[0].shape
    for key in ("first", "storage"):
        (read,) = decode(TILED.frames(**{key: None})).tensors
        assert read.shape == decode(TILED.frames(**{key: DROP})).tensors[0].shape
    for good in ALL:
        beside = {"origin": None, "metadata": None, "pointer": None}
        assert decode(good.frames(beside=beside)).tensors[0].tolist()


@pytest.mark.parametrize("good", ALL, ids=["rows", "cells", "tiled"])
def test_unknown_keys_are_ignored(good):
    (read,) = decode(good.frames(beside={"novel": [None]}, novel={"deep": 1})).tensors
    assert read.tolist() == decode(good.frames()).tensors[0].tolist()
