"""What becomes of the names of modes: one table of all operations, which is also that of the guide."""

import inspect
import pathlib
import pickle
import re

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Layout, Shape, Tensor, Tiling
from tensorwrapper import selection as sel
from tensorwrapper.errors import ModeNameError
from tensorwrapper.selection import View

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "guide" / "named-modes.md"
KINDS = {"shape": Shape, "layout": Layout, "tensor": Tensor, "view": View}

BOX = Shape(2, 3, 4).named("x", "y", "z")
ROWS = Shape.jagged([3, 1, 2]).named("e", "h")
SHORT = Shape(1, 3).named("one", "y")


def over(shape, kind):
    """The same indices as a shape, a layout, a tensor and a view."""
    if kind == "shape":
        return shape
    if kind == "layout":
        return Layout(shape)
    tensor = tw.from_buffer(np.arange(shape.size, dtype=np.int64), shape)
    return tensor if kind == "tensor" else sel.as_view(tensor)


def names(found):
    """The names of what an operation made, of the last if it made several."""
    while not hasattr(found, "names") and not hasattr(found, "shape"):
        found = list(found)[-1]
    return (found if isinstance(found, Shape) else found.shape).names


def words(o):
    return tw.strings(["ab"] * o.shape.size, shape=o.shape)


def in_tiles(o):
    return o.tiled(Tiling([3], [2, 2])).named("p", "q", "i", "j")


def window(o):
    return o.window((o if isinstance(o, Shape) else o.shape)[1:])


# What becomes of names; the operation, what it is done to, and the names that it then has. Of operations that
# come twice both hold.
ALL, NONE, XYZ = tuple(KINDS), (None, None, None), ("x", "y", "z")
TENSORS, PQIJ = ("tensor", "view"), ("p", "q", "i", "j")
TABLE = {
    "kept": [
        ("shape", BOX, lambda o: o.shape, XYZ, ("layout", *TENSORS)),
        ("copy", BOX, lambda o: o.copy(), XYZ),
        ("compute", BOX, lambda o: o.compute(), XYZ),
        ("optimize", BOX, lambda o: o[:, ::-1].optimize(), XYZ),
        ("as_written", BOX, lambda o: o[:, ::-1].optimize().as_written(), XYZ),
        ("astype", BOX, lambda o: o.astype("f4"), XYZ),
        ("slice", BOX, lambda o: o.slice((0, 0, 1), (2, 2, 2)), XYZ),
        ("slice_outer", BOX, lambda o: o.slice_outer(0, 1), XYZ),
        ("split", BOX, lambda o: o.split(2, "z"), XYZ),
        ("split_by_extents", BOX, lambda o: o.split_by_extents([1, 1]), XYZ),
        ("difference", BOX, lambda o: o.difference(Shape(2, 3, 2)), XYZ),
        ("partition_by", BOX, lambda o: o.partition_by(Shape(2, 3, 2)), XYZ),
        ("blocks", BOX, lambda o: [o.blocks()] if isinstance(o, Shape) else list(o.blocks(64))[-1], XYZ),
        ("translate_by", BOX, lambda o: o.translate_by((1, 1, 1)), XYZ),
        ("translate_to", BOX, lambda o: o.translate_to((1, 1, 1)), XYZ),
        ("zero_based", ROWS, lambda o: o.zero_based(), ("e", "h")),
        ("as_smooth", ROWS, lambda o: o.as_smooth(), ("e", "h")),
        ("as_jagged", BOX, lambda o: o.as_jagged(), XYZ),
        ("nested", BOX, lambda o: type(o).nested(o, layers=(1, 2)), XYZ),
        ("flatten", Shape.nested(BOX, layers=(1, 2)), lambda o: o.flatten(), XYZ),
        ("reverse", BOX, lambda o: o.reverse(1), XYZ),
        ("rotate", BOX, lambda o: o.rotate((1, 1, 1)), XYZ),
        ("repeat", BOX, lambda o: o.repeat((2, 1, 1)), XYZ),
        ("repeat_each", BOX, lambda o: o.repeat_each(1, 2), XYZ),
        ("gather", BOX, lambda o: o.gather(2, [3, 0, 3]), XYZ),
        ("gather", ROWS, lambda o: o.gather(0, [2, 0]), ("e", "h")),
        ("pad", BOX, lambda o: o.pad([(1, 1), (0, 0), (2, 0)], boundary="wrap"), XYZ),
        ("pad", BOX, lambda o: o.pad([(1, 1), (0, 0), (2, 0)]), XYZ, TENSORS),
        ("pad_rows", BOX, lambda o: o.pad_rows(6), XYZ),
        ("pad_rows", ROWS, lambda o: o.pad_rows(2), ("e", "h")),
        ("to_layout", BOX, lambda o: o.to_layout(Layout(BOX, order="F")), XYZ),
        ("to_dense", BOX, lambda o: tw.sparse([(0, 0, 0)], [1], o.shape).to_dense(), XYZ, ("tensor",)),
        ("to_dense", BOX, lambda o: o.to_dense(), XYZ, ("view",)),
        ("byte_lengths", BOX[:, :1], lambda o: words(o).byte_lengths(), XYZ),
        ("is_valid", BOX[:, :1], lambda o: words(o).is_valid(), XYZ),
        ("fill_null", BOX[:, :1], lambda o: words(o).fill_null("x"), XYZ),
        ("keep_tiles", BOX[0], lambda o: in_tiles(o).keep_tiles([(0, 0)]), PQIJ),
        ("with_tiles", BOX[0], lambda o: in_tiles(o).with_tiles([(0, 0)]), PQIJ),
        ("retiled", BOX[0], lambda o: in_tiles(o).retiled(Tiling([1, 2], [4])), PQIJ),
        ("screened", BOX[0], lambda o: in_tiles(o).screened(9.0), PQIJ),
        ("to_packed", BOX[0, :2, :2], lambda o: (o * 0).to_packed("s2"), ("y", "z")),
    ],
    "those of the remaining modes": [
        ("chip", BOX, lambda o: o.chip(1), ("y", "z")),
        ("element", ROWS, lambda o: o.element((0,)), ("h",)),
        ("element", Shape.nested(BOX, layers=(1, 2)), lambda o: o.element((0,)), ("y", "z")),
        ("cells", ROWS, lambda o: [c for _, c in o.cells()], ("h",)),
        ("cells", Shape.nested(BOX, layers=(1, 2)), lambda o: [c for _, c in o.cells()], ("y", "z")),
        ("outer", ROWS, lambda o: o.outer(), ("e",)),
        ("leading", BOX, lambda o: o.leading(2), ("x", "y")),
        ("squeeze", SHORT, lambda o: o.squeeze(), ("y",)),
        ("rows", ROWS, lambda o: [o.rows()[2]], ("h",)),
        ("rows", BOX, lambda o: list(o.rows()), ("z",)),
        ("row_lengths", BOX, lambda o: o.row_lengths(), ("x",)),
        ("local_index", ROWS, lambda o: o.local_index(0), ("e",)),
        ("run_lengths", ROWS, lambda o: o.run_lengths(), ("e", None)),
        ("reduce_tiles", ROWS, lambda o: o.reduce_tiles(np.add), ("e",)),
        ("tile_norms", BOX[0], lambda o: in_tiles(o).tile_norms(), ("p", "q")),
    ],
    "moved with the modes": [
        ("permute", BOX, lambda o: o.permute(2, 0, 1), ("z", "x", "y")),
        ("permute", BOX, lambda o: o.permute("z", "x", "y"), ("z", "x", "y")),
        ("T", BOX, lambda o: o.T, ("z", "y", "x")),
    ],
    "kept; new modes are unnamed": [
        ("unsqueeze", BOX, lambda o: o.unsqueeze(1), ("x", None, "y", "z")),
        ("sliding_window", BOX, lambda o: o.sliding_window(1, 2), ("x", "y", "z", None)),
        ("broadcast", BOX, lambda o: o.broadcast((5, 2, 3, 4)), (None, "x", "y", "z")),
        ("oindex", BOX, lambda o: o.oindex[:, [0, 1], None], ("x", "y", None, "z")),
        ("vindex", BOX, lambda o: o.vindex[[0, 1], :, [0, 1]], (None, "y")),
    ],
    "none for modes that are merged or cut; the others are kept": [
        ("merge_modes", BOX, lambda o: o.merge_modes(1, 2), ("x", None)),
        ("split_mode", BOX, lambda o: o.split_mode(2, (2, 2)), ("x", "y", None, None)),
        ("diagonal", BOX, lambda o: o.diagonal(0, 1), ("z", None)),
        ("flatten", BOX, lambda o: o.flatten(1), (None, "z"), ("tensor",)),
        ("flatten", ROWS, lambda o: o.flatten(), (None,), ("tensor",)),
        ("unflatten", BOX, lambda o: o.unflatten([1, 1], 0), (None, None, "y", "z")),
        ("unflatten", BOX, lambda o: o.unflatten(2, 2), ("x", "y", None, None)),
    ],
    "none: all modes are new": [
        ("reshape", BOX, lambda o: o.reshape((6, 4)), (None, None)),
        ("simplify", BOX, lambda o: o.simplify(), (None,)),
        ("as_tiled", BOX[0], lambda o: o.as_tiled(Tiling([3], [2, 2])), (None,) * 4),
        ("tiled", BOX[0], lambda o: o.tiled(Tiling([3], [2, 2])), (None,) * 4, TENSORS),
        ("untiled", BOX[0], lambda o: o.tiled(Tiling([3], [2, 2])).untiled(), (None,) * 2),
        ("present_tiles", BOX[0], lambda o: [t for _, t in in_tiles(o).present_tiles()], (None,) * 2),
        ("tile", BOX[0], lambda o: o.tiled(Tiling([3], [2, 2])).tile((0, 1)), (None,) * 2),
        (
            "scatter",
            BOX[0],
            lambda o: o.tiled(Tiling([3], [2, 2])).select_tiles([(0, 1)]).scatter((3, 4)),
            (None, None),
        ),
        ("select_tiles", BOX[0], lambda o: o.tiled(Tiling([3], [2, 2])).select_tiles([(0, 1)]), NONE),
    ],
    "those common to all operands": [
        ("intersect", BOX, lambda o: o.intersect(Shape(2, 2, 2)), XYZ),
        ("hull", BOX, lambda o: o.hull(Shape(2, 2, 2)), XYZ),
        ("concat", BOX, lambda o: Shape.concat([o, Shape(2, 3, 4)]), XYZ),
        ("stack", BOX, lambda o: Shape.stack([o, Shape(2, 3, 4)], mode=1), ("x", None, "y", "z")),
        ("product", BOX, lambda o: Shape.product([o, Shape(2)]), ("x", "y", "z", None)),
        ("from_layers", BOX, lambda o: Shape.from_layers(o, Shape(2)), ("x", "y", "z", None)),
        ("window", BOX, window, XYZ, ("layout", *TENSORS)),
        ("window", Shape(2, 3), lambda o: o.window(Shape(1, 3).named("x", None)), ("x", None)),
        ("broadcast", SHORT, lambda o: o.broadcast(Shape(4, 2, 3).named("n", None, "y")), ("n", "one", "y")),
    ],
    "those given": [
        ("named", BOX, lambda o: o.named("a", None, "z"), ("a", None, "z")),
        ("packed", ROWS, lambda o: Layout.packed(o.shape), ("e", "h"), ("layout",)),
        ("padded", ROWS, lambda o: Layout.padded(o.shape), ("e", "h"), ("layout",)),
        ("aligned", BOX, lambda o: Layout.aligned(o.shape, 8), XYZ, ("layout",)),
        (
            "from_block_offsets",
            ROWS,
            lambda o: Layout.from_block_offsets(o.shape, [0, 3, 4]),
            ("e", "h"),
            ("layout",),
        ),
        ("parse", BOX, lambda o: Shape.parse(str(o)), XYZ, ("shape",)),
        ("from_json", BOX, lambda o: Shape.from_json(o.to_json()), XYZ),
        ("from_arrow_tensors", ROWS, lambda _: arrow_tensors(), (None, "y", "x")),
    ],
}
# Made of numbers alone, which say nothing of names.
NUMBERS = {
    *("from_arrow", "from_awkward", "from_bounds", "from_cells", "from_offsets", "from_row_ids"),
    *("from_row_partitions", "from_starts_stops", "from_torch_jagged", "from_uniform", "jagged", "smooth"),
    *("tiled", "triangular", "from_array_interface", "from_dlpack", "from_halide", "from_mdspan"),
    *("from_memoryview", "from_tensorstore", "parse", "to_torch", "drop_null"),
}

CASES = [
    pytest.param(kind, shape, done, expected, id=f"{name}-{kind}-{number}")
    for rows in TABLE.values()
    for number, (name, shape, done, expected, *kinds) in enumerate(rows)
    for kind in (kinds[0] if kinds else ALL)
    if hasattr(KINDS[kind], name)
]


def arrow_tensors():
    cells = Shape.from_cells((2,), [(2, 2), (1, 1)]).named(None, "y", "x")
    return Shape.from_arrow_tensors(*cells.arrow_tensor_sizes())


@pytest.mark.parametrize(("kind", "shape", "done", "expected"), CASES)
def test_section_5_what_becomes_of_names(kind, shape, done, expected):
    found = done(over(shape, kind))

    assert names(found) == expected


@pytest.mark.parametrize(("kind", "shape", "done", "expected"), CASES)
def test_names_change_nothing_else(kind, shape, done, expected):  # noqa: ARG001
    plain = over(shape.named(*[None] * shape.rank), kind)
    by_name = any(isinstance(constant, str) and constant in XYZ for constant in done.__code__.co_consts)

    assert by_name or told(done(plain)) == told(done(over(shape, kind)))


def told(found):
    while not hasattr(found, "shape") and not isinstance(found, Shape):
        found = list(found)[-1]
    shape = found if isinstance(found, Shape) else found.shape
    plain = shape.named(*[None] * shape.rank)
    if isinstance(found, Shape):
        return plain
    return plain, (found.to_numpy() if isinstance(found, Layout) else found).tolist()


MAKING = re.compile(
    r"\b(Self|Shape(Base)?|Layout|Tensor(Common|Base|Rows)?|View|(Outer|Point)(Indexer|View)|_LayoutT"
    r"|MemoryLayout)\b"
)


def making(cls):
    """The public methods and properties whose result is of one of the four classes, by their annotation."""
    found = set()
    for name, member in inspect.getmembers_static(cls):
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        public = not name.startswith("_") and inspect.isfunction(function)
        if public and MAKING.search(str(inspect.signature(function).return_annotation)):
            found.add(name)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_section_5_no_operation_is_left_out(kind):
    known = {case.id.split("-")[0] for case in CASES if case.id.split("-")[1] == kind}

    assert making(KINDS[kind]) - known <= NUMBERS | ({"layout"} if kind == "tensor" else set())


def test_the_table_of_the_guide_is_this_one():
    rows = [
        re.split(r"\s*\|\s*", line)[1:3] for line in GUIDE.read_text("utf-8").splitlines() if line[:1] == "|"
    ]
    written = {rule: re.findall(r"`(\w+)`", operations) for rule, operations in rows[2:]}
    expected = {rule: sorted({case[0] for case in cases}) for rule, cases in TABLE.items()}

    assert written == expected


BRACKETS = [
    ((0,), ("y", "z")),
    ((slice(None), 1), ("x", "z")),
    ((..., None, slice(0, 2)), ("x", "y", None, "z")),
    ((None, 0, ..., 0), (None, "y")),
    ({"y": 1}, ("x", "z")),
    ({"z": slice(1, 3), "x": 0}, ("y", "z")),
]
LISTS = [
    ([1, 0], ("x", "y", "z")),
    ((slice(None), [True, False, True]), ("x", "y", "z")),
    ((0, slice(None), [1, 2]), ("z", "y")),
    ((slice(None), [0, 1], [1, 2]), ("x", None)),
    (([0, 1], slice(None), [1, 2]), (None, "y")),
    ([[0, 1]], (None, None, "y", "z")),
    ((..., None, [1]), ("x", "y", None, "z")),
    (np.ones((2, 3), dtype=bool), (None, "z")),
]


@pytest.mark.parametrize(("key", "expected"), BRACKETS)
@pytest.mark.parametrize("kind", ["layout", "tensor", "view"])
def test_brackets(kind, key, expected):
    assert names(over(BOX, kind)[key]) == expected


@pytest.mark.parametrize(("key", "expected"), LISTS)
def test_brackets_with_lists(key, expected):
    tensor = over(BOX, "tensor")
    array = tensor.to_numpy()[key]

    for found in (tensor[key], sel.as_view(tensor)[key]):
        assert found.shape.names == expected
        assert found.shape.extents == array.shape
        assert found.tolist() == array.tolist()


def test_a_key_by_name_writes():
    tensor = tw.zeros(Shape(2, 3).named("x", "y"))
    tensor[{"y": 1}] = [7, 8]
    sel.as_view(tensor)[{"x": 0, "y": 0}] = 5

    assert tensor.tolist() == [[5, 7, 0], [0, 8, 0]]
    for wrong in ({"w": 0}, {0: 1}):
        with pytest.raises((IndexError, ModeNameError)):
            tensor[wrong]
    with pytest.raises(IndexError, match="without names"):
        tw.zeros((2,))[{"x": 0}]


X, Y = tw.zeros(Shape(2, 3).named("x", None)), tw.full(Shape(2, 3).named(None, "y"), 1.0)
OTHER = tw.full(Shape(2, 3).named("a", None), 1.0)
COMBINED = {
    "ufunc": lambda a, b: a + b,
    "comparison": lambda a, b: a == b,
    "np.where": lambda a, b: np.where(a > 0, a, b),
    "np.concatenate": lambda a, b: np.concatenate([a, b]),
    "concat": lambda a, b: sel.concat([a, b]),
    "interleave": lambda a, b: sel.interleave([a, b]),
    "where": lambda a, b: sel.where(a > 0, a, b),
    "minimum": sel.minimum,
    "maximum": lambda a, b: sel.maximum(b, a),
}


@pytest.mark.parametrize("what", COMBINED)
def test_what_is_combined_agrees_or_has_no_name(what):
    combine = COMBINED[what]

    assert names(combine(X, Y)) == ("x", "y")
    assert names(combine(X, np.ones((2, 3)))) == ("x", None)
    with pytest.raises(ModeNameError, match=r"mode 0.*'x'.*'a'|mode 0.*'a'.*'x'"):
        combine(X, OTHER)
    with pytest.raises(ModeNameError):  # one name for two modes
        combine(X, tw.full(Shape(2, 3).named(None, "x"), 1.0))


def test_new_modes_of_what_is_stacked_and_reduced():
    assert names(sel.stack([X, Y], mode=1)) == ("x", None, "y")
    assert names(np.stack([X, Y])) == (None, "x", "y")
    assert names(np.add.reduce(over(BOX, "tensor"), axis=1)) == ("x", "z")
    assert names(np.add.reduce(over(BOX, "tensor"), axis=1, keepdims=True)) == XYZ
    assert names(np.add.accumulate(over(BOX, "tensor"), axis=1)) == XYZ
    assert names(np.add.reduce(over(ROWS, "tensor"), axis=-1)) == ("e",)
    assert names(np.multiply.outer(X, over(ROWS, "tensor")[0])) == ("x", None, "h")
    assert names(over(ROWS, "tensor") + over(ROWS, "tensor")[:, :0].row_lengths()) == ("e", "h")


def test_what_is_written_agrees_or_has_no_name():
    for target in (tw.zeros(X.shape), sel.as_view(tw.zeros(X.shape))):
        target.assign(Y)
        target[0] = Y[0]
        with pytest.raises(ModeNameError):
            target.assign(OTHER)
        with pytest.raises(ModeNameError):
            OTHER.accumulate_into(target)
    out = tw.zeros((2, 3))

    assert np.add(X, Y, out=out) is out
    assert names(out) == (None, None)
    with pytest.raises(ModeNameError):
        np.add(X, Y, out=tw.zeros(OTHER.shape))
    kept = tw.zeros((2, 3))
    kept += X

    assert names(kept) == (None, None)


@pytest.mark.parametrize("shape", [BOX, ROWS, Shape.nested(BOX, layers=(1, 2)), Shape.tiled([1, 2], [3])])
def test_values_keep_names_wherever_they_go(shape):
    tensor = over(shape.named("a", "b", "c", None) if shape.rank == 4 else shape, "tensor")

    for again in (pickle.loads(pickle.dumps(tensor)), tensor.copy(), tensor[...], tensor.astype("f8") * 1):
        assert again.shape == tensor.shape
    layout = pickle.loads(pickle.dumps(tensor.layout))

    assert layout == tensor.layout
    assert hash(layout) == hash(tensor.layout)
    assert layout != layout.named(*[None] * shape.rank)
    assert tw.from_buffer(np.arange(shape.size), tensor.shape, layout=layout).shape == tensor.shape


def test_a_tiled_view_may_have_names_of_its_own():
    tensor = over(Shape(3, 3), "tensor").tiled(Tiling([1, 2], [3])).named("p", None, "i", "j")

    for again in (tensor * 2, tensor.copy(), tensor.astype("f8"), pickle.loads(pickle.dumps(tensor))):
        assert again.shape == tensor.shape
        assert again.layout.is_tiled
    assert names(tensor[0, 0]) == ("i", "j")
    assert names([c for _, c in tensor.cells()]) == ("i", "j")


@pytest.mark.parametrize("away", [False, True])
def test_section_5_ufuncs_of_a_tiled_view_keep_its_names_and_its_place(away):
    held = tw.from_buffer(np.arange(12), Shape(3, 4)).tiled(Tiling([1, 2], [2, 2]))
    tensor = held.named("p", "q", None, "j")
    tensor = tensor.window(tensor.shape.slice_outer(1, 2)) if away else tensor

    for found in (-tensor, tensor * 2.0, tensor + tensor.elements().sum(), np.where(tensor > 0, tensor, 0)):
        assert found.shape == tensor.shape
        assert found.layout.is_tiled
    assert (
        np.add(tensor.named(None, "q", None, None), tensor.named("p", None, None, "j")).shape == tensor.shape
    )
    with pytest.raises(ModeNameError):
        tensor + tensor.named("w", "q", None, "j")


def test_a_source_without_names_of_modes_gives_none_and_nodes_know_of_none():
    named = sel.concat([over(BOX, "view"), over(BOX, "tensor")])
    plain = sel.concat([over(Shape(2, 3, 4), "view"), over(Shape(2, 3, 4), "view")])

    assert names(named) == XYZ
    assert all(names(part) == NONE for part in named.expression.node.operands)
    assert names(plain[..., 0]) == (None, None)
    assert named.normal_form().shape == plain.shape


def test_generated_views_have_the_names_of_their_shape():
    assert names(sel.zeros(BOX)) == XYZ
    assert names(sel.iota(BOX, 1)[0]) == ("y", "z")
    assert names(sel.random(BOX, seed=1).compute()) == XYZ
    assert sel.zeros(BOX).expression.node == sel.zeros((2, 3, 4)).expression.node
