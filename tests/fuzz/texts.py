"""Targets that read texts: each that can be parsed, and what it is used for at once."""

import contextlib
from collections.abc import Callable
from typing import Any

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Layout, Mask, Shape, Symmetry
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.layout import parse_tiler
from tensorwrapper.selection import Selector
from tensorwrapper.shape import Labels, RowPartitions, ShapePattern
from tensorwrapper.sharding import IndexMap, Projection
from tests.fuzz.mutate import mutate_text
from tests.fuzz.target import Target

SHAPES = [
    "()",
    "(2, 3)",
    "(2, 3)@(1, -4)",
    "(3, 3|1|2)",
    "(3, 2|0|1, 1|2|3)",
    "tiled(1|2, 3|0|1)",
    "(2; 3, 2)",
]
SHAPES += ["triangular(4, lower)", "(2, 2, 1x2|3x4|0x0|5x6)"]
LAYOUTS = ["4:1", "(2,3):(3,1)", "((2,2),4):((1,8),2)", "(4):(-1)+3", "S<2,0,3> o 0 o (4,4):(4,1)"]
LAYOUTS += ["(4,2):(1,4) o 3 o (2,2):(2,1)", "():()", "(0,2):(1,1)", "Sw<1,0,1>  o  0 o 4:1"]
TILERS = ["[4:1;(2,2):(1,8);_]", "[3:1]", "[_;_]", "(2,2):(1,8)"]
MASKS = ["(4, 6)[0:3:2, 1|4|5]", "(3,)[:]", "(4, 6)[1, :]", "(2, 3)[]"]
TILES = ["tiles 0|3|4|5 of (1|2|3, 2|4)", "tiles | of (5, |)@(-1, 7)", "tiles 0 of ()", "tiles 1 of (1|0)"]
SYMMETRIES = ["s8", "ah2", "4: +(0 1)(2 3)* +(0 2)(1 3)", "3: +(0 1 2)", "0:", "8: -(0 1 2 3 4 5 6 7)"]
PATTERNS = [
    "[batch=[2, 5], shape=[height=4, width], channels=3]",
    "[*batch, shape=[height, width], $.channels]",
]
PATTERNS += ["[a, b=[x, y=[j, +k]], c]", "[2, ?, n, m=n, k=?, ..., group=[a, b=4]]", "[a[i], b[j], c[i]]"]
PATTERNS += ["[$batch..., $hwc[$i]=($shape=($height, $width), $channels[$i]), $features[$i]]"]
LABELS = ["i,j", " i , j ", "", "event, hit_kind"]
SQUARE = BlockPattern(tw.Tiling([1, 2], [1, 2]), [(0, 1), (1, 1)])
EQUATIONS = ["ij,jk->ik", "...j->...j", "i,j * j -> i", "i,j*j,k->i,k"]
SELECTORS = [
    "1, ..., ::-2, +3",
    "1:2:1,+1 , ...",
    "",
    "-1::-100000000000000000000",
    ":, 0",
    "+, 0, ..., :, 0",
]
MAPS = ["(i, j) -> (i + 4, 2*j + 5, i + 2*j + 6)", "() -> ()", "(x) -> (-x, 0)", "(i0, i1) -> (i1 - 3*i0)"]
ROWS = ["[2, (3, 1), 5]", "[2, (3, 1), (1, 2, 0, 4)]", "[3]", "[]", "[0, (), 5]"]


def _texts(items: list[str]) -> Callable[[], list[bytes]]:
    return lambda: [item.encode() for item in items]


def _read(parse: Callable[[str], object]) -> Callable[[bytes], Any]:
    # Surrogates stand for what is no UTF-8: a text of Python may have them.
    return lambda data: parse(data.decode("utf-8", "surrogateescape"))


def _use(value: Any) -> None:
    repr(value)
    hash(value)
    text = str(value)
    if "..." not in text:
        assert type(value).parse(text) == value
    assert value == value  # noqa: PLR0124 - equality of anything that was read is answered


def use_shape(shape: Shape) -> None:
    """Ask what costs little for a shape of any size."""
    repr(shape)
    hash(shape)
    str(shape)
    if shape.size < 1000 and shape.rank < 30 and max(shape.as_smooth().extents, default=0) < 100_000:
        assert sum(1 for _ in shape.indices()) == shape.size
        assert Shape.parse(format(shape, "full")) == shape
    if max(shape.as_smooth().extents, default=0) < 2**22:
        # Of more rows the text alone takes what one input may.
        assert Shape.from_json(shape.to_json()) == shape
    assert shape.as_smooth().rank == shape.rank


def _read_layout(text: str) -> list[Any]:
    return [Layout.parse(text), Layout.parse(text, order="colex")]


def _use_layouts(layouts: list[Any]) -> None:
    for layout in layouts:
        repr(layout)
        str(layout)
        hash(layout)
        if layout.shape.size < 1000:
            layout.bounds()
            for index in layout.shape.indices():
                layout.offset_of(index)


def _read_equation(text: str) -> Shape:
    with contextlib.suppress(TensorWrapperError):
        repr(tw.contraction(text, SQUARE, SQUARE))
    left = text.partition("->")[0].count("*" if "*" in text else ",") + 1
    return tw.einsum_shape(text, *[(2, 3), (3, 4), Shape.jagged([1, 2])][:left])


def _use_selector(selector: Selector) -> None:
    _use(selector)
    for given in (Layout(Shape(4, 6)), tw.as_tensor([[1, 2], [3, 4]])):
        with contextlib.suppress(TensorWrapperError):
            repr(selector.apply(given))


def _use_mask(mask: Mask) -> None:
    repr(mask)
    hash(mask)
    assert Mask.from_json(mask.to_json()) == mask
    if mask.shape.size < 1000:
        assert mask.size <= mask.shape.size


def use_symmetry(symmetry: Symmetry) -> None:
    """Ask for all that a reader of labels asks for, and for the text."""
    _use(symmetry)
    assert symmetry.count((3,) * symmetry.rank) <= 3**symmetry.rank
    assert symmetry.canonical(range(symmetry.rank))[1] in (0, 1, -1)
    assert Symmetry.from_json(symmetry.to_json()) == symmetry


def use_tiles(pattern: BlockPattern) -> None:
    """Ask a block pattern for what others need of it."""
    _use(pattern)
    assert BlockPattern.from_json(pattern.to_json()) == pattern
    assert pattern.slots(pattern.tiles()).tolist() == list(range(pattern.count))
    pattern.to_svg()


def _use_rows(rows: RowPartitions) -> None:
    _use(rows)
    use_shape(Shape.from_row_partitions(rows))


def _use_pattern(pattern: ShapePattern) -> None:
    _use(pattern)
    for shape in (Shape(2, 3), Shape(2, 5, 4, 3, 3), Shape.jagged([1, 2])):
        with contextlib.suppress(TensorWrapperError):
            pattern.match(shape)


def _target(name: str, readers: tuple[str, ...], parse: Any, items: list[str], use: Any = _use) -> Target:
    return Target(name, _read(parse), _texts(items), readers, use, mutate=mutate_text)


TARGETS = [
    _target("shape-text", ("Shape.parse",), Shape.parse, SHAPES, use_shape),
    _target("layout-text", ("Layout.parse",), _read_layout, LAYOUTS, _use_layouts),
    _target("tiler-text", ("layout.parse_tiler",), parse_tiler, TILERS, repr),
    _target("mask-text", ("Mask.parse",), Mask.parse, MASKS, _use_mask),
    _target("tiles-text", ("BlockPattern.parse",), BlockPattern.parse, TILES, use_tiles),
    _target("symmetry-text", ("Symmetry.parse",), Symmetry.parse, SYMMETRIES, use_symmetry),
    _target("pattern-text", ("shape.ShapePattern.parse",), ShapePattern.parse, PATTERNS, _use_pattern),
    _target("labels-text", ("shape.Labels.parse",), Labels.parse, LABELS),
    _target("equation-text", ("einsum_shape", "contraction"), _read_equation, EQUATIONS, use_shape),
    _target("selector-text", ("selection.Selector.parse",), Selector.parse, SELECTORS, _use_selector),
    _target("index-map-text", ("sharding.IndexMap.parse",), IndexMap.parse, MAPS),
    _target("projection-text", ("sharding.Projection.parse",), Projection.parse, MAPS),
    _target("rows-text", ("shape.RowPartitions.parse",), RowPartitions.parse, ROWS, _use_rows),
]
