"""What a stranger may send: each attack is refused for its reason, and nothing else is ever raised."""

import json
import tracemalloc

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, SelectionError

HUGE = 10**18
DEEP = 10_000


class Remote:
    """A source that is no tensor."""

    shape = tw.Shape(3)
    dtype = np.dtype("i8")
    version = ""

    def read(self, _selections, _out):
        raise AssertionError("nothing is read")

    def cost(self, _selection):
        return 0


BASE = tw.as_tensor(np.arange(24).reshape(4, 6))
SOURCES = {
    "x": BASE,
    "part": BASE[1:3, 1:3],
    "jagged": tw.jagged([[1], [2, 3]]),
    "remote": Remote(),
    "mask": np.array([True, False]),
    "words": tw.strings(["a", "b"]),
    "bytes": tw.strings([b"a", b"b"]),
}
X = {"of": {"source": "x"}}
ZERO = {"full": 0, "dtype": "<i8", "range": {"start": [0], "end": [2]}}


def _document(of, extents=(4, 6), dtype="<i8", **more):
    span = {"start": [0] * len(extents), "end": list(extents)}
    return {"view": 1, "dtype": dtype, "range": span, "of": of, **more}


def _steps(*ops, extents=(4, 6)):
    return _document({"source": "x"}, extents, ops=list(ops))


def _layout(offset, *modes, of=None, extents=None):
    box = [mode.get("extent", 0) for mode in modes] if extents is None else extents
    return _document(of or {"memory": "x"}, box, layout={"offset": offset, "modes": list(modes)})


def _full(extents, **more):
    return {"full": 0, "dtype": "<i8", "range": {"start": [0] * len(extents), "end": list(extents)}, **more}


def _nested(levels, one, leaf):
    text = json.dumps(leaf)
    for _ in range(levels):
        text = one % text
    return text


def _random(**more):
    node = {"random": "uniform", "algorithm": "philox4x64-10", "seed": 1, "parameters": [0, 1], **more}
    return _document({**node, "dtype": "<f8", "range": {"start": [0], "end": [2]}}, (2,), "<f8")


def _pieces(*pieces, extents):
    views = [[start, step, {"of": _full((count,))}] for start, step, count in pieces]
    return _document({"route": 0, "pieces": views}, extents)


WRAPS = {"of": {"concat": 0, "parts": [X, X]}, "ops": [["repeat", [64, 1]]]}
for _ in range(3):
    WRAPS = {"of": {"concat": 0, "parts": [WRAPS, X]}, "ops": [["repeat", [64, 1]]]}

ATTACKS = [
    # The text itself.
    ("nothing", "", "json"),
    ("no JSON", "{", "json"),
    ("two values", "{} {}", "json"),
    ("a list", "[]", "schema"),
    ("a number", "1", "schema"),
    ("null", "null", "schema"),
    ("a byte order mark", "\ufeff{}", "json"),
    ("a key twice", '{"view":1,"view":1}', "json"),
    ("NaN", json.dumps(_document(_full((2,)))).replace('"full": 0', '"full": NaN'), "json"),
    ("Infinity", json.dumps(_document(_full((2,)))).replace('"full": 0', '"full": -Infinity'), "json"),
    ("a number beyond doubles", json.dumps(_document(_full((2,)))).replace(": 0,", ": 1e999,", 1), "json"),
    ("a lone surrogate", '{"view":"\\ud800"}', "json"),
    ("a comment", '{"view":1 /* one */}', "json"),
    ("100 000 digits", '{"view":' + "1" * 100_000 + "}", "limit"),
    ("100 000 digits of a float", '{"view":0.' + "1" * 100_000 + "}", "limit"),
    ("lists in lists", "[" * DEEP + "]" * DEEP, "limit"),
    ("views in views", _nested(DEEP, '{"of":{"whole":%s}}', X), "limit"),
    ("an open end", "[" * DEEP, "limit"),
    ("two million values", "[" + "0," * (1 << 21) + "0]", "limit"),
    ("a long string", '{"view":"' + "x" * (1 << 24) + '"}', "limit"),
    # The outermost object.
    ("no keys", {}, "schema"),
    ("no version", {**_document(X["of"]), "view": None}, "schema"),
    ("a version that is true", {**_document(X["of"]), "view": True}, "schema"),
    ("a version in words", {**_document(X["of"]), "view": "1"}, "schema"),
    ("a version that is a float", {**_document(X["of"]), "view": 1.0}, "schema"),
    ("version 3", {**_document(X["of"]), "view": 3}, "version"),
    ("numbered views in version 1", {**_document(X["of"]), "nodes": [X]}, "schema"),
    ("a number of nothing", {**_document({"number": 0}), "view": 2}, "bounds"),
    ("a number of itself", {**_document(X["of"]), "view": 2, "nodes": [{"of": {"number": 0}}]}, "bounds"),
    (
        "a number of a later view",
        {**_document(X["of"]), "view": 2, "nodes": [{"of": {"number": 1}}, X]},
        "bounds",
    ),
    ("a number below zero", {**_document({"number": -1}), "view": 2, "nodes": [X]}, "limit"),
    ("a number and more", {**_document({"number": 0, "parts": []}), "view": 2, "nodes": [X]}, "schema"),
    ("a number beside a layout", {**_document({"number": "0"}), "view": 2, "nodes": [X]}, "schema"),
    ("version 0", {**_document(X["of"]), "view": 0}, "version"),
    ("a key too many", _document(X["of"], more=1), "schema"),
    ("no range", {"view": 1, "dtype": "<i8", "of": X["of"]}, "schema"),
    ("another range", _document(X["of"], (4, 5)), "bounds"),
    ("another rank", _document(X["of"], (24,)), "bounds"),
    ("another type", _document(X["of"], dtype="<f8"), "bounds"),
    ("another byte order", _document(X["of"], dtype=">i8"), "bounds"),
    ("an end before its start", {**_document(X["of"]), "range": {"start": [0, 3], "end": [4, 2]}}, "bounds"),
    (
        "a range that wraps 64 bits",
        {**_document(X["of"]), "range": {"start": [0, 0], "end": [4, 2**64 + 6]}},
        "limit",
    ),
    # Names of types.
    *[
        (f"the type {name!r}", _document(X["of"], dtype=name), "schema")
        for name in (
            "i8",
            "=i8",
            "<i9",
            "<f16",
            "|O",
            "<V8",
            "object",
            "float",
            "<i8,<i8",
            "(2,)<i8",
            "<M8[4294967296s]",
            "",
            8,
            None,
            [],
            ["<i8"],
        )
    ],
    # Sources.
    ("a source that was not given", _document({"source": "y"}), "source"),
    ("a source without a name", _document({"source": 0}), "source"),
    ("a source whose name is a list", _document({"source": []}), "source"),
    ("a jagged source as a box", _document({"source": "jagged"}, (2,)), "bounds"),
    (
        "the memory of what is not a tensor",
        _layout(0, {"extent": 3, "stride": 1}, of={"memory": "remote"}),
        "source",
    ),
    (
        "the memory of a jagged tensor",
        _layout(0, {"extent": 3, "stride": 1}, of={"memory": "jagged"}),
        None,
    ),
    ("memory without a layout", _document({"memory": "x"}, (24,)), "schema"),
    (
        "memory around a part",
        _layout(6, {"extent": 2, "stride": 6}, {"extent": 4, "stride": 1}, of={"memory": "part"}),
        None,
    ),
    # What a view is made of.
    ("no kind", _document({}), "schema"),
    ("two kinds", _document({"source": "x", "memory": "x"}), "schema"),
    ("an unknown kind", _document({"run": "x"}), "schema"),
    (
        "a function",
        _document({"compute": "os.system", "dtype": "<i8", "range": {"start": [0], "end": [2]}}),
        "schema",
    ),
    ("of a list", _document([]), "schema"),
    ("an unknown key", _document({"source": "x", "y": 1}), "schema"),
    ("no parts", _document({"concat": 0, "parts": []}), "schema"),
    ("parts that are not a list", _document({"concat": 0, "parts": X}), "schema"),
    ("a part that is not an object", _document({"concat": 0, "parts": [1]}), "schema"),
    ("joined along no mode", _document({"concat": 2, "parts": [X, X]}), "bounds"),
    ("joined along mode -1", _document({"concat": -1, "parts": [X, X]}), "limit"),
    ("joined along mode true", _document({"concat": True, "parts": [X, X]}), "schema"),
    (
        "joined without modes",
        _document({"concat": 0, "parts": [{**X, "ops": [["chip", 0, 0], ["chip", 0, 0]]}]}, ()),
        "bounds",
    ),
    (
        "joined of several types",
        _document({"concat": 0, "parts": [X, {"of": {"cast": "<f8", "part": X}}]}),
        "bounds",
    ),
    (
        "joined of several extents",
        _document({"concat": 0, "parts": [X, {**X, "ops": [["permute", [1, 0]]]}]}),
        "bounds",
    ),
    (
        "stacked of several ranks",
        _document({"stack": 0, "parts": [X, {**X, "ops": [["chip", 0, 0]]}]}),
        "bounds",
    ),
    ("stacked beyond the modes", _document({"stack": 3, "parts": [X, X]}), "bounds"),
    ("no turns", _document({"interleave": 0, "parts": [{**X, "ops": [["slice", 0, 0, 1, 2]]}, X]}), "cover"),
    ("a mask of numbers", _document({"where": [X, X, X]}), "bounds"),
    ("a mask alone", _document({"where": [{"of": {"source": "mask"}}]}, (2,)), "schema"),
    (
        "a mask and one view",
        _document({"where": [{"of": {"source": "mask"}}, {"of": {"source": "mask"}}]}, (2,)),
        "bounds",
    ),
    ("bytes compared", _document({"minimum": [{"of": {"source": "bytes"}}] * 2}, (2,), "bytes"), "bounds"),
    ("bytes cast", _document({"cast": "<i8", "part": {"of": {"source": "bytes"}}}, (2,)), "bounds"),
    ("cast to bytes", _document({"cast": "bytes", "part": X}), "bounds"),
    # Constants and counts.
    ("a constant that wraps", _document({**_full((2,)), "full": 2**63}), "bounds"),
    ("a constant of 400 digits", _document({**_full((2,)), "full": 10**399, "dtype": "<f8"}), "bounds"),
    ("a float that overflows", _document({**_full((2,)), "full": 1e300, "dtype": "<f4"}), "bounds"),
    ("a float for an integer", _document({**_full((2,)), "full": 1.5}), "schema"),
    ("true for an integer", _document({**_full((2,)), "full": True}), "schema"),
    ("1 for true", _document({**_full((2,)), "full": 1, "dtype": "|b1"}), "schema"),
    ("words for a float", _document({**_full((2,)), "full": "Infinity", "dtype": "<f8"}), "schema"),
    ("one number for a complex one", _document({**_full((2,)), "full": 1, "dtype": "<c16"}), "schema"),
    (
        "three numbers for a complex one",
        _document({**_full((2,)), "full": [1, 2, 3], "dtype": "<c16"}),
        "schema",
    ),
    ("a number for a string", _document({**_full((2,)), "full": 1, "dtype": "str"}), "schema"),
    ("a constant of bytes", _document({**_full((2,)), "full": "a", "dtype": "bytes"}), "schema"),
    ("a constant of nothing", _document({**_full((2,)), "full": None}), "schema"),
    (
        "an identity of one mode",
        _document({"eye": 0, "dtype": "<i8", "range": {"start": [0], "end": [2]}}, (2,)),
        "bounds",
    ),
    (
        "counts of times",
        _document({"iota": 0, "steps": [1], "dtype": "<M8[s]", "range": {"start": [0], "end": [2]}}, (2,)),
        "schema",
    ),
    (
        "too few steps of counts",
        _document({"iota": 0, "steps": [], "dtype": "<i8", "range": {"start": [0], "end": [2]}}, (2,)),
        "bounds",
    ),
    ("rank 65", _document(_full((1,) * 65), (1,) * 65), "limit"),
    ("rank 33", _document(_full((1,) * 33), (1,) * 33), "limit"),
    ("a negative extent", _document({**ZERO, "range": {"start": [0], "end": [-1]}}), "bounds"),
    ("a box of 10^36", _document(_full((HUGE, HUGE)), (HUGE, HUGE)), "limit"),
    ("a box of 10^18", _document(_full((HUGE,)), (HUGE,)), "limit"),
    ("an extent of 10^30", _document(_full((10**30,)), (10**30,)), "limit"),
    # Random numbers.
    ("another generator", _random(algorithm="pcg64"), "version"),
    ("no generator", _random(algorithm=None), "version"),
    ("another distribution", _random(random="cauchy"), "schema"),
    ("a distribution that is a list", _random(random=[]), "schema"),
    ("a negative seed", _random(seed=-1), "limit"),
    ("a seed of 65 bits", _random(seed=2**64), "limit"),
    ("a seed of words", _random(seed="1"), "schema"),
    ("one parameter", _random(parameters=[0]), "bounds"),
    ("a parameter of words", _random(parameters=[0, "one"]), "schema"),
    ("a parameter that is true", _random(parameters=[0, True]), "schema"),
    ("bounds in the wrong order", _random(parameters=[1, 0]), "bounds"),
    ("infinite bounds", _random(parameters=[0, "inf"]), "bounds"),
    ("a parameter of other extents", _random(parameters=[0, X]), "bounds"),
    ("a parameter of strings", _random(parameters=[0, {"of": {"source": "words"}}]), "bounds"),
    # Steps.
    ("steps that are not a list", {**_document(X["of"]), "ops": {}}, "schema"),
    ("a step that is not a list", _steps("reverse"), "schema"),
    ("an empty step", _steps([]), "schema"),
    ("an unknown step", _steps(["__class__"]), "schema"),
    ("a step that is a number", _steps([1]), "schema"),
    ("too many arguments", _steps(["chip", 0, 0, 0]), "schema"),
    ("too few arguments", _steps(["chip"]), "schema"),
    ("a float for a mode", _steps(["chip", 0.0, 0]), "schema"),
    ("true for a mode", _steps(["chip", True, 0]), "schema"),
    ("words for a mode", _steps(["chip", "0", 0]), "schema"),
    ("null for a mode", _steps(["chip", None, 0]), "schema"),
    ("a list for a mode", _steps(["chip", [0], 0]), "schema"),
    ("mode -1", _steps(["chip", -1, 0]), "limit"),
    ("mode 2 of 2", _steps(["chip", 2, 0]), "bounds"),
    ("position 4 of 4", _steps(["chip", 0, 4]), "bounds"),
    ("position -1", _steps(["chip", 0, -1]), "limit"),
    ("step 0", _steps(["slice", 0, 0, 0, 2]), "bounds"),
    ("a slice past the end", _steps(["slice", 0, 2, 1, 3]), "bounds"),
    ("a slice before the start", _steps(["slice", 0, 1, -1, 3]), "bounds"),
    ("a slice that begins at -1", _steps(["slice", 0, -1, 1, 1]), "bounds"),
    ("a slice of count -1", _steps(["slice", 0, 0, 1, -1]), "limit"),
    ("a slice of 10^18", _steps(["slice", 0, 0, 1, HUGE]), "bounds"),
    ("a slice in steps of 10^18", _steps(["slice", 0, 0, HUGE, 2]), "bounds"),
    ("a slice of mode 7", _steps(["slice", 7, 0, 1, 1]), "bounds"),
    ("an order with one mode twice", _steps(["permute", [0, 0]]), "bounds"),
    ("an order of sum 3 with modes twice", _steps(["unsqueeze", 0], ["permute", [1, 1, 1]]), "bounds"),
    ("an order that is short", _steps(["permute", [0]]), "bounds"),
    ("an order that is a number", _steps(["permute", 0]), "schema"),
    ("a squeeze of a long mode", _steps(["squeeze", [0]]), "bounds"),
    ("a new mode far away", _steps(["unsqueeze", 9]), "bounds"),
    ("65 new modes", _steps(*[["unsqueeze", 0]] * 65), "limit"),
    ("a rotation by too few", _steps(["rotate", [1]]), "bounds"),
    ("a rotation by 10^30", _steps(["rotate", [10**30, 0]]), "limit"),
    ("a repetition of 10^18", _steps(["repeat", [HUGE, 1]]), "limit"),
    ("a repetition of -1", _steps(["repeat", [-1, 1]]), "limit"),
    ("a repetition of too many modes", _steps(["repeat", [1, 1, 1]]), "bounds"),
    ("each 10^18 times", _steps(["repeat_each", 0, HUGE]), "limit"),
    ("each of mode 5", _steps(["repeat_each", 5, 1]), "bounds"),
    ("each of a rotation 10^8 times", _steps(["rotate", [1, 0]], ["repeat_each", 0, 10**8]), "limit"),
    ("a pad of 2^40", _steps(["pad", [[2**40, 0], [0, 0]], "reflect"]), "limit"),
    ("a wrapped pad of 2^40", _steps(["pad", [[0, 2**40], [0, 0]], "wrap"]), "limit"),
    ("a pad of -1", _steps(["pad", [[-1, 0], [0, 0]], "edge"]), "limit"),
    ("a pad of one mode", _steps(["pad", [[1, 0]], "edge"]), "bounds"),
    ("a pad of triples", _steps(["pad", [[1, 0, 0], [0, 0]], "edge"]), "schema"),
    ("a pad with a constant", _steps(["pad", [[1, 0], [0, 0]], "constant"]), "schema"),
    ("a pad in a list", _steps(["pad", [[1, 0], [0, 0]], ["edge"]]), "schema"),
    ("a pad of nothing", _steps(["slice", 0, 0, 1, 0], ["pad", [[1, 0], [0, 0]], "edge"]), "bounds"),
    ("a constant pad of 2^60", _document({"pad": [[2**60, 0], [0, 0]], "value": 0, "part": X}), "limit"),
    ("a constant pad of one mode", _document({"pad": [[1, 0]], "value": 0, "part": X}), "bounds"),
    ("a constant pad without a value", _document({"pad": [[1, 0], [0, 0]], "part": X}), "schema"),
    ("a broadcast of a long mode", _steps(["broadcast", [4, 7]]), "bounds"),
    ("a broadcast to 10^18", _steps(["broadcast", [HUGE, 4, 6]]), "limit"),
    ("a broadcast to fewer modes", _steps(["broadcast", [6]]), "bounds"),
    ("a broadcast to rank 65", _steps(["broadcast", [1] * 63 + [4, 6]]), "limit"),
    ("a window of 7 in 6", _steps(["sliding_window", 1, 7]), "bounds"),
    ("a window of 10^18", _steps(["sliding_window", 1, HUGE]), "bounds"),
    ("a diagonal of one mode", _steps(["diagonal", 0, 0]), "bounds"),
    ("a diagonal of mode 9", _steps(["diagonal", 0, 9]), "bounds"),
    ("another size", _steps(["reshape", [5, 5]]), "bounds"),
    ("what is left", _steps(["reshape", [-1]]), "limit"),
    ("a size that wraps to the same", _steps(["reshape", [2**62, 2**62, 24]]), "bounds"),
    ("a mode split unevenly", _steps(["split_mode", 1, [4, 2]]), "bounds"),
    ("modes merged backwards", _steps(["merge_modes", 1, 0]), "bounds"),
    ("a gather past the end", _steps(["gather", 0, [4]]), "bounds"),
    ("a gather of -1", _steps(["gather", 0, [-1]]), "bounds"),
    ("a gather of floats", _steps(["gather", 0, [0.0]]), "schema"),
    ("a gather of bools", _steps(["gather", 0, [True]]), "schema"),
    ("a gather of 2^70", _steps(["gather", 0, [2**70]]), "limit"),
    ("a gather of mode 3", _steps(["gather", 3, [0]]), "bounds"),
    ("points past the end", _steps(["points", [24]]), "bounds"),
    ("points before the start", _steps(["points", [-1]]), "bounds"),
    # Layouts.
    (
        "steps and a layout of steps",
        {**_layout(0, {"extent": 3, "stride": 1}), "ops": [["chip", 0, 9]]},
        "bounds",
    ),
    ("one place past the end", _layout(1, {"extent": 24, "stride": 1}), "bounds"),
    ("one place before the start", _layout(-1, {"extent": 24, "stride": 1}), "bounds"),
    ("backwards past the start", _layout(22, {"extent": 24, "stride": -1}), "bounds"),
    (
        "a sum of strides past the end",
        _layout(0, {"extent": 4, "stride": 6}, {"extent": 7, "stride": 1}),
        "bounds",
    ),
    ("strides that wrap 64 bits", _layout(0, {"extent": 5, "stride": 2**62}), "bounds"),
    ("strides of 2^63", _layout(0, {"extent": 3, "stride": 2**63}), "limit"),
    ("a table past the end", _layout(0, {"extent": 2, "table": [0, 24]}), "bounds"),
    ("a table before the start", _layout(0, {"extent": 2, "table": [0, -1]}), "bounds"),
    ("a table of another extent", _layout(0, {"extent": 3, "table": [0, 1]}), "bounds"),
    ("a cycle past the end", _layout(1, {"extent": 3, "cycle": [0, 1, 24, 1, 1]}, extents=(3,)), None),
    ("a cycle that reaches the end", _layout(1, {"extent": 30, "cycle": [0, 1, 24, 1, 1]}), "bounds"),
    ("modulus 0", _layout(0, {"extent": 3, "cycle": [0, 1, 0, 1, 1]}), "limit"),
    ("hold 0", _layout(0, {"extent": 3, "cycle": [0, 1, 3, 0, 1]}), "limit"),
    ("a negative modulus", _layout(0, {"extent": 3, "cycle": [0, 1, -3, 1, 1]}), "limit"),
    ("a cycle of 2^60", _layout(0, {"extent": 3, "cycle": [2**60, 1, 3, 1, 1]}), "limit"),
    ("a long cycle", _layout(0, {"extent": HUGE, "cycle": [0, 1, 3, 1, 1]}), "limit"),
    ("a cycle of four", _layout(0, {"extent": 3, "cycle": [0, 1, 3, 1]}), "schema"),
    ("a cycle without a start", _layout(0, {"extent": 3, "cycle": [None, 1, 3, 1, 1]}), "schema"),
    ("a stride and a table", _layout(0, {"extent": 1, "stride": 1, "table": [0]}), "schema"),
    ("a mode without an extent", _layout(0, {"stride": 1}), "schema"),
    ("a mode of extent -1", _layout(0, {"extent": -1, "stride": 1}), "limit"),
    (
        "a mode that is a number",
        _layout(0, {"extent": 1, "stride": 1}) | {"layout": {"offset": 0, "modes": [1]}},
        "schema",
    ),
    ("a layout without an offset", _document({"memory": "x"}, layout={"modes": []}), "schema"),
    ("65 modes", _layout(0, *[{"extent": 1, "stride": 0}] * 65), "limit"),
    ("a repetition of all memory", _layout(0, {"extent": HUGE, "stride": 0}), "limit"),
    (
        "a layout of a constant that leaves it",
        _layout(0, {"extent": 3, "stride": 1}, of=_full((2,))),
        "bounds",
    ),
    # Shared modes.
    ("no pieces", _document({"route": 0, "pieces": []}), "schema"),
    ("a piece of two", _document({"route": 0, "pieces": [[0, 1]]}), "schema"),
    ("a gap", _pieces((0, 1, 2), (3, 1, 2), extents=(4,)), "cover"),
    ("an overlap", _pieces((0, 1, 2), (1, 1, 2), extents=(4,)), "cover"),
    ("a piece past the end", _pieces((0, 1, 2), (2, 2, 2), extents=(4,)), "cover"),
    ("a late first piece", _pieces((1, 1, 2), extents=(2,)), "cover"),
    ("turns that meet", _pieces((0, 2, 3), (0, 3, 2), (1, 1, 1), extents=(6,)), "cover"),
    ("turns that meet late", _pieces((0, 2, 4), (1, 3, 3), (3, 1, 1), (5, 1, 1), extents=(9,)), "cover"),
    ("a piece in steps of 0", _pieces((0, 0, 2), extents=(2,)), "limit"),
    ("a piece that begins at -1", _pieces((-1, 1, 2), extents=(2,)), "limit"),
    ("a piece in steps of 2^62", _pieces((0, 2**62, 2), extents=(2,)), "cover"),
    ("a mode that is not there", _document({"route": 1, "pieces": [[0, 1, {"of": _full((2,))}]]}), "bounds"),
    ("pieces of 10^18", _pieces((0, 1, HUGE), (HUGE, 1, HUGE), extents=(2 * HUGE,)), "limit"),
    # Work that multiplies.
    ("repetitions of repetitions", _document(WRAPS["of"], (4, 6), ops=WRAPS["ops"]), "limit"),
    (
        "all that is repeated, again",
        _steps(*[["broadcast", [3] * k + [4, 6]] for k in range(1, 31)]),
        "limit",
    ),
    (
        "a chain of orders",
        _steps(*[["permute", [1, 0]], ["reshape", [24]], ["reshape", [6, 4]]] * 200),
        "limit",
    ),
    (
        "tables of 10^8 in all",
        _steps(*[["repeat_each", 0, 1 << 21], ["slice", 0, 0, 1 << 21, 4]] * 40),
        "limit",
    ),
]


def _text(attack):
    return attack if isinstance(attack, str) else json.dumps(attack)


@pytest.mark.parametrize(("attack", "reason"), [row[1:] for row in ATTACKS], ids=[row[0] for row in ATTACKS])
def test_attacks_are_refused_for_their_reason_and_cost_little(attack, reason):
    text = _text(attack)
    tracemalloc.start()
    try:
        if reason is None:
            sel.from_json(text, sources=SOURCES)
            return
        with pytest.raises(SelectionError) as caught:
            sel.from_json(text, sources=SOURCES)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.reason == reason
    assert len(str(caught.value)) < 1000
    assert peak < 1 << 26


TABLE = (
    '{"dtype":"<i8","of":{"source":"x"},"ops":[["gather",0,{"frame":0}]],'
    '"range":{"end":[2],"start":[0]},"view":1}'
)


@pytest.mark.parametrize("frame", ["0123456789abcdef", 16, None, [1, 0]], ids=repr)
def test_a_frame_that_is_no_bytes_is_refused(frame):
    with pytest.raises(SelectionError, match="not bytes") as caught:
        sel.from_json(TABLE, sources={"x": [5, 6]}, frames=[frame])
    assert caught.value.reason == "source"


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_frame_is_any_bytes_of_which_all_count(kind):
    raw = np.array([1, 0])
    for frame in (kind(raw.tobytes()), memoryview(raw)):
        assert sel.from_json(TABLE, sources={"x": [5, 6]}, frames=[frame]).tolist() == [6, 5]
        with pytest.raises(SelectionError) as caught:
            sel.from_json(TABLE, sources={"x": [5, 6]}, frames=[frame], limits=sel.SchemaLimits(positions=1))
        assert caught.value.reason == "limit"


@pytest.mark.parametrize("given", [None, [[5, 6]], np.arange(3), "x"])
def test_sources_have_names(given):
    with pytest.raises(ConversionError, match="mapping"):
        sel.from_json(TABLE, sources=given)


@pytest.mark.parametrize(
    "make",
    [
        lambda t: t,
        lambda t: t[1:],
        lambda t: t.permute(1, 0, 3, 2),
        lambda t: tw.concat([t, t]),
    ],
)
def test_views_of_tensors_in_blocks_are_read_in_blocks(make):
    cut = tw.Tiling([1, 2, 1], [1, 2, 1])
    plain = tw.blocks({(1, 0): [[2.0], [3.0]], (2, 2): [[4.0]]}, cut)
    symmetric = tw.blocks({(1, 0): [[2.0], [3.0]], (2, 2): [[4.0]]}, cut, symmetry="s2")
    for source in (plain, symmetric):
        view = sel.as_view(make(sel.as_view(source)))
        text = sel.to_json(view, sources={"s": source})
        again, here = sel.from_json(text, sources={"s": source}).compute(), view.compute()
        assert again.array_equal(here)
        assert again.pattern == here.pattern


def test_views_of_symmetric_boxes_are_read_as_they_are():
    source = tw.from_packed(np.arange(6.0), "s2", (3, 3))
    for view in (sel.as_view(source), sel.as_view(source)[1:, 1:], sel.as_view(source).permute(1, 0)):
        again = sel.from_json(sel.to_json(view, sources={"s": source}), sources={"s": source}).compute()
        assert again.symmetry == view.compute().symmetry
        assert again.tolist() == view.compute().tolist()
