"""Damaged files: the JavaScript reader refuses what Python refuses, and never has other values."""

import contextlib
import copy
import json
import os
import random
import struct
import warnings
import zlib

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import TensorWrapperError
from tests.support.viewer import NODE, read_by_node, told

pytestmark = [pytest.mark.slow, pytest.mark.skipif(NODE is None, reason="Node is not installed")]

TRIES = int(os.environ.get("TRIES", "200"))


def bases(folder):
    tensors = {
        "a": np.arange(12, dtype="i4").reshape(3, 4),
        "j": tw.jagged([[1, 2, 3], [], [4]]),
        "s": tw.strings(["x", None, "yy"]),
        "t": tw.as_tensor(np.arange(36.0).reshape(6, 6)).tiled(tw.Tiling([2, 1, 3], [2, 1, 3])),
        "n": tw.as_tensor([5, None, 7]),
        "y": tw.from_packed(np.array([1, 2, 3], "<i2"), "s2", (2, 2)),
    }
    tw.save(folder / "plain.tens", tensors, metadata={"k": 1})
    packed = {
        "z": np.zeros(5000, "i4"),
        "sp": tw.sparse([(0, 1), (2, 3)], np.array([5, 7], "<i2"), tw.Shape(3, 4), fill_value=-1),
        "c": tw.jagged([np.ones((2, 3)), np.zeros((0, 4))]),
        "b": tw.blocks({(0, 0): np.array([[1, 2]], "u1")}, tw.Tiling([1, 2], [2, 1])),
    }
    tw.save(folder / "packed.tens", packed, compress="zlib")
    with tw.open(folder / "grown.tens", "a") as file:
        for k in range(3):
            file.extend("hits", tw.jagged([[k, k + 1], []]))
            file.extend("ev", {"t": tw.jagged([[k], []]), "run": [k, k + 10]})
            file.flush()
    views = {"k": np.arange(3), "v": tw.concat([tw.as_tensor([1, 2]), tw.as_tensor([3])])}
    tw.save(folder / "views.tens", views, keep_views=True)
    return [(folder / f"{name}.tens").read_bytes() for name in ("plain", "packed", "grown", "views")]


def records(raw):
    place = 0
    while raw[place : place + 8] == b"\x89TENS\r\n\x1a" and place + 32 <= len(raw):
        (length,) = struct.unpack_from("<Q", raw, place + 8)
        yield place, length
        place += 32 + length


def made_sound(raw, place, length):
    """Write checksums as if the writer had meant it."""
    raw[place + 18 : place + 20] = b"\0\0"
    raw[place + 20 : place + 28] = struct.pack("<Q", zlib.crc32(raw[place + 32 : place + 32 + length]))
    raw[place + 28 : place + 32] = struct.pack("<I", zlib.crc32(raw[place : place + 28]))


def mutated(rng, raw):
    spoilt = bytearray(raw)
    kind = rng.choice(["bytes", "sound", "sound", "label", "label", "cut"])
    if kind == "cut":
        return spoilt[: rng.randrange(64, len(raw))]
    place, length = rng.choice(list(records(raw)))
    if kind == "bytes":
        spoilt[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        return spoilt
    if kind == "sound":
        for _ in range(rng.choice([1, 1, 3])):
            at = place + 32 + rng.randrange(length)
            spoilt[at] = rng.choice([0, 1, 255, spoilt[at] ^ 1 << rng.randrange(8)])
    else:
        first = raw.find(b"{", place, place + 32 + length)
        last = raw.find(b"}}", first)
        digits = [at for at in range(first, last) if chr(raw[at]).isdigit()] or [first]
        at = rng.choice(digits) if rng.random() < 0.7 else rng.randrange(first, last)
        spoilt[at] = ord(rng.choice('0123456789-{}[],"xn'))
    made_sound(spoilt, place, length)
    return spoilt


def by_python(path):
    try:
        with tw.open(path, kind="tens") as file:
            found = {}
            for name in file:
                try:
                    tensor = file[name]
                    found[name] = {"values": told(tensor.tolist())}
                except TensorWrapperError as error:
                    found[name] = {"refused": str(error)}
            return found
    except TensorWrapperError as error:
        return {"refused": str(error)}


def verdict(own, theirs):
    """Return how two answers about one file differ; empty if they do not."""
    assert "crashed" not in theirs, theirs
    if "beyond 2^53" in theirs.get("text", ""):
        # A limit of its own: numbers of Python have no end.
        return ""
    if isinstance(own.get("refused"), str) or "tensors" not in theirs:
        refused = isinstance(own.get("refused"), str), "tensors" not in theirs
        return (
            ""
            if all(refused)
            else f"file refused by {'Python' if refused[0] else 'JavaScript'} alone: {own} {theirs}"
        )
    if own.keys() != theirs["tensors"].keys():
        return f"other names: {sorted(own)} and {sorted(theirs['tensors'])}"
    for name, found in own.items():
        other = theirs["tensors"][name]
        if (
            "refused" in found
            and "." in name
            and any(
                "refused" in theirs["tensors"][near]
                for near in own
                if near.startswith(f"{name.partition('.')[0]}.")
            )
        ):
            # Python reads the fields of a record together, and refuses them so.
            continue
        if "a stored view of" in other.get("text", ""):
            # Python alone computes it, or says why not.
            continue
        if ("values" in found) != ("values" in other):
            return (
                f"{name} refused by {'JavaScript' if 'values' in found else 'Python'} alone: {found} {other}"
            )
        if "values" in found and found["values"] != other["values"]:
            return f"OTHER VALUES of {name}: {found} {other}"
    return ""


def test_parts_of_mutated_files_are_refused_or_parts_of_the_whole(tmp_path):
    rng = random.Random(int(os.environ.get("SEED", "6")))
    raws = bases(tmp_path)
    paths = [tmp_path / f"x{number}.tens" for number in range(TRIES)]
    for path in paths:
        path.write_bytes(mutated(rng, rng.choice(raws)))
    n_rows = 0
    for path, answer in zip(paths, read_by_node(paths, "parts"), strict=True):
        assert "crashed" not in answer, (path, answer)
        for name, own in answer.get("parts", {}).items():
            if "values" in own.get("whole", {}) and isinstance(own["whole"]["values"], list):
                # What is sound as a whole is sound in part.
                assert own["rows"].get("values") == own["whole"]["values"][1:3], (path, name, own)
                assert "values" in own["lengths"], (path, name, own)
                n_rows += 1
    assert n_rows >= TRIES


def test_mutated_files_have_the_same_verdicts_and_values(tmp_path):
    warnings.simplefilter("ignore")
    rng = random.Random(int(os.environ.get("SEED", "5")))
    raws = bases(tmp_path)
    paths = []
    for number in range(TRIES):
        paths.append(tmp_path / f"x{number}.tens")
        paths[-1].write_bytes(mutated(rng, rng.choice(raws)))
    answers = read_by_node(paths)
    wrong = {}
    for path, answer in zip(paths, answers, strict=True):
        with contextlib.suppress(FileNotFoundError):
            said = verdict(by_python(path), answer)
            if said:
                wrong[path.name] = said
    assert not wrong, "\n".join([f"{name}: {said}"[:400] for name, said in wrong.items()])


ODD = [
    None,
    True,
    -1,
    0,
    1,
    2,
    2**31,
    2**53 + 1,
    2**62 + 1,
    -(2**63),
    2**70,
    1.0,
    0.5,
    1e300,
    "x",
    [],
    {},
    [0],
    [1, 2],
]
ODD += [{"part": 1}, "dense", "jagged", "tiled", "nullable", "sparse", "box", "tiles", "lower"]
KEYS = [
    "origin",
    "layers",
    "mode_names",
    "order",
    "ascend",
    "pointer",
    "logical",
    "first",
    "storage",
    "origins",
]
KEYS += ["absent", "fill", "form", "packing", "part", "validity", "metadata", "block"]


def places_in(value, path=()):
    yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places_in(value[key], (*path, key))


def relabelled(rng, label):
    """Return a label of which one value is another, or is missing, or one is new."""
    label = copy.deepcopy(label)
    *path, last = rng.choice([path for path in places_in(label) if len(path) > 3])
    inner = label
    for key in path:
        inner = inner[key]
    kind = rng.random()
    if isinstance(inner, dict) and kind < 0.3:
        if kind < 0.15:
            del inner[last]
        else:
            inner[rng.choice(KEYS)] = rng.choice(ODD)
    elif type(inner[last]) is int and kind < 0.6:
        inner[last] += rng.choice([-1, 1])
    else:
        inner[last] = rng.choice(ODD)
    return label


def label_place(raw, place):
    """Return where the label of a record begins, and how many bytes it has."""
    head = place + 32
    if raw[head] < 255:
        return head + 1, raw[head]
    return head + 5, struct.unpack_from(">I", raw, head + 1)[0]


def test_indexes_with_other_labels_have_the_same_verdicts_and_values(tmp_path):
    warnings.simplefilter("ignore")
    rng = random.Random(int(os.environ.get("SEED", "8")))
    raws = bases(tmp_path)
    paths = []
    while len(paths) < TRIES:
        raw = rng.choice(raws)
        place, length = list(records(raw))[-1]
        begin, size = label_place(raw, place)
        label = relabelled(rng, json.loads(raw[begin + 8 : begin + size]))
        entries = label["TENS"]["tensors"]
        if rng.random() < 0.3 and isinstance(entries, list) and entries and isinstance(entries[-1], dict):
            # A pointer takes the place of another key.
            entries[-1].pop(rng.choice(sorted(entries[-1])), None)
            entries[-1]["pointer"] = 1
        text = raw[begin : begin + 8] + json.dumps(label, separators=(",", ":")).encode()
        if len(text) <= size:
            spoilt = bytearray(raw)
            spoilt[begin : begin + size] = text.ljust(size)
            made_sound(spoilt, place, length)
            paths.append(tmp_path / f"x{len(paths)}.tens")
            paths[-1].write_bytes(spoilt)
    answers = read_by_node(paths)
    wrong = {p.name: verdict(by_python(p), answer) for p, answer in zip(paths, answers, strict=True)}
    assert not any(wrong.values()), wrong


def test_a_stored_zero_of_the_other_sign_is_the_fill(tmp_path):
    frames = tw.wire.encode([tw.sparse([(0, 1), (1, 0)], np.array([7.0, 5]), tw.Shape(2, 3))])
    raw = [bytes(part) for part in frames]
    raw[2] = np.array([-0.0, 5]).tobytes()
    (found,) = tw.wire.decode(raw).tensors
    (tmp_path / "x.bin").write_bytes(tw.wire.encode_frames(raw))
    (answer,) = read_by_node([tmp_path / "x.bin"], "message")
    assert answer["tensors"] == [{"values": told(found.tolist())}] == [{"values": [[0, 0, 0], [5, 0, 0]]}]
    assert not np.signbit(found.to_dense().to_numpy()).any()


def one_of_each_kind():
    tiling = tw.Tiling([2, 1], [1, 2])
    return {
        "box": tw.from_buffer(np.arange(6.0), tw.Shape(2, 3, origin=(5, -7))),
        "jagged": tw.jagged([[[1.5], [2.5, 3.5]], [], [[], [4.0]]]),
        "cells": tw.jagged([np.arange(4).reshape(2, 2), np.zeros((0, 3), int)]),
        "tiles": tw.as_tensor(np.arange(9.0).reshape(3, 3)).tiled(tiling),
        "triangle": tw.from_buffer(np.arange(6.0), tw.Shape.triangular(3, "upper")),
        "sparse": tw.sparse([(0, 1), (2, 3)], np.array([5, 7], "<i2"), tw.Shape(3, 4), fill_value=-1),
        "blocks": tw.blocks({(0, 0): np.ones((2, 1))}, tiling),
        "symmetric": tw.from_packed(np.arange(1, 4, dtype="i1"), "a2", (3, 3)),
        "orbits": tw.blocks({(1, 0): np.array([[2.0], [3]])}, tw.Tiling([1, 2], [1, 2]), symmetry="a2"),
        "texts": tw.strings([["a", None], [], ["ccc"]]),
        "nulls": tw.nullable(np.arange(3000), np.arange(3000) % 3 > 0),
        "packed": np.arange(2000, dtype="i4") // 100,
    }


def test_labels_with_other_values_have_the_same_verdicts_and_values(tmp_path):
    rng = random.Random(int(os.environ.get("SEED", "7")))
    kinds = one_of_each_kind()
    asked = []
    for number in range(TRIES * 2):
        name = rng.choice(list(kinds))
        frames = tw.wire.encode([kinds[name]], compress="zlib")
        label = relabelled(rng, json.loads(bytes(frames[0])[8:]))
        raw = [b"ZIO0TENS" + json.dumps(label).encode(), *[bytes(part) for part in frames[1:]]]
        try:
            tensors = tw.wire.decode(raw).tensors
            if any(one.size > 10_000 for one in tensors):
                continue
            found = [{"values": told(one.tolist())} for one in tensors]
        except TensorWrapperError as error:
            found = str(error)
        path = tmp_path / f"x{number}.bin"
        path.write_bytes(tw.wire.encode_frames(raw))
        asked.append((path, label, found))
    sound = 0
    for (_, label, found), answer in zip(
        asked, read_by_node([path for path, *_ in asked], "message"), strict=True
    ):
        assert "crashed" not in answer, (label, answer)
        refused = "tensors" not in answer or any("refused" in one for one in answer["tensors"])
        assert refused == isinstance(found, str), (label, found, answer)
        if not refused:
            assert answer["tensors"] == found, label
            sound += 1
    assert sound >= TRIES / 4
