"""Fields of foreign JSON: what is right comes out as it is, what is wrong is refused with path and reason."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper._json_fields import Field

DOCUMENT = {
    "name": "x",
    "odd key": {"a": [1, 2.0]},
    "shape": [2, True, 3],
    "none": None,
    "big": 2**70,
    "flags": [True, "yes"],
    "part": 7,
}


class RefusedError(Exception):
    """What this floor raises."""


def refuse(path, reason, text):
    raise RefusedError(path, reason, text)


def field(value, path="$"):
    return Field(value, path, refuse)


def refusal(ask):
    with pytest.raises(RefusedError) as caught:
        ask()
    return caught.value.args


ROOT = field(DOCUMENT)


@pytest.mark.parametrize(
    ("ask", "path", "reason", "told"),
    [
        (ROOT.items, "$", "schema", 'must be a list, not {"big":118059162071741'),
        (ROOT["part"].object, "$.part", "schema", "must be an object, not 7"),
        (
            lambda: ROOT["part"].items(of="a list of rows"),
            "$.part",
            "schema",
            "must be a list of rows, not 7",
        ),
        (ROOT["none"].text, "$.none", "schema", "must be text, not null"),
        (ROOT["absent"].text, "$.absent", "schema", "must be text, not null"),
        (lambda: ROOT["name"].text(most=0), "$.name", "limit", "has 1 characters; at most 0 are allowed"),
        (lambda: ROOT["name"].one_of(["a", "b"]), "$.name", "schema", 'must be one of "a", "b", not "x"'),
        (lambda: ROOT["shape"].one_of({"a"}), "$.shape", "schema", 'must be one of "a", not [2,true,3]'),
        (ROOT["flags"][1].boolean, "$.flags[1]", "schema", 'must be true or false, not "yes"'),
        (ROOT["flags"][0].integer, "$.flags[0]", "schema", "must be an integer, not true"),
        (ROOT["odd key"]["a"][1].integer, '$["odd key"].a[1]', "schema", "an integer, not 2.0"),
        (lambda: ROOT["part"].integer(8, 9), "$.part", "limit", "must be from 8 to 9, not 7"),
        (lambda: ROOT["part"].integer(8), "$.part", "limit", "must be 8 or more, not 7"),
        (lambda: ROOT["part"].integer(most=6), "$.part", "limit", "must be at most 6, not 7"),
        (lambda: ROOT["part"].count(6), "$.part", "limit", "must be at most 6, not 7"),
        (lambda: ROOT["part"].count(least=8), "$.part", "schema", "must be 8 or more, not 7"),
        (lambda: field(-1).count(), "$", "schema", "must be 0 or more, not -1"),
        (ROOT["shape"].integers, "$.shape[1]", "schema", "must be an integer, not true"),
        (ROOT["shape"].counts, "$.shape[1]", "schema", "must be an integer, not true"),
        (ROOT["shape"].array, "$.shape[1]", "schema", "must be an integer, not true"),
        (lambda: ROOT["shape"].integers(length=2), "$.shape", "schema", "has 3 entries instead of 2"),
        (lambda: ROOT["shape"].items(most=2), "$.shape", "limit", "has 3 entries; at most 2 are allowed"),
        (lambda: field([1, 9]).integers(0, 8), "$[1]", "limit", "must be from 0 to 8, not 9"),
        (lambda: field([1, 9]).array(0, 8), "$[1]", "limit", "must be from 0 to 8, not 9"),
        (lambda: field([1, -1]).counts(), "$[1]", "schema", "must be 0 or more, not -1"),
        (lambda: field([1, 2**70]).array(), "$", "limit", "does not fit into 64 bits"),
        (
            lambda: ROOT.object({"part", "b", "a"}, None),
            "$",
            "schema",
            "lacks the key 'a', lacks the key 'b'",
        ),
        (
            lambda: field({"x": 1, "y": 2}).object({"x", "z"}, {"w"}),
            "$",
            "schema",
            "lacks the key 'z', has the unknown key 'y'; known are w, x, z",
        ),
        (field([0], "")[0].boolean, "[0]", "schema", "must be true or false"),
        (field({"a": [0]}, "")["a"][0].boolean, "a[0]", "schema", "must be true or false"),
    ],
)
def test_what_does_not_belong_there_is_refused_with_its_path(ask, path, reason, told):
    found = refusal(ask)

    assert found[:2] == (path, reason)
    assert told in found[2]


def test_what_belongs_there_comes_out_as_it_is():
    assert ROOT["name"].text(most=1) == ROOT["name"].one_of({"x"}) == "x"
    assert ROOT["big"].integer() == 2**70
    assert ROOT["part"].integer(7, 7) == ROOT["part"].count(7, 7) == 7
    assert ROOT["flags"][0].boolean() is True
    assert field([0, 2**70]).counts() == field([0, 2**70]).integers() == (0, 2**70)
    assert field([]).integers(0, 1, length=0) == ()
    assert [item.value for item in ROOT["shape"].items(length=3, most=3)] == [2, True, 3]
    assert [(key, item.value) for key, item in ROOT["odd key"].entries()] == [("a", [1, 2.0])]
    assert ROOT.object({"part"}, None) is ROOT


def test_null_and_a_missing_key_are_told_apart():
    assert ROOT["none"].value is None is ROOT["absent"].value
    assert "none" in ROOT
    assert "absent" not in ROOT


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_arrays_have_the_integers(numbers):
    found = field(numbers).array()

    assert found.dtype == np.int64
    assert found.tolist() == numbers


def test_long_keys_and_values_are_cut_in_messages():
    long = field({"k" * 10**6: "v" * 10**6})
    path, _, text = refusal(long["k" * 10**6].integer)
    assert len(path) < 100
    assert len(text) < 100
    assert len(refusal(long.object)[2]) < 120
