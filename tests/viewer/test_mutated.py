"""Damaged files: the JavaScript reader refuses what Python refuses, and never has other values."""

import contextlib
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
