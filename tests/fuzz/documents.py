"""Targets that read JSON: shapes, masks, selections, graphs, and what other libraries write."""

import contextlib
import json
from functools import cache
from typing import Any

import numpy as np

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Layout, Mask, Shape, Symmetry, Tiling, sharding
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, ParseError, SelectionError, TensorWrapperError
from tensorwrapper.layout import IndexDomain, IndexTransform
from tensorwrapper.remote import Catalogue, Holder, Sharding
from tests.fuzz.mutate import mutate_json
from tests.fuzz.target import Target
from tests.fuzz.texts import SYMMETRIES, TILES, use_shape, use_symmetry, use_tiles
from tests.support.selection.trees.random_trees import tree_of
from tests.support.selection.views import VIEWS
from tests.support.sharding.graphs import linear_and_relu, matmul_and_row_sum, source_and_sink

LIMITS = sel.SchemaLimits(nbytes=1 << 14, positions=1 << 10, work=1 << 16, nodes=1 << 8)
SOURCES = {
    "0": tw.as_tensor(np.arange(24).reshape(4, 6)),
    "1": tw.from_buffer(np.arange(9), Shape(3, 3, origin=(-1, 2))),
    "2": tw.as_tensor([True, False, True]),
    "3": tw.as_tensor(np.arange(40.0).reshape(2, 20))[:, ::3],
}
TABLES = [np.arange(70, dtype="<i8").tobytes(), bytes(8)]
JAGGED = {"rows": tw.jagged([[1, 2, 3], [], [4]]), "words": tw.strings(["a", "b"]), **SOURCES}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


@cache
def _views() -> list[bytes]:
    views = [make() for name, make in VIEWS.items() if name != "part of what is huge"]
    views += [tree_of(seed).view for seed in range(40)]
    found = []
    for view in views:
        for form in ("steps", "normal"):
            with contextlib.suppress(ConversionError):
                found.append(sel.to_json(view, form=form).encode())
    return [text for text in found if len(text) < 4000]


def _use_view(view: sel.View) -> None:
    repr(view)
    view.plan()
    if view.shape.size < 2**16:
        with np.errstate(all="ignore"):
            found = view.compute()
        assert found.shape == view.shape
        assert found.dtype == view.dtype


def _shape_documents() -> list[bytes]:
    shapes = [Shape(), Shape(2, 3, origin=(-1, 5)), Shape.jagged([3, 1, 2]), Shape.jagged([[1, 2], [], [3]])]
    shapes += [Tiling([1, 2], [3, 0, 1]).shape, Shape.triangular(4), Shape.from_layers(Shape(2), Shape(3, 2))]
    shapes += [Shape.jagged([Shape(2, 3, origin=(1, k)) for k in (0, 4)]), Shape.parse("(3, 3|1|2)")]
    shapes += [Shape.from_cells((2, 2), [(1, 2), (3, 4), (0, 0), (5, 6)]), Shape.from_uniform(3, 4)]
    return [shape.to_json().encode() for shape in shapes]


def _mask_documents() -> list[bytes]:
    masks = [
        Mask.parse("(4, 6)[0:3:2, 1|4|5]"),
        Mask(Shape(3, 3), [0, 2], [1]),
        Mask(Shape.jagged([3, 1]), [0]),
    ]
    return [mask.to_json().encode() for mask in masks]


def _catalogues() -> list[bytes]:
    holders = ["tcp://a:1", "ipc:///b", Holder("tcp://c:2", "k" * 40)]
    tiles = Sharding(Tiling([1, 2], [3, 0, 1]), "f4", holders, placements=[[0, 1], [2]])
    rows = Sharding(Tiling([3, 0]), "M8[s]", holders[:2], [1, 0], rows=[2, 5])
    return [Catalogue(own).to_json().encode() for own in ({}, {"x": tiles}, {"x/y": tiles, "rows": rows})]


def _use_catalogue(catalogue: Catalogue) -> None:
    assert Catalogue.from_json(catalogue.to_json()) == catalogue
    for name, own in catalogue.items():
        repr(own)
        for tile in range(min(own.count, 8)):
            own.box_of(tile)
            own.part_name(name, tile)
            own.holders_of(own.tiling.grid.index(tile))


def _use_tiling(tiling: Tiling) -> None:
    repr(tiling)
    hash(tiling)
    assert Tiling.from_json(tiling.to_json()) == tiling


def _use_mask(mask: Mask) -> None:
    repr(mask)
    hash(mask)
    assert Mask.from_json(mask.to_json()) == mask


def _graphs() -> list[bytes]:
    found = [linear_and_relu()[0].to_json(), matmul_and_row_sum()[0].to_json(), json.dumps(source_and_sink())]
    return [text.encode() for text in found]


def _use_graph(graph: sharding.Graph) -> None:
    repr(graph)
    assert sharding.Graph.from_json(graph.to_json()) == graph
    graph.check()


def _messages() -> list[bytes]:
    messages: list[dict[str, Any]] = [
        {"kind": "point", "coords": [1, 2]},
        {"kind": "box", "inclusive_min": [1, ["-inf"]], "inclusive_max": [3, 4], "labels": ["x", ""]},
        {"kind": "slice", "start": [0, 1], "stop": [4, 6], "step": [2, 3]},
        {"kind": "points", "coords": [[0, 0], [3, 5], [1, 1]]},
        {"input_shape": [2, 3], "output": [{"input_dimension": 0, "stride": -2, "offset": 3}, {}]},
        {"input_shape": [2], "output": [{"index_array": [1, 3]}, {"index_array": [5, 0], "stride": 1}]},
    ]
    return [json.dumps(message).encode() for message in messages]


def _read_message(data: bytes) -> Any:
    text = _text(data)
    try:
        return sel.from_ndsel(text, SOURCES["0"])
    except TensorWrapperError:
        return sel.from_tensorstore(text, SOURCES["0"])


def _read_tensorstore(data: bytes) -> Any:
    text = _text(data)
    try:
        return IndexTransform.from_json(text)
    except TensorWrapperError:
        return IndexDomain.from_json(text)


def _use_tensorstore(value: IndexDomain | IndexTransform) -> None:
    repr(value)
    assert type(value).from_json(value.to_json()) == value
    if isinstance(value, IndexTransform):
        layout = Layout.from_tensorstore(value, Shape(4, 6))
        repr(layout)
        if layout.shape.size < 1000:
            layout.to_numpy()


def _tensorstore() -> list[bytes]:
    domains = [IndexDomain(Shape(2, 3, origin=(5, 0)), ["x", ""]).to_json()]
    tables = [
        Layout(Shape(4, 6)).reverse(0),
        Layout(Shape(4, 6)).permute((1, 0)),
        Layout(Shape(4, 6))[1:3, ::2],
    ]
    for layout in tables:
        with contextlib.suppress(TensorWrapperError):
            domains.append(layout.to_tensorstore(Shape(4, 6)).to_json())
    whole = (
        '{"input_exclusive_max":[2,3],"input_inclusive_min":[0,0],"output":[{"input_dimension":1,"stride":-1,'
    )
    whole += '"offset":3},{"index_array":[[0,1,5]],"index_array_bounds":[0,5]}]}'
    return [text.encode() for text in [*domains, whole]]


GRID = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[10, [20, 2]], 3]}}
REGULAR = {"name": "regular", "configuration": {"chunk_shape": [4, 3]}}


def _zarr() -> list[bytes]:
    grids = [(GRID, [50, 9]), (REGULAR, [10, 3]), (Tiling([1, 2], [3, 1]).zarr_grid().to_dict(), [3, 4])]
    return [json.dumps({"grid": grid, "extents": extents}).encode() for grid, extents in grids]


def _parts(data: bytes, *names: str) -> list[Any]:
    """Return the values that a document names, which a caller gives one by one."""
    try:
        value = json.loads(_text(data))
    except (ValueError, RecursionError) as error:
        raise ParseError(f"no JSON: {error}") from error
    return [value.get(name) if isinstance(value, dict) else value for name in names]


def _read_zarr(data: bytes) -> Tiling:
    grid, extents = _parts(data, "grid", "extents")
    return Tiling.from_zarr(json.dumps(grid), extents if isinstance(extents, list) else [1])


def _use_tiling(tiling: Tiling) -> None:
    repr(tiling)
    hash(tiling)
    repr(tiling.shape)


def _awkward() -> list[bytes]:
    found = []
    for shape in (Shape.jagged([3, 1]), Shape(2, 3), Shape.jagged([[1, 2], [], [3]])):
        form, length, buffers = shape.awkward_buffers("float32")
        plain = {key: np.asarray(value).tolist() for key, value in buffers.items()}
        form = json.loads(form) if isinstance(form, str) else form
        found.append(json.dumps({"form": form, "length": length, "buffers": plain}).encode())
    return found


def _read_awkward(data: bytes) -> Shape:
    form, length, buffers = _parts(data, "form", "length", "buffers")
    plain = buffers if isinstance(buffers, dict) else {}
    return Shape.from_awkward(json.dumps(form), length if isinstance(length, int) else 2, plain)


def _read_sizes(data: bytes) -> Shape:
    sizes, metadata = _parts(data, "sizes", "metadata")
    return Shape.from_arrow_tensors(sizes if sizes is not None else [[1, 2]], json.dumps(metadata))


SIZES = [{"sizes": [[1, 2], [3, 4]], "metadata": {"dim_names": ["a", "b"], "permutation": [1, 0]}}]
SIZES += [{"sizes": [[2, 2]], "metadata": {"uniform_shape": [2, None]}}]

TARGETS = [
    Target(
        "ndsel",
        _read_message,
        _messages,
        ("selection.from_ndsel", "selection.from_tensorstore"),
        _use_view,
        mutate=mutate_json,
    ),
    Target(
        "selection-json",
        lambda data: sel.from_json(_text(data), sources=JAGGED, frames=TABLES, limits=LIMITS),
        _views,
        ("selection.from_json", "selection.Node.from_json"),
        _use_view,
        (SelectionError,),
        mutate_json,
    ),
    Target(
        "graph-json",
        lambda data: sharding.Graph.from_json(_text(data)),
        _graphs,
        ("sharding.Graph.from_json",),
        _use_graph,
        mutate=mutate_json,
    ),
    Target(
        "shape-json",
        lambda data: Shape.from_json(_text(data)),
        _shape_documents,
        ("Shape.from_json",),
        use_shape,
        mutate=mutate_json,
    ),
    Target(
        "mask-json",
        lambda data: Mask.from_json(_text(data)),
        _mask_documents,
        ("Mask.from_json",),
        _use_mask,
        mutate=mutate_json,
    ),
    Target(
        "tiles-json",
        lambda data: BlockPattern.from_json(_text(data)),
        lambda: [BlockPattern.parse(text).to_json().encode() for text in TILES],
        ("BlockPattern.from_json",),
        use_tiles,
        mutate=mutate_json,
    ),
    Target(
        "symmetry-json",
        lambda data: Symmetry.from_json(_text(data)),
        lambda: [Symmetry.parse(text).to_json().encode() for text in SYMMETRIES],
        ("Symmetry.from_json",),
        use_symmetry,
        mutate=mutate_json,
    ),
    Target(
        "tiling-json",
        lambda data: Tiling.from_json(_text(data)),
        lambda: [Tiling([1, 2], [3, 0, 1]).to_json().encode(), Tiling([4], origin=(7,)).to_json().encode()],
        ("Tiling.from_json",),
        _use_tiling,
        mutate=mutate_json,
    ),
    Target(
        "tensorstore-json",
        _read_tensorstore,
        _tensorstore,
        ("layout.IndexDomain.from_json", "layout.IndexTransform.from_json", "Layout.from_tensorstore"),
        _use_tensorstore,
        mutate=mutate_json,
    ),
    Target(
        "catalogue-json",
        Catalogue.from_json,
        _catalogues,
        ("remote.Catalogue.from_json", "remote.Catalogue.load"),
        _use_catalogue,
        mutate=mutate_json,
    ),
    Target("zarr-json", _read_zarr, _zarr, ("Tiling.from_zarr",), _use_tiling, mutate=mutate_json),
    Target("awkward-json", _read_awkward, _awkward, ("Shape.from_awkward",), use_shape, mutate=mutate_json),
    Target(
        "arrow-tensors-json",
        _read_sizes,
        lambda: [json.dumps(item).encode() for item in SIZES],
        ("Shape.from_arrow_tensors",),
        use_shape,
        mutate=mutate_json,
    ),
]
