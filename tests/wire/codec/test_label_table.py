"""A table of labels changed in one place, each with what the page of the format says of it.

Each row has the outcome that `docs/format.md` prescribes and the rule that says so: "read", or the reasons of
a refusal. A change that breaks several rules has several reasons, of which the page allows any.
"""

import json
import zlib

import numpy as np
import pytest

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import decode
from tests.support.cases import case
from tests.support.wire.messages import COORDINATES

READ = "read"
S, L, U, Z, M, H = "schema", "layout", "unsupported", "size", "limit", "header"


def i8(*numbers):
    return np.array(numbers, "<i8").tobytes()


PACKED = zlib.compress(bytes(24))
NUMBER = {"dtype": "f", "word": 4, "part": 0}
BASES = {
    "dense": ({**NUMBER, "shape": [2, 3]}, [bytes(24)], [[0.0] * 3] * 2),
    "zlib": (
        {**NUMBER, "shape": [2, 3], "packing": "zlib", "zlib": {"version": 1, "block": 24, "blocks": 1}},
        [PACKED, i8(0, len(PACKED))],
        [[0.0] * 3] * 2,
    ),
    "sparse": (
        {
            **NUMBER,
            "shape": [2],
            "packing": "sparse",
            "sparse": {"version": 1, "shape": [2, 3], "addresses": 1},
        },
        [np.array([5, 7], "<f4").tobytes(), i8(0, 4)],
        [[5.0, 0.0, 0.0], [0.0, 7.0, 0.0]],
    ),
    "string": (
        {
            "dtype": "u",
            "word": 1,
            "part": 0,
            "shape": [3],
            "packing": "string",
            "string": {"version": 1, "shape": [2], "kind": "utf8", "offsets": 1},
        },
        [b"abc", i8(0, 1, 3)],
        ["a", "bc"],
    ),
    "jagged": (
        {
            **NUMBER,
            "shape": [3],
            "packing": "jagged",
            "jagged": {"version": 1, "cell_rank": 1, "splits": [], "cells": 1},
        },
        [bytes(12), i8(0, 2, 3)],
        [[0.0, 0.0], [0.0]],
    ),
    "tiled": (
        {**NUMBER, "shape": [2, 3], "packing": "tiled", "tiled": {"version": 1, "marks": [1, 2]}},
        [bytes(24), i8(0, 1, 2), i8(0, 3)],
        [[[[0.0] * 3]], [[[0.0] * 3]]],
    ),
    "triangular": (
        {
            **NUMBER,
            "shape": [3],
            "packing": "triangular",
            "triangular": {"version": 1, "n": 2, "half": "lower", "diagonal": True},
        },
        [bytes(12)],
        [[0.0], [0.0, 0.0]],
    ),
}
RANK = {"dense": 2, "zlib": 2, "sparse": 2, "string": 1, "jagged": 2, "tiled": 4, "triangular": 2}
BOXES = {"dense", "zlib", "sparse", "string"}
NO_LIST = [1, 0, "x", {}, True, 1.5]
NO_TEXT = [1, True, [], {}, ["dense"], 1.5]
NO_COUNT = [1.0, "1", True, [], {}, 0.5, [1]]
NO_OBJECT = [1, "x", True, [], [1]]

ROWS = []
"""The place of the change, the label, the parts, the reasons (none: it is read), the value, and the rule."""


def add(where, label, parts, reasons, value, rule):
    text = label if isinstance(label, str | bytes) else json.dumps(label)
    ROWS.append(
        (
            f"{where} #{len(ROWS)}",
            text,
            parts,
            reasons if isinstance(reasons, set) else {reasons},
            value,
            rule,
        )
    )


def change(base, key, value, reasons, rule, *, inside=False, read=...):
    """Add the row of an entry with another value of a key, or without it (``...``)."""
    entry, parts, whole = BASES[base]
    place = dict(entry[base]) if inside else dict(entry)
    place[key] = value
    place = {name: one for name, one in place.items() if one is not ...}
    made = {**entry, base: place} if inside else place
    where = f"{base}.{key}={value!r}"[:60]
    add(where, {"TENS": {"tensors": [made]}}, parts, reasons, whole if read is ... else read, rule)


for base, rank in RANK.items():
    box, ordered = base in BOXES, base in {"dense", "zlib"}
    rule = "Origin and order: where each may be"
    for value in ([0] * rank, [5] * rank, [-3] * rank, [2**62] * rank, [-(2**62)] * rank):
        change(base, "origin", value, READ if box else U, rule)
    change(base, "origin", None, READ, "null under origin: the key is absent")
    for value in (
        [0] * (rank + 1),
        [1] * (rank - 1),
        [0.0] * rank,
        [True] * rank,
        ["0"] * rank,
        [None] * rank,
    ):
        change(base, "origin", value, S if box else {S, U}, "origin: one integer for each mode")
    for value in NO_LIST:
        change(base, "origin", value, S if box else {S, U}, "origin: a list")
    for value in ([2**62 + 1] * rank, [-(2**62) - 1] * rank):
        change(base, "origin", value, M if box else {M, U}, "Bounds: a first index is from -2^62 to 2^62")
    order = list(range(rank))
    for key, fine in (("order", order[::-1]), ("ascend", [True] * rank)):
        change(base, key, fine, READ if ordered else U, rule)
        wrong = [None, [*fine, 0], fine[1:], 0, "C", {}, [None] * rank, [[0]] * rank, [0.0] * rank]
        wrong += [[True] * rank, [rank] * rank] if key == "order" else [[1] * rank, ["true"] * rank]
        for value in wrong:
            change(base, key, value, L if ordered else U, "any fault of order and ascend is layout")
    names = ["a", "b", "c", "d"][:rank]
    for value in (names, [None] * rank, [*names[1:], None], ["é" * 255, *names[1:]], None):
        change(base, "mode_names", value, READ, "mode_names: identifiers or null, one for each mode")
    for value in ([*names, "e"], names[1:], ["1"] * rank, ["a b", *names[1:]], ["", *names[1:]], [1] * rank):
        change(base, "mode_names", value, S, "mode_names: identifiers or null, one for each mode")
    for value in (["x" * 256, *names[1:]], [True, *names[1:]], *NO_LIST):
        change(base, "mode_names", value, {S, M}, "mode_names: a list of texts of at most 255 characters")
    if rank > 1:
        change(base, "mode_names", ["a"] * rank, S, "mode_names: no other mode has the name")
    change(base, "layers", None, READ, "null under layers: the key is absent")
    for value in ([rank + 1], [rank, 1], [], [0]):
        change(base, "layers", value, L, "layers add up to the rank")
    for value in ([-1, rank + 1], [float(rank)], [True] * rank, [str(rank)], [None], *NO_LIST):
        change(base, "layers", value, S, "layers: non-negative integers")
    for value in (None, 0):
        change(base, "pointer", value, READ, "pointer: absent, null or 0")
    for value in (1, -1, 0.0, False, True, "", "0x7f", [], {}, 2**64):
        change(base, "pointer", value, U, "pointer: anything else is unsupported")
    for value in (None, {}, {"a": [1]}, [], 1, "x", True):
        change(base, "metadata", value, READ, "metadata of a tensor: any JSON is read")
        change(base, "of_the_application", value, READ, "other keys are ignored")
    change(base, "logical", None, READ, "null under logical: the key is absent")
    change(base, "logical", "no such type", U, "What is not understood: a logical")
    for value in NO_TEXT:
        change(base, "logical", value, S, "logical: a text")
    for value in ("gzip", "", "Dense", "x" * 1000):
        change(base, "packing", value, U, "What is not understood: a packing")
    for value in NO_TEXT:
        change(base, "packing", value, S, "packing: a text")
    change(base, "part", ..., READ, "part: by default the place of the entry")
    for value in (-1, 9, 2**31, 2**63, 2**64):
        change(base, "part", value, L, "layout: a part that does not exist")
    for value in (None, *NO_COUNT):
        change(base, "part", value, S, "part: an integer; null is refused")
    for key in ("dtype", "word", "shape"):
        change(base, key, ..., S, "a required key is missing")
        change(base, key, None, S, "null under a key that is not listed is refused")
    for value in ("q", "", "float32", "F", ">f", "S", "V"):
        change(base, "dtype", value, U, "What is not understood: a dtype")
    for value in NO_TEXT:
        change(base, "dtype", value, S, "dtype: a text")
    change(base, "dtype", "f" * 65, {M, U, S}, "Bounds: dtype has at most 64 characters")
    for value in (3, 5, 7, 64, 2**40):
        change(base, "word", value, U, "What is not understood: a word")
    for value in (0, -1):
        change(base, "word", value, {U, S}, "a word of 0 counts as not known; word counts bytes")
    for value in NO_COUNT:
        change(base, "word", value, S, "word: an integer")
    for value in ([-1], [2, -3], [1.0], [True], ["2"], [None], [[2]], *NO_LIST):
        change(base, "shape", value, S, "shape: a list of non-negative integers")
    change(base, "shape", [2**36 + 1], M, "Bounds: extent")
    change(base, "shape", [1] * 65, {M, S}, "Bounds: rank")
    change(base, "shape", [4], {Z, L, S}, "a part has exactly as many bytes as its shape says")
    if base == "dense":
        continue
    change(base, base, ..., S, "an object of the name of the packing")
    for value in (None, *NO_OBJECT):
        change(base, base, value, S, "an object of the name of the packing")
    change(base, "version", ..., S, "a required key is missing", inside=True)
    for value in (0, 2, -1, 2**40):
        change(base, "version", value, U, "version: 1; a reader refuses others", inside=True)
    for value in (None, *NO_COUNT):
        change(base, "version", value, {S, U}, "version: an integer", inside=True)
    change(base, "of_nobody", 1, READ, "Keys that are not listed are ignored", inside=True)

WITHIN = {
    ("sparse", "addresses"): [(L, -1, 9), (S, ..., None, 1.0, "1", True, [1])],
    ("sparse", "fill"): [(READ, None), (L, -1, 9), (Z, 0, 1), (S, 1.0, "1", True, [1])],
    ("sparse", "shape"): [
        (READ, [6], [2, 3], [9]),
        (S, ..., None, [-1], [2.0, 3], "x", 6),
        (L, [4], [0]),
        (M, [2**36 + 1]),
    ],
    ("sparse", "packing"): [(READ, None, "dense"), (U, "gzip", "sparse", "zlib"), (S, 1, True, [])],
    ("string", "kind"): [(READ, "utf8", "binary"), (S, ..., None, 1, "text", "UTF8", "", True)],
    ("string", "form"): [(READ, None, "offsets"), (U, "views", "", 1, True, [])],
    ("string", "offsets"): [(L, -1, 9), (S, ..., None, 1.0, "1", True, [1])],
    ("string", "validity"): [(READ, None), (L, -1, 9), (Z, 0, 1), (S, 1.0, "1", True, [1])],
    ("string", "shape"): [
        (READ, [2], [1, 2]),
        (S, ..., None, [-2], "x", 2),
        (Z, [3], [0], [1]),
        (M, [2**36 + 1]),
    ],
    ("jagged", "cell_rank"): [(S, ..., None, 0, -1, 1.0, "1", True), ({Z, L}, 2), (M, 64, 2**40)],
    ("jagged", "splits"): [(S, ..., None, 1, "x", [1.0], ["1"], [None]), (L, [9], [-1]), ({Z, L}, [1])],
    ("jagged", "cells"): [(S, ..., None, 1.0, "1", True, []), (L, 9, -1), ({Z, L}, 0)],
    ("jagged", "origins"): [
        (READ, None, [0, 0], [5, -2], [2**62, 0]),
        (S, [0], [0, 0, 0], [0.0, 0], [None, 0], 1, "x", {}, [0, {"part": 1.0}], [0, {}]),
        ({S, Z}, [{"part": 1}, 0]),
        (M, [2**62 + 1, 0], [0, -(2**62) - 1]),
        (L, [0, {"part": 9}], [0, {"part": -1}]),
        (Z, [0, {"part": 1}]),
    ],
    ("tiled", "marks"): [
        (S, ..., None, [], 1, "x", [1.0, 2], [None, 2]),
        (L, [1, 9], [-1, 2]),
        ({Z, L}, [1], [2, 1], [1, 1]),
    ],
    ("triangular", "n"): [(S, ..., None, 1.0, "2", True, -1), (Z, 0, 1, 3), (M, 2**36 + 1)],
    ("triangular", "half"): [(READ, "lower", "upper"), (S, ..., None, 1, "Lower", "", True)],
    ("triangular", "diagonal"): [(READ, True), (S, ..., None, 1, 0, "true"), (Z, False)],
    ("zlib", "block"): [
        (READ, 28, 2**24),
        (S, ..., None, 24.0, "24", True),
        ({Z, L}, 20, 4),
        ({M, S, L, Z}, 0, -4, 2**24 + 4, 23),
    ],
    ("zlib", "blocks"): [(S, ..., None, 1.0, "1", True), (L, 9, -1)],
    ("zlib", "shuffle"): [(READ, True, False), (S, None, 1, "true")],
    ("zlib", "packing"): [(READ, None, "dense"), (U, "gzip", "sparse", "zlib"), (S, 1, True, [])],
}
for (base, key), groups in WITHIN.items():
    for reasons, *values in groups:
        for value in values:
            change(base, key, value, reasons, f"the row {key} of {base}", inside=True, read=None)

FINE = {"tensors": [BASES["dense"][0]]}
WHOLE = [
    (
        READ,
        "TENS is found by its key",
        [{"TENS": FINE}, {"TENS": FINE, "flow": "DAT"}, {"TENS": {**FINE, "more": 1}}],
    ),
    (
        READ,
        "no tensors",
        [
            {},
            {"TENS": None},
            {"TENS": {}},
            {"TENS": {"metadata": {}}},
            {"TENS": {"tensors": []}},
            {"tens": 1},
        ],
    ),
    (READ, "any JSON is a label", ["null", "[]", "1", '"x"', "true", "", " ", "\n\t", " {} ", "-0.0", "1e5"]),
    (
        READ,
        "metadata: missing, null and {} are the same",
        [{"TENS": {**FINE, "metadata": m}} for m in (None, {}, {"a": 1})],
    ),
    (READ, "checksums: null is absent", [{"TENS": {**FINE, "checksums": None}}]),
    (S, "TENS: an object", [{"TENS": value} for value in (1, "x", True, [], [FINE])]),
    (
        S,
        "tensors: a list of objects",
        [{"TENS": {"tensors": v}} for v in (None, {}, 1, "x", [1], [None], ["x"], [[]], [True])],
    ),
    (S, "metadata: an object", [{"TENS": {**FINE, "metadata": v}} for v in (1, "x", [], True, [{}])]),
    (
        H,
        "strict JSON",
        [
            "{",
            "}",
            "{]",
            "[1,]",
            "{'a':1}",
            '{"a":01}',
            '{"a":+1}',
            '{"a":.5}',
            '{"a":1.}',
            "nul",
            "tru",
            "//\n{}",
        ],
    ),
    (
        H,
        "strict JSON",
        [
            "NaN",
            "[Infinity]",
            "[-Infinity]",
            '{"a":1e999}',
            '{"a":0x1}',
            '{"a":1}x',
            "{}{}",
            "{},",
            '{"a":"\n"}',
        ],
    ),
    (
        H,
        "duplicate keys",
        [
            '{"a":1,"a":1}',
            '{"TENS":null,"TENS":null}',
            '{"TENS":{"tensors":[],"tensors":[]}}',
            '[{"b":{"a":1,"a":2}}]',
        ],
    ),
    (
        H,
        "byte order marks, half surrogate pairs",
        ["\ufeff{}", '{"a":"\\ud800"}', '{"\\udc00":1}', '["\\ude00\\ud83d"]'],
    ),
    (READ, "a whole surrogate pair", ['{"a":"\\ud83d\\ude00"}']),
    (
        READ,
        "depth: the outermost value counts, 64 are allowed",
        ["[" * 64 + "]" * 64, '{"a":' * 64 + "1" + "}" * 64],
    ),
    (
        H,
        "depth: the outermost value counts, 64 are allowed",
        ["[" * 65 + "]" * 65, '{"a":' * 65 + "1" + "}" * 65],
    ),
    (
        READ,
        "digits: 1000 are allowed",
        ["1" * 1000, f'{{"a":-{"9" * 1000}}}', "0." + "1" * 999, "1e" + "0" * 998 + "1"],
    ),
    (M, "digits: 1000 are allowed", ["1" * 1001, f'{{"a":-{"9" * 1001}}}', "1" * 4300]),
    (H, "other numbers of more than 4300 digits", ["1" * 4301, f'{{"a":-{"9" * 4301}}}']),
    (
        READ,
        "integers are exact, whatever their size",
        [{"TENS": FINE, "a": 2**53 + 1}, {"TENS": FINE, "a": -(2**64) - 1}],
    ),
]
for reasons, rule, labels in WHOLE:
    for label in labels:
        add(f"label {rule}", label, [bytes(24)], reasons, None, rule)
for reasons, value in [
    (READ, {"algorithm": "crc32", "parts": [f"{zlib.crc32(bytes(24)):08x}"]}),
    (READ, {"algorithm": "crc32", "parts": [None]}),
    (READ, {"algorithm": "crc32", "parts": []}),
    ("integrity", {"algorithm": "crc32", "parts": ["00000001"]}),
    (U, {"algorithm": "md5", "parts": []}),
    (U, {"algorithm": "", "parts": []}),
    *[
        (S, {"algorithm": "crc32", "parts": parts})
        for parts in (None, 1, {}, [1], ["1"], ["0" * 16], ["0000000G"], ["ABCDEF01"], [True])
    ],
    *[(S, {"algorithm": value, "parts": []}) for value in (1, None, [], True)],
    *[(S, value) for value in (1, "crc32", [], True, {}, {"algorithm": "crc32"}, {"parts": []})],
    (L, {"algorithm": "crc32", "parts": [None, None]}),
]:
    add(
        "checksums", {"TENS": {**FINE, "checksums": value}}, [bytes(24)], reasons, None, "Check sums of parts"
    )


@pytest.mark.parametrize("rule", sorted({row[-1] for row in ROWS}))
def test_labels_are_read_or_refused_as_the_page_says(rule):
    for name, *row in ROWS:
        if row[-1] == rule:
            with case(name):
                check_label(*row)


def check_label(label, parts, reasons, value, rule):
    frames = [
        b"ZIO0TENS" + (label if isinstance(label, bytes) else label.encode("utf-8", "surrogatepass")),
        COORDINATES,
        *parts,
    ]
    if reasons != {READ}:
        with pytest.raises(RemoteProtocolError) as caught:
            [tensor.tolist() for tensor in decode(frames).tensors]  # some is refused when it is touched
        assert caught.value.reason in reasons, rule
        return
    read = [tensor.tolist() for tensor in decode(frames).tensors]
    assert value is None or read == [value], rule


def test_the_table_has_hundreds_of_rows_of_every_outcome():
    assert len(ROWS) >= 600
    assert {reason for row in ROWS for reason in row[3]} >= {READ, S, L, U, Z, M, H, "integrity"}
