"""Every kind of tensor to and from every library: over the same memory, copied, or refused with which words.

``python -m tests.support.library_table`` writes the page, and needs all of the libraries;
tests/interop/test_table.py compares it with what those do that are installed.
"""

import importlib.util
import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

import tensorwrapper as tw
from tensorwrapper.errors import TensorWrapperError
from tests.support.selection.kinds import KINDS as LEAVES

PAGE: Final = Path(__file__).parents[2] / "docs" / "guide" / "libraries" / "table.md"


def _with_nulls(n: int, first: int) -> tw.Tensor[Any]:
    """Return rows of which every third element is a null, with zero under it."""
    rows = LEAVES["jagged"](n, first).astype("f8")
    valid = tw.from_buffer(np.arange(rows.size) % 3 > 0, rows.shape)
    return tw.nullable(rows * valid, valid)


KINDS: Final[dict[str, Callable[[int, int], tw.Tensor[Any]]]] = {**LEAVES, "rows with nulls": _with_nulls}
SHARED, COPIED = "zero-copy", "copy"


def plain(kind: str) -> tw.Tensor[Any]:
    """Return a small tensor of a kind."""
    return KINDS[kind](2, 5)


def _arrow_memory(array: Any) -> Any:
    while hasattr(array, "storage"):
        array = array.storage
    while hasattr(array, "values"):
        array = array.values
    is_text = any(word in str(array.type) for word in ("string", "binary"))
    return np.frombuffer(array.buffers()[2 if is_text else 1], np.uint8)


def _awkward_memory(array: Any) -> Any:
    node = array.layout
    while not hasattr(node, "data"):
        node = node.content
    return node.data


def _torch_memory(tensor: Any) -> Any:
    if tensor.is_sparse:
        return tensor._values().numpy()
    return (tensor.values() if tensor.is_nested else tensor).numpy()


def _pandas_memory(table: Any) -> Any:
    found = table.array if hasattr(table, "array") else None
    if hasattr(found, "_pa_array"):
        return _arrow_memory(found._pa_array.chunk(0))
    if found is None and all(hasattr(kind, "subtype") for kind in table.dtypes):
        return table.iloc[:, 0].array.sp_values
    return table.to_numpy()


def _polars_memory(series: Any) -> Any:
    if str(series.dtype) == "List(Float64)":
        return _arrow_memory(series.to_arrow())
    while str(series.dtype).startswith(("List", "Array")):
        series = series.explode()
    return np.empty(0) if str(series.dtype) == "String" else series.to_numpy()


def _dask_memory(found: Any) -> Any:
    key = next(iter(importlib.import_module("dask.core").flatten(found.__dask_keys__())))
    chunk = dict(found.__dask_graph__())[key]
    return _memory(chunk) if isinstance(chunk, tw.Tensor) else chunk


OUT: Final[dict[str, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "NumPy: `np.asarray(t)`": ("numpy", np.asarray, lambda x: x),
    "DLPack: `np.from_dlpack(t)`": ("numpy", np.from_dlpack, lambda x: x),
    "Awkward Array: `t.to_awkward()`": ("awkward", lambda t: t.to_awkward(), _awkward_memory),
    "Arrow: `t.to_arrow()`, `pa.array(t)`": ("pyarrow", lambda t: t.to_arrow(), _arrow_memory),
    'Arrow: `t.to_arrow("tensor")`': ("pyarrow", lambda t: t.to_arrow("tensor"), _arrow_memory),
    "PyTorch: `t.to_torch()`": ("torch", lambda t: t.to_torch(), _torch_memory),
    "pandas: `t.to_pandas()`": ("pandas", lambda t: t.to_pandas(), _pandas_memory),
    "xarray: `t.to_xarray()`": ("xarray", lambda t: t.to_xarray(), lambda x: x.data),
    "SciPy: `t.to_scipy()`": ("scipy", lambda t: t.to_scipy(), lambda x: x.data),
    "pydata/sparse: `t.to_pydata()`": ("sparse", lambda t: t.to_pydata(), lambda x: x.data),
    "Dask: the first chunk of `t.to_dask()`": ("dask", lambda t: t.to_dask(), _dask_memory),
    "duck array: `np.asarray(t.as_duck())`": ("numpy", lambda t: t.as_duck(), np.asarray),
}
"""What hands a tensor over: of which library, by which call, and where the memory of the result is."""


def _words(t: tw.Tensor[Any]) -> bool:
    return t.dtype.kind in "TO"


def _listed(kinds: str, make: Callable[[Any, Any], Any]) -> Callable[[tw.Tensor[Any], Any], Any]:
    """Return a maker of objects for kinds of these names, and None for others."""

    def made(t: tw.Tensor[Any], library: Any) -> Any:
        return make(t, library) if t_kind(t) in kinds.split(", ") else None

    return made


def t_kind(t: tw.Tensor[Any]) -> str:
    """Return the kind of a tensor that `plain` made."""
    return next(kind for kind in KINDS if plain(kind).shape == t.shape and plain(kind).dtype == t.dtype)


def _jagged_torch(t: tw.Tensor[Any], torch: Any) -> Any:
    if t_kind(t) == "cells":
        return torch.nested.nested_tensor([torch.tensor(cell) for cell in t.tolist()], layout=torch.strided)
    if t_kind(t) == "jagged":
        rows = [torch.tensor(row, dtype=torch.int64) for row in t.tolist()]
        return torch.nested.nested_tensor(rows, layout=torch.jagged)
    if t_kind(t) == "sparse":
        return torch.tensor(t.tolist()).to_sparse()
    return torch.tensor(t.tolist())


def _arrow_series(t: tw.Tensor[Any], pd: Any) -> Any:
    import pyarrow as pa

    if t_kind(t) == "box":
        return pd.DataFrame(np.array(t.tolist()))
    if t_kind(t) == "sparse":
        return pd.DataFrame.sparse.from_spmatrix(
            importlib.import_module("scipy.sparse").coo_array(t.tolist())
        )
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(t.tolist())))


_FILES: Final = itertools.count()


def _dataset(t: tw.Tensor[Any], h5py: Any) -> Any:
    file = h5py.File(f"table {next(_FILES)}.h5", "w", driver="core", backing_store=False)
    if t_kind(t) != "jagged":
        return file.create_dataset("x", data=t.tolist())
    found = file.create_dataset("x", (len(t),), dtype=h5py.vlen_dtype(np.int64))
    for number, row in enumerate(t.tolist()):
        found[number] = row
    return found


LISTS = "box, jagged, deep, strings, rows of strings, rows with nulls"
NUMBERS = "box"
IN: Final[dict[str, tuple[str, Callable[[Any, Any], Any], Callable[[Any], Any]]]] = {
    "NumPy": ("numpy", _listed(NUMBERS, lambda t, np: np.array(t.tolist())), lambda x: x),
    "Awkward Array": ("awkward", _listed(LISTS, lambda t, ak: ak.Array(t.tolist())), _awkward_memory),
    "Arrow array": ("pyarrow", _listed(LISTS, lambda t, pa: pa.array(t.tolist())), _arrow_memory),
    "Arrow column": (
        "pyarrow",
        _listed(LISTS, lambda t, pa: pa.chunked_array([t.tolist()])),
        lambda x: _arrow_memory(x.chunk(0)),
    ),
    "Arrow column of several chunks": (
        "pyarrow",
        _listed(LISTS, lambda t, pa: pa.chunked_array([pa.array(t.tolist())[:1], pa.array(t.tolist())[1:]])),
        lambda x: _arrow_memory(x.chunk(0)),
    ),
    "Arrow tensor": (
        "pyarrow",
        _listed(NUMBERS, lambda t, pa: pa.FixedShapeTensorArray.from_numpy_ndarray(np.array(t.tolist()))),
        _arrow_memory,
    ),
    "Polars": ("polars", _listed(LISTS, lambda t, pl: pl.Series(t.tolist())), _polars_memory),
    "PyTorch": ("torch", _listed("box, jagged, cells, sparse", _jagged_torch), _torch_memory),
    "pandas": ("pandas", _listed(f"{LISTS}, sparse", _arrow_series), _pandas_memory),
    "xarray": (
        "xarray",
        _listed(NUMBERS, lambda t, xr: xr.DataArray(np.array(t.tolist()))),
        lambda x: x.data,
    ),
    "SciPy": (
        "scipy",
        _listed("sparse", lambda t, _: importlib.import_module("scipy.sparse").csr_array(t.tolist())),
        lambda x: x.data,
    ),
    "pydata/sparse": (
        "sparse",
        _listed("sparse", lambda t, sparse: sparse.COO(np.array(t.tolist()))),
        lambda x: x.data,
    ),
    "Dask": (
        "dask",
        _listed(NUMBERS, lambda t, _: importlib.import_module("dask.array").from_array(np.array(t.tolist()))),
        lambda _: np.empty(0),
    ),
    "Dask, jagged: `t.to_dask()`": (
        "dask",
        _listed("jagged, deep, cells, triangular", lambda t, _: t.to_dask()),
        lambda _: np.empty(0),
    ),
    "h5py": (
        "h5py",
        _listed("box, jagged, strings", _dataset),
        lambda _: np.empty(0),
    ),
    "Zarr": (
        "zarr",
        _listed("box, strings", lambda t, zarr: zarr.array(np.array(t.tolist(), "T" if _words(t) else None))),
        lambda _: np.empty(0),
    ),
    "TensorStore": (
        "tensorstore",
        _listed(NUMBERS, lambda t, ts: ts.array(np.array(t.tolist()))),
        lambda _: np.empty(0),
    ),
}
"""What becomes a tensor: of which library, how it makes one of lists, and where its memory is."""


_CUT: Final = tw.Tiling([2, 2], [2, 2])
_Pair = tuple[Any, Any]
"""The memory on both sides of a call."""


def _diagonal() -> tw.Tensor[Any]:
    return tw.as_tensor(np.eye(4)).tiled(_CUT).screened()


def _from_bsr(_: Any) -> _Pair:
    given = importlib.import_module("scipy.sparse").bsr_array(np.eye(4), blocksize=(2, 2))
    return given.data, tw.blocks(given).packed_values()


def _to_bsr(_: Any) -> _Pair:
    t = _diagonal()
    return t.packed_values(), t.to_scipy("bsr").data


def _from_coo(sparse: Any) -> _Pair:
    given = sparse.COO.from_numpy(np.eye(4))
    return given.data, tw.blocks(given, _CUT).packed_values()


def _to_coo(_: Any) -> _Pair:
    t = _diagonal()
    return t.packed_values(), t.untiled().to_pydata().data


def _from_metatensor(metatensor: Any) -> _Pair:
    sides = [metatensor.Labels([name], np.arange(2, dtype=np.int32)[:, None]) for name in ("row", "column")]
    keys = metatensor.Labels(["i", "j"], np.zeros((1, 2), np.int32))
    given = metatensor.TensorMap(keys, [metatensor.TensorBlock(np.eye(2), sides[0], [], sides[1])])
    return given.block(0).values, tw.blocks(given).packed_values()


def _from_tenpy(_: Any) -> _Pair:
    charged = importlib.import_module("tenpy.linalg.np_conserved")
    leg = charged.LegCharge.from_qind(charged.ChargeInfo([1]), [0, 2, 4], [[0], [1]])
    given = charged.Array.from_ndarray(np.eye(4), [leg, leg.conj()])
    return given._data[0], tw.blocks(given).packed_values()


def _from_cytnx(cytnx: Any) -> _Pair:
    bond = cytnx.Bond(cytnx.BD_IN, [[0], [1]], [2, 2])
    given = cytnx.UniTensor([bond, bond.redirect()])
    return given.get_block_(0).numpy(), tw.blocks(given).packed_values()


def _from_pyscf(pyscf: Any) -> _Pair:
    molecule = pyscf.gto.M(atom="H 0 0 0; H 0 0 1", basis="sto-3g", verbose=0)
    given = molecule.intor("int2e", aosym="s8")
    return given, tw.from_packed(given, "s8", (molecule.nao,) * 4).packed_values()


def _to_pyscf(_: Any) -> _Pair:
    t = tw.from_packed(np.arange(6.0), "s8", (2,) * 4)
    restore = importlib.import_module("pyscf.ao2mo").restore
    return t.packed_values(), restore(8, t.packed_values(), 2)


BLOCKS: Final[dict[str, tuple[str, Callable[[Any], _Pair], Callable[[Any], _Pair] | None]]] = {
    'SciPy BSR: `tw.blocks(a)`, `t.to_scipy("bsr")`': ("scipy", _from_bsr, _to_bsr),
    "pydata/sparse: `tw.blocks(a, tiling)`, `t.untiled().to_pydata()`": ("sparse", _from_coo, _to_coo),
    "metatensor: `tw.blocks(tensor_map)`": ("metatensor", _from_metatensor, None),
    "TeNPy: `tw.blocks(array)`": ("tenpy", _from_tenpy, None),
    "cytnx: `tw.blocks(unitensor)`": ("cytnx", _from_cytnx, None),
    'PySCF: `tw.from_packed(values, "s8", shape)`, `t.packed_values()`': ("pyscf", _from_pyscf, _to_pyscf),
}
"""What has tiles or packed elements: of which library, and what comes in and goes out."""


def is_there(library: str) -> bool:
    """Tell whether a library is installed."""
    return importlib.util.find_spec(library) is not None


def _memory(t: tw.Tensor[Any]) -> Any:
    if t.dtype.kind in "TO":
        return t.to_string_data().data
    values = t.buffer if t.buffer.sides is None else t.buffer.sides[0]
    return t.values() if t.is_sparse else values.memory


def _shared(one: Any, other: Any) -> str:
    return SHARED if np.shares_memory(np.asarray(one).view(np.ndarray), other) else COPIED


def _refusal(error: TensorWrapperError, tensor: tw.Tensor[Any]) -> str:
    text = re.sub(r"\s+", " ", str(error))
    for shown in (repr(tensor.shape), str(tensor.shape), str(tensor.dtype)):
        text = text.replace(shown, "...")
    return f"`{type(error).__name__}`: {text}".replace("|", "\\|")


def out_row(name: str) -> list[str]:
    """Return what becomes of each kind under a call of `OUT`."""
    _, call, memory = OUT[name]
    found: list[str] = []
    for kind in KINDS:
        tensor = plain(kind)
        try:
            found.append(_shared(memory(call(tensor)), _memory(tensor)))
        except TensorWrapperError as error:
            found.append(_refusal(error, tensor))
    return found


def in_row(name: str) -> list[str]:
    """Return what `as_tensor` makes of each kind that a library has."""
    library, make, memory = IN[name]
    found: list[str] = []
    for kind in KINDS:
        expected = plain(kind)
        given = make(expected, importlib.import_module(library))
        if given is None:
            found.append("-")
            continue
        tensor = tw.as_tensor(given)
        assert tensor.tolist() == expected.tolist(), (name, kind)
        found.append(_shared(memory(given), _memory(tensor)))
    return found


def view_row(name: str) -> list[str]:
    """Return whether `as_view` leaves each kind that a library has unread."""
    library, make, _ = IN[name]
    found: list[str] = []
    for kind in KINDS:
        given = make(plain(kind), importlib.import_module(library))
        if given is None:
            found.append("-")
            continue
        try:
            view = tw.selection.as_view(given)
        except TensorWrapperError as error:
            found.append(_refusal(error, plain(kind)))
            continue
        assert view.tolist() == plain(kind).tolist(), (name, kind)
        found.append("lazy" if view.expression.node.tensor is None else "in memory")
    return found


def blocks_row(name: str) -> list[str]:
    """Return whether tiles, or packed elements, of a library are copied on the way in, and on the way out."""
    library, *ways = BLOCKS[name]
    module = importlib.import_module(library)
    return ["-" if way is None else _shared(*way(module)) for way in ways]


TABLES: Final = (
    ("Out", OUT, out_row),
    ("In: `as_tensor(given)`", IN, in_row),
    ("In: `as_view(given)`", IN, view_row),
)


BLOCKS_TITLE: Final = "Blocks and symmetry"
BLOCKS_NOTE: Final = """A dash means that the library's own constructor takes the tiles, as its page
shows. BSR arrays have tiles of one size. metatensor, TeNPy and cytnx store each tile in separate memory; here
tiles are contiguous."""


def page() -> str:
    """Return the page; a refusal is a number, and its words stand below."""
    notes: dict[str, int] = {}
    lines = [INTRODUCTION]
    for title, calls, row_of in TABLES:
        lines += [f"## {title}", "", "| | " + " | ".join(KINDS) + " |", "| --- " * (len(KINDS) + 1) + "|"]
        for name in calls:
            row = [
                f"[{notes.setdefault(cell, len(notes) + 1)}]" if cell.startswith("`") else cell
                for cell in row_of(name)
            ]
            lines.append(f"| {name} | " + " | ".join(row) + " |")
        lines.append("")
    lines += [f"## {BLOCKS_TITLE}", "", "| | in | out |", "| --- | --- | --- |"]
    lines += [f"| {name} | {' | '.join(blocks_row(name))} |" for name in BLOCKS]
    lines += ["", BLOCKS_NOTE, ""]
    lines += ["## What the errors say", "", "| | |", "| --- | --- |"]
    lines += [f"| [{number}] | {text} |" for text, number in notes.items()]
    return "\n".join([*lines, ""])


def read_page(text: str) -> dict[tuple[str, str], list[str]]:
    """Return what a page says of each row, by the title of its table and its name."""
    found: dict[tuple[str, str], list[str]] = {}
    title = ""
    for line in text.splitlines():
        if line.startswith("## "):
            title = line[3:]
        elif line.startswith("| ") and not line.startswith(("| |", "| ---")):
            name, *row = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            found[title, name] = row
    notes = {name: row[0] for (title, name), row in found.items() if title.startswith("What")}
    return {key: [notes.get(cell, cell) for cell in row] for key, row in found.items()}


INTRODUCTION: Final = """# Every library and every kind

These tables show the conversion of a small tensor of each kind (of `tests/support/selection/kinds.py`).
*Zero-copy* shares memory, as `np.shares_memory` confirms, and *copy* does not. A number is a refusal,
with its error below. A dash means that the library has no such object, or no kind of this name. Tests
fail if this page is wrong; `python -m tests.support.library_table` writes it.

Offsets, masks and validity are not elements, and may be new. Sparse tensors need sorted coordinates, and
are copied.
"""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
