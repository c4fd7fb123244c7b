"""Names of modes in messages and files: the key ``mode_names``, written only where there are names."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, wire
from tensorwrapper.errors import LocalProtocolError, ModeNameError, RemoteProtocolError
from tensorwrapper.selection import as_view

BOX = tw.as_tensor(np.arange(6.0).reshape(2, 3)).named("x", "y")


def tensors():
    """One tensor of each kind, with names."""
    tiles = tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(Tiling([1, 2], [2, 1]))
    return {
        "box": BOX,
        "permuted": BOX.permute("y", "x"),
        "with origin": tw.zeros(Shape(2, 2, origin=(5, -1)).named("k", None)),
        "empty": tw.zeros(Shape(0, 3).named("k", None)),
        "jagged": tw.from_buffer(np.arange(6), Shape.jagged([3, 1, 2]).named("event", "hit")),
        "cells": tw.zeros(Shape.from_cells((2,), [(2, 3), (1, 1)]).named("r", "i", "j")),
        "tiled view": tiles.named("a", "b", None, "d"),
        "tiles": tw.zeros(Shape.tiled([1, 2], [2, 1]).named("a", "b", "c", "d")),
        "triangular": tw.from_buffer(np.arange(3), Shape.triangular(2).named("i", "j")),
        "nested": tw.from_buffer(np.arange(6), Shape.nested(Shape(2, 3), layers=(1, 1)).named("o", "i")),
        "sparse": tw.sparse([(0, 1)], [5.0], Shape(2, 3).named("row", "column")),
        "sparse rows": tw.sparse([(0, 1)], [5.0], Shape.jagged([3, 1]).named("row", "column")),
        "strings": tw.strings([["a", "b"]]).named("q", "größe"),
        "times": tw.as_tensor(np.zeros((2, 2), "M8[s]")).named("q", "w"),
        "view": as_view(BOX)[:, ::-1],
    }


@pytest.mark.parametrize("options", [{}, {"compress": "zlib"}, {"layout": "keep"}, {"checksum": "crc32"}])
@pytest.mark.parametrize("kind", tensors())
def test_section_5_names_travel_with_every_packing(kind, options):
    tensor = tensors()[kind]
    (read,) = wire.decode(wire.encode([tensor], **options)).tensors

    assert read.shape == tensor.shape
    assert any(read.shape.names)
    assert read.tolist() == tensor.tolist()
    assert read.layout.is_tiled == (kind == "tiled view")


@pytest.mark.parametrize("kind", tensors())
def test_names_are_one_key_more_and_change_no_byte_else(kind):
    tensor = tensors()[kind]
    plain = tensor.named(*[None] * tensor.rank)
    named_head, *named = wire.encode([tensor])
    plain_head, *rest = wire.encode([plain])
    label = json.loads(bytes(named_head)[8:])
    names = label["TENS"]["tensors"][0].pop("mode_names")

    assert list(map(bytes, named)) == list(map(bytes, rest))
    assert tuple(names) == tensor.shape.names
    assert label == json.loads(bytes(plain_head)[8:])
    assert b"mode_names" not in bytes(plain_head)


def test_a_reader_of_dense_tensors_sees_the_same_elements():
    label, _, part = wire.encode([BOX])

    assert bytes(label)[8:] == (
        b'{"TENS":{"tensors":[{"dtype":"f","mode_names":["x","y"],"part":0,"shape":[2,3],"word":8}]}}'
    )
    assert np.frombuffer(part, "<f8").tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(LocalProtocolError, match="mode_names"):
        wire.encode([BOX], compat="strict")


def renamed(value, tensor=BOX):
    label, *rest = wire.encode([tensor.named(*["n"], *[None] * (tensor.rank - 1))])
    value = value if isinstance(value, str) else json.dumps(value)
    old = json.dumps(["n", *[None] * (tensor.rank - 1)]).replace(" ", "")
    return [bytes(label).replace(old.encode(), value.encode()), *rest]


ROWS = tensors()["jagged"]


@pytest.mark.parametrize("tensor", [BOX, ROWS], ids=["box", "jagged"])
@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ([], "schema"),
        (["x"], "schema"),
        (["x", "y", "z"], "schema"),
        (["x", "x"], "schema"),
        (["x", 1], "schema"),
        (["x", ["y"]], "schema"),
        (["x", True], "schema"),
        (["", None], "schema"),
        (["_", None], "schema"),
        (["a b", None], "schema"),
        (["a\u202eb", None], "schema"),
        (["\x00", None], "schema"),
        (["1", None], "schema"),
        ("{}", "schema"),
        ('"xy"', "schema"),
        ("0", "schema"),
        (["x" * 256, None], "limit"),
        (["x"] * 65, "limit"),
    ],
)
def test_hostile_names_are_refused(tensor, names, reason):
    with pytest.raises(RemoteProtocolError) as error:
        wire.decode(renamed(names, tensor))

    assert error.value.reason == reason
    assert len(str(error.value)) < 1000


def test_what_reads_as_no_names():
    for absent in ("null", [None, None]):
        assert wire.decode(renamed(absent)).tensors[0].shape == Shape(2, 3)
    assert wire.decode(renamed(["y" * 255, "日本"])).tensors[0].shape.names == ("y" * 255, "日本")
    assert wire.decode(wire.encode([tw.as_tensor(1.0).named()])).tensors[0].shape == Shape()


def test_a_name_that_nobody_would_read_is_not_written():
    with pytest.raises(LocalProtocolError, match="256 characters; at most 255") as error:
        wire.encode([BOX.named("x" * 256, None)])

    assert error.value.reason == "limit"


@given(st.lists(st.text(max_size=4), min_size=2, max_size=2))
def test_any_text_is_a_name_for_both_or_for_none(texts):
    try:
        tensor = BOX.named(*texts)
    except ModeNameError:
        with pytest.raises(RemoteProtocolError):
            wire.decode(renamed(json.dumps(texts, ensure_ascii=False).encode("utf-8", "replace").decode()))
    else:
        assert wire.decode(wire.encode([tensor])).tensors[0].shape.names == tuple(texts)


def test_blocks_say_names_and_the_whole_has_them():
    assembler = wire.Assembler(max_bytes=1000, timeout=10)
    found = {}
    for block in wire.split_blocks(BOX, "n", max_bytes=24):
        found |= assembler.add(wire.decode(wire.encode([block])))

    assert found["n"].shape == BOX.shape
    assert found["n"].tolist() == BOX.tolist()


def test_appended_and_amended_messages_keep_names():
    message = wire.decode(wire.encode([BOX]))
    again = wire.decode(wire.encode(message, metadata={"run": 3}))

    assert again.tensors[0].shape == BOX.shape
    assert message.append(ROWS).tensors[1].shape == ROWS.shape


def test_files_keep_names_and_arrays_drop_them(tmp_path):
    tw.save(tmp_path / "a.tens", tensors())
    with tw.open(tmp_path / "a.tens") as file:
        for name, tensor in tensors().items():
            assert file[name].shape == tensor.shape
            assert file[name].tolist() == tensor.tolist()
    np.save(tmp_path / "a.npy", BOX)

    assert tw.as_tensor(np.load(tmp_path / "a.npy")).shape == Shape(2, 3)
    assert "names" in BOX.layout.losses("array_interface").lost
