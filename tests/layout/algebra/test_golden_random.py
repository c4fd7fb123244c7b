"""20 145 recorded results: equal where they are right, refused or right where they are not."""

import collections
import functools
import json
from pathlib import Path

import numpy as np
import pytest

from tensorwrapper.errors import LayoutError
from tensorwrapper.layout import (
    Layout,
    coalesce,
    complement,
    compose,
    left_inverse,
    logical_divide,
    logical_product,
    right_inverse,
)
from tests.support.layout.layouts import extended, table

FILE = Path(__file__).parents[1] / "golden" / "layout-random.jsonl"

# Marked exact, but not what the law says: see the README beside the file.
NOT_THE_LAW = {
    "div": {("(3,8):(6,6)", "(2,6):(1,2)")},
    "prod": {
        ("((4,5),2):((10,1),80)", "(6,6):(2,2)"),
        ("(1,2,5):(4,6,12)", "(6,5):(4,0)"),
        ("(1,8,4):(3,8,0)", "6:6"),
        ("(2,3):(0,8)", "(6,6):(6,1)"),
        ("(2,5):(1,6)", "(4,4):(0,2)"),
        ("(2,5,1):(2,12,12)", "(1,8):(4,4)"),
        ("(3,2):(3,16)", "(1,6):(1,2)"),
        ("(4,3,1):(0,6,3)", "(4,2):(4,1)"),
        ("(8,5):(8,0)", "8:6"),
        ("2:3", "6:2"),
        ("2:6", "(2,8):(1,4)"),
        ("3:3", "(4,4):(3,2)"),
        ("3:6", "(4,8):(4,3)"),
        ("3:8", "6:6"),
        ("5:16", "(4,8):(12,2)"),
        ("5:8", "6:3"),
        ("6:16", "(6,4):(8,8)"),
        ("6:16", "4:12"),
        ("8:3", "6:2"),
    },
}
LONGER = {"(3,5,5):(1,0,1)", "(4,1,6):(1,8,1)", "((3,5),6):((2,6),1)"}


def read(text):
    return Layout.parse(text, order="colex")


@functools.cache
def rows(op):
    with FILE.open(encoding="utf-8") as lines:
        return [row for row in map(json.loads, lines) if row["op"] == op]


def attempt(function, *operands, **options):
    """The result, and what kind it is."""
    try:
        made = function(*operands, **options)
    except LayoutError:
        return None, "refused"
    return made, "composite" if made.is_composite else "layout"


def recorded(row):
    return "refused" if row["r"] is None else "wrong" if row.get("exact") is False else "right"


def same(made, text):
    ours, theirs = table(made), table(read(text))
    return ours.shape == theirs.shape and bool((ours == theirs).all())


def test_there_are_as_many_rows_as_there_should_be():
    counts = {op: len(rows(op)) for op in ("coalesce", "comp", "compl", "rinv", "linv", "div", "prod")}
    assert sum(counts.values()) == 20_145
    assert counts == {
        "coalesce": 2130,
        "comp": 3717,
        "compl": 2504,
        "rinv": 2067,
        "linv": 2071,
        "div": 3825,
        "prod": 3831,
    }


def test_coalesce():
    for row in rows("coalesce"):
        layout = read(row["a"])
        made = coalesce(layout)
        assert same(made, row["r"])
        assert table(made).tolist() == table(layout).tolist()
        assert layout.is_injective == row["a_injective"]


def test_right_inverse():
    longer = set()
    for row in rows("rinv"):
        layout = read(row["a"])
        made = right_inverse(layout)
        reached = table(layout)[table(made)]
        assert (reached == np.arange(len(reached))).all()
        if not same(made, row["r"]):
            # Where elements share offsets a right inverse is not unique; ours is never shorter.
            assert not row["a_injective"]
            assert len(reached) > read(row["r"]).shape.size
            longer.add(row["a"])
    assert longer == LONGER


def test_left_inverse():
    seen = collections.Counter()
    for row in rows("linv"):
        layout = read(row["a"])
        places = table(layout)
        strict, kind = attempt(left_inverse, layout)
        if strict is not None:
            again = table(strict)[places]
            assert (places[again] == places).all()
            if row["a_injective"]:
                assert (again == np.arange(len(places))).all()
        wide, wider = attempt(left_inverse, layout, outside="extend")
        if wide is not None:
            assert (extended(layout, extended(wide, places)) == places).all()
            if strict is not None:
                assert wide == strict
        if recorded(row) == "right":
            assert same(wide, row["r"])
        seen[recorded(row), kind, wider] += 1
    assert seen == {
        ("right", "layout", "layout"): 1528,
        # Modes overlap, and the slowest one counts on beyond its extent.
        ("right", "refused", "layout"): 154,
        ("wrong", "refused", "layout"): 96,
        ("wrong", "refused", "refused"): 33,
        ("refused", "refused", "layout"): 22,
        ("refused", "refused", "refused"): 238,
    }


def test_complement():
    seen = collections.Counter()
    for row in rows("compl"):
        layout = read(row["a"])
        made, kind = attempt(complement, layout, int(row["b"]))
        if made is not None:
            own, more = np.unique(table(layout)), table(made)
            assert (np.diff(more) > 0).all()
            assert len(np.unique(np.add.outer(own, more))) == len(own) * len(more)
        if recorded(row) == "right":
            assert same(made, row["r"])
        seen[recorded(row), kind] += 1
    assert seen == {("right", "layout"): 1970, ("refused", "refused"): 534}


def test_compose():
    seen = collections.Counter()
    for row in rows("comp"):
        outer, inner = read(row["a"]), read(row["b"])
        ordinals = table(inner)
        strict, kind = attempt(compose, outer, inner)
        inside = int(ordinals.max()) < outer.shape.size
        assert (strict is not None) == inside == row.get("in_domain", inside)
        if strict is not None:
            assert (table(strict) == table(outer)[ordinals]).all()
        wide, wider = attempt(compose, outer, inner, outside="extend")
        assert (table(wide) == extended(outer, ordinals)).all()
        if recorded(row) == "right":
            assert same(wide, row["r"])
        proved, _ = attempt(compose, outer, inner, outside="extend", exact="raise")
        assert (proved is None) == wide.is_composite
        seen[recorded(row), kind, wider] += 1
    assert seen == {
        ("right", "layout", "layout"): 1547,
        ("right", "refused", "layout"): 1270,
        ("wrong", "layout", "layout"): 3,
        ("wrong", "composite", "composite"): 85,
        ("wrong", "refused", "layout"): 1,
        ("wrong", "refused", "composite"): 41,
        ("refused", "layout", "layout"): 72,
        ("refused", "composite", "composite"): 430,
        ("refused", "refused", "layout"): 43,
        ("refused", "refused", "composite"): 225,
    }


def check_division(layout, tiler, made):
    """The law, for a division that lets tiles stick out: sums of tile and rest, all ordinals among them."""
    size = layout.shape.size
    ordinals = np.add.outer(table(complement(tiler, size)), table(tiler))
    assert (table(made) == extended(layout, ordinals.ravel())).all()
    assert set(range(size)) <= set(ordinals.ravel().tolist())


def test_divide():
    seen = collections.Counter()
    odd = set()
    for row in rows("div"):
        layout, tiler = read(row["a"]), read(row["b"])
        strict, kind = attempt(logical_divide, layout, tiler)
        wide, wider = attempt(logical_divide, layout, tiler, outside="extend")
        if strict is not None:
            assert wide == strict
            assert set(table(strict).tolist()) == set(table(layout).tolist())
        if wide is not None:
            check_division(layout, tiler, wide)
        if row.get("exact") and not same(strict, row["r"]):
            odd.add((row["a"], row["b"]))
        seen[str(row.get("exact")) if row["r"] else "refused", kind, wider] += 1
    assert odd == NOT_THE_LAW["div"]
    assert seen == {
        ("True", "layout", "layout"): 839,
        ("True", "composite", "composite"): 1,
        ("False", "composite", "composite"): 4,
        ("None", "layout", "layout"): 147,
        ("None", "composite", "composite"): 126,
        # Tiles stick out of the layout.
        ("None", "refused", "layout"): 1346,
        ("None", "refused", "composite"): 198,
        # Tiles leave ordinals out.
        ("None", "refused", "refused"): 33,
        ("refused", "layout", "layout"): 21,
        ("refused", "composite", "composite"): 162,
        ("refused", "refused", "layout"): 1,
        ("refused", "refused", "composite"): 639,
        ("refused", "refused", "refused"): 308,
    }


def test_product():
    seen = collections.Counter()
    odd = set()
    for row in rows("prod"):
        block, tiler = read(row["a"]), read(row["b"])
        made, kind = attempt(logical_product, block, tiler)
        if made is not None:
            places, counts = table(block), table(tiler)
            span = int(places.max()) + 1
            where = table(complement(block, 32 * span * (int(counts.max()) + 1)))
            assert (table(made) == np.add.outer(where[counts], places).ravel()).all()
        if recorded(row) == "right" and not same(made, row["r"]):
            odd.add((row["a"], row["b"]))
        seen[recorded(row), kind] += 1
    assert odd == NOT_THE_LAW["prod"]
    assert seen == {
        ("right", "layout"): 2897,
        ("right", "composite"): 18,
        ("wrong", "composite"): 20,
        ("refused", "layout"): 41,
        ("refused", "composite"): 302,
        ("refused", "refused"): 553,
    }


@pytest.mark.parametrize("op", ["div", "prod"])
def test_rows_that_are_not_the_law_really_are_not(op):
    for row in rows(op):
        if (row["a"], row["b"]) not in NOT_THE_LAW[op] or not row["exact"]:
            continue
        a, b, theirs = read(row["a"]), read(row["b"]), table(read(row["r"]))
        rest = table(complement(a if op == "prod" else b, 10**4 if op == "prod" else a.shape.size))
        if op == "div":
            assert (table(a)[np.add.outer(rest, table(b)).ravel()] != theirs).any()
        else:
            assert (np.add.outer(rest[table(b)], table(a)).ravel() != theirs).any()
