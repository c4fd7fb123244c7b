"""The measures of the house: run this script to write ``docs/design/house.md`` anew.

`measures.py` beside it counts; what no script can know, why a number is what it is, stands here.
"""

from collections import Counter
from collections.abc import Iterable

import measures
from measures import (
    EXTENSIONS,
    FACADES,
    FAMILIES,
    ROOT,
    alone,
    depth,
    floor,
    loaded,
    lowlevel,
    rooms,
    said,
    with_tests,
)

PAGE = ROOT / "docs" / "design" / "house.md"

ALONE = {
    "buffer": {
        "ArrowValues": "what is read of Arrow's memory",
        "arrays_from_arrow": "Arrow's memory is read where its strings are; lists become a shape further up",
        "check_kind": "one error for a kind of strings that there is not, wherever it is given",
        "check_offsets": "offsets of other libraries are looked at once, as those of strings are",
        "join_elements": "copies elements, which no other floor may",
        "join_into": "copies elements, which no other floor may",
    },
    "layout": {
        "CopyTable": "a plan knows no memory, and what runs it no layouts: this is what passes between",
        "PlacedRows": "where rows lie, for sums of rows and for rows that several tensors share",
        "expand_positional": "a selector checks each slice of a key before it is read",
        "fastest_first": "a view makes its array in the order that a layout would have",
        "make_blocked": "the rows that several tensors share lie anywhere in each of them",
        "numpys_errors": "NumPy indexes memory by itself, which only tensors have",
        "parse_positional": "a view writes a key down as steps of single modes",
    },
    "tensor": {
        "TensorLibraries": "views are handed over by the same calls",
        "add_all": "sums through a view are whole or not at all, as those into a tensor",
        "CALLS": "what is said of a wrong call is the same for tensors and views",
        "cut_rows": "counts may be a tensor of rows themselves, which says what belongs to which prefix",
        "select_tiles": "a view of tiles is the same layout of places as one of offsets",
        "tile_numbers": "the numbers of tiles are checked when they are written, and a mask is told by them",
        "hand_over": "a view over tasks of Dask is computed by what lives above",
        "labelled_shape": "a lazy array of xarray has names and an origin as one in memory has",
        "tensor_from_arrow": "Arrow's arrays are read by their interface, of whatever class they are",
        "padded_lines": "which shape rows get that are made longer is one rule for both",
        "fit_values": "a write through a view takes what a write to a tensor takes",
        "is_foreign": "collections of Dask leave to others what tensors leave to them",
        "is_running": "an iterator feeds views as it feeds tensors",
        "promoted": "views are promoted as tensors are",
        "read_operand": "collections of Dask take the operands that tensors take",
    },
    "wire": {
        "small_dtype": "requests name types as messages do",
        "write_logical": "requests name types as messages do",
        "Apart": "what `take_apart` returns",
        "Skeleton": "a tensor in chunks is said as one in blocks is",
        "Checksum": "chunks have check sums of their own",
        "checksum_of": "chunks have check sums of their own",
        "Writer": "records of a file are messages with keys of the file in their labels",
        "is_metadata_alone": "a tensor file has no array of such a tensor, which is a tensor all the same",
        "read_apart": "a record says its name beside its tensor, and a reader that knows it reads no JSON",
        "plain_object": "a tensor file says metadata as messages do, and has no messages",
        "read_skeleton": "a tensor in chunks is said as one in blocks is",
        "take_apart": "a tensor in chunks has the parts of one in a message",
    },
}
"""Names of a `lowlevel` that serve one floor, and why they are neither its own nor verbs of a value."""

BEFORE = {
    "buffer": 4106,
    "cli": 1044,
    "drawing": 571,
    "layout": 15380,
    "selection": 13314,
    "shape": 19596,
    "store": 2295,
    "tensor": 4790,
    "testing": 1363,
    "transport": 414,
    "wire": 3942,
    "the ground": 811,
}
"""Lines of each floor in the last tree whose floors had no rooms; sharding was a part of selections."""

MISSED = {
    "calls of `concat([t, t])[1:4].compute()`": (
        "Some 65 calls make two views and their join, and check types, fills, names, extents and origins; "
        "25 take the slice; 60 find what of which part it is, and 50 write it. A quarter of all read one "
        "field: the extents, the box or the origin of a view, the buffer of a tensor. It takes 80 us; it was "
        "248 when there were 519 calls."
    ),
    "import time": (
        "In instructions `selection` meets its target (2.1 times NumPy's), `Tensor` is at it (1.7), `Shape` "
        "does not (1.34 of 1.3): 0.15 is the import of attrs, and 0.18 its own 43 modules and the 16 "
        "classes that attrs makes. What it could do without until later, F order, pictures, texts, joins "
        "and other libraries, is loaded by the first call. In time on a busy machine all three are higher by "
        "0.04 to 0.3, for the system opens every file; `docs/benchmarks.md` has the figures."
    ),
    "`isinstance` and names": (
        "Four ask for `Strided` in every step of a view, since it knows its box without a shape or a call: "
        "the way of one element would be longer; two for what has runs of cells, where addresses are "
        "listed. Any other layout takes the general way at both. Names are looked for at objects of other "
        "libraries, which have no common class."
    ),
    "entries of a floor": (
        "`shape/` has 15, of which 11 are rooms; `labels` needs the base of the facade and the facade "
        "needs `labels`, so the base stands beside the rooms."
    ),
    "lines": (
        "They are more than before, not fewer: what was added since is mostly features (operators, rows of "
        "views, other libraries, files that grow, contracts in `testing`), and each room says what it is."
    ),
}
"""Measures that are not met, and why."""

_LAW = "laws: run on every representation in tests/testing/, and each seen to fail in test_contract.py"
_BASE = "what the parts of a facade stand on; every test of the facade asks it"
_HANDS_ON = "hands on what the rooms below make, one line each; they have the tests"
NO_TEST = {
    "cli/_exit_code.py": "names of numbers; the tests of each command compare them",
    "cli/parsing/_command.py": "says what a command is made of; the tests of the table run each",
    "cli/parsing/_options.py": "options that the tests of the commands give",
    "cli/demo/_far_side.py": "runs in the second process, which tests/cli/demo/test_second_process.py starts",
    "interop/dask/_library.py": "what is called of Dask; the tests of the room call it",
    "layout/facade/_layout_base.py": _BASE,
    "remote/protocol/_events.py": "records of what is said; the tests of requests and answers write each",
    "selection/facade/_view_base.py": _BASE,
    "selection/expressions/_documents.py": "interfaces, which tests/selection/schema/ asks",
    "selection/operations/_operation.py": "an interface; test_table.py asks each operation",
    "shape/facade/_constructors.py": _HANDS_ON,
    "shape/facade/_exchange.py": _HANDS_ON,
    "shape/facade/_parts.py": _HANDS_ON,
    "shape/facade/_queries.py": _HANDS_ON,
    "shape/facade/_ranks.py": "types alone: tests/typing/",
    "shape/_shape_base.py": _BASE,
    "shape/rows/_cell_table.py": "a record of arrays",
    "tensor/_bridge.py": "loads what stands on floors above",
    "tensor/making/_from_buffer.py": "test_convert.py has tensors of buffers beside those of arrays",
    "tensor/_tensor_base.py": _BASE,
    "testing/_index_laws.py": _LAW,
    "testing/_mode_laws.py": _LAW,
    "testing/_part_laws.py": _LAW,
    "testing/_value_laws.py": _LAW,
    "wire/packings/_packing.py": "an interface, and records; every packing keeps its contract",
}
"""Modules that say nothing by themselves, and why: all others have a test of their name."""


def growth() -> list[tuple[str, object, int]]:
    """Return the lines of each floor before there were rooms, and now."""
    now: Counter[str] = Counter()
    for name, files in rooms().items():
        now[floor(name)] += sum(n for _, n in files)
    rows: list[tuple[str, object, int]] = [(name, BEFORE.get(name, ""), now[name]) for name in sorted(now)]
    return [*rows, ("in all", sum(BEFORE.values()), sum(now.values()))]


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table of Markdown."""
    lines = [[str(cell) for cell in row] for row in rows]
    columns = list(head)
    rule = ["---"] * len(columns)
    return "\n".join("| " + " | ".join(line) + " |" for line in [columns, rule, *lines])


def page() -> str:
    """Return the page."""
    sizes = rooms()
    files = sum(map(len, sizes.values()))
    lines = sum(n for found in sizes.values() for _, n in found)
    asked_for = measures.questions()
    columns = [*FAMILIES, "kinds", "names", "boxes"]
    low = lowlevel()
    parts = [
        "# The house in numbers",
        (
            "Written by `docs/house.py`, which reads the sources; a test fails when a number is off by more "
            "than a twentieth. Run `python docs/house.py` to write the page anew. Why the walls stand where "
            "they do is told in [Design](index.md)."
        ),
        "## Rooms",
        (
            "A folder has at most 15 files, and a file at most 1000 lines; those of tests too, whose rooms "
            "are those of the package. `__init__` is not counted. Pages of documentation are found by their "
            "table of contents, and stand in folders by what they are, however many."
        ),
        table(
            ("room", "files", "lines", "what it is for"),
            [
                (f"`{name}`" if "/" in name else name, len(f), sum(n for _, n in f), said(name))
                for name, f in sizes.items()
            ]
            + [("in all", files, lines, "")],
        ),
        "## Contracts",
        (
            "Layers in each import contract of `pyproject.toml`, at most 15. Inside the rooms no two files "
            "may import one another in a circle, which needs no list."
        ),
        table(("contract", "layers"), measures.layers().items()),
        "## Between floors",
        (
            f"Private names of another floor that are used: {len(measures.private_names())}. What a floor "
            "keeps for others beside its public names stands in its `lowlevel`, at most 25 names. Each is "
            "used by two floors, or by those who extend (the tests of extensions, and the contract kits of "
            "`testing`); or there is a reason why it is kept for one."
        ),
        table(
            ("floor", "names in `lowlevel`", "used by one floor only"),
            [(name, len(users), sum(map(alone, users.values()))) for name, users in low.items()],
        ),
        table(
            ("kept for one floor", "used by", "why"),
            [
                (f"`{name}.{k}`", ", ".join(low[name].get(k, [])), why)
                for name, known in ALONE.items()
                for k, why in known.items()
            ],
        ),
        "## What is asked for outside its own room",
        (
            "How often a room asks whether a layout, a buffer or a node is of a class of another room "
            "(`isinstance`, `type(x) is`, `case Class(`; whether it is one at all is not counted), compares "
            "the kind of a shape, or looks for an attribute by name. What can be asked for, a stranger's "
            "class has to be known for; so the numbers should fall. The last column counts the question "
            "whether a shape, or a view, is a box or has layers, which each answers itself: there are ways "
            "that are for boxes alone, such as memory as one array."
        ),
        table(
            ("room", *columns),
            [(f"`{name}`", *[counts[c] or "" for c in columns]) for name, counts in asked_for.items()]
            + [("in all", *[sum(counts[c] for counts in asked_for.values()) for c in columns])],
        ),
        "## Facades",
        (
            "The longest line of classes from a facade to its last base: at most 3, one class over sibling "
            "mixins over one base."
        ),
        table(
            ("facade", "depth", "classes"),
            [
                (
                    f"`{n}`",
                    depth(c),
                    sum(b.__module__.startswith("tensorwrapper") for b in c.__mro__),
                )
                for n, c in FACADES.items()
            ],
        ),
        "## The way of one element",
        (
            "Functions of this package that one operation calls when everything is warm; `s` is a `Shape(3, "
            "4)`, `t` a tensor of it, `v` a view of `t`."
        ),
        table(("operation", "calls", "aim"), [(f"`{k}`", n, aim) for k, (n, aim) in measures.ways().items()]),
        "## What a first use loads",
        "Modules of this package, and classes that attrs makes for it.",
        table(
            ("use", "modules", "attrs classes"),
            [(f"`{k}`", *found) for k, found in loaded().items()],
        ),
        "## Lines before there were rooms",
        "By floor, `__init__` not counted, in the last tree without rooms and in this one.",
        table(("floor", "before", "now"), growth()),
        "## What is missed, and why",
        table(("measure", "why"), MISSED.items()),
        "## Extensions",
        (
            "Files that one has to write or to change in order to add one: its own, in `tests/extending/`, "
            "which adds it from outside the package and runs its contract, and one more for each thing that "
            "a stranger does not have and that file takes: a name that is neither public nor in a "
            "`lowlevel`, a file of other tests."
        ),
        table(
            ("extension", "files", "contract"),
            [(k, 1 + len(found), f"`{EXTENSIONS[k]}`") for k, found in measures.extensions().items()],
        ),
        "## Tests",
        (
            "Modules, and how many of them have a test file of their name in the same room of `tests/`; "
            "laws, tables and contract kits, which run on many modules at once, stand beside these. "
            "`__init__` and `lowlevel`, which only say where names live, are not counted."
        ),
        table(("floor", "modules", "with a test of their name"), [(k, *n) for k, n in with_tests().items()]),
        "These have none, because they say nothing by themselves:",
        table(("module", "why"), [(f"`{path}`", why) for path, why in NO_TEST.items()]),
    ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
