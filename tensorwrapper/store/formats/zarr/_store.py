"""Read Zarr stores in folders: arrays are views of chunks, and groups may be declared ragged arrays.

Metadata (names, shapes and types) are parsed here. The zarr library reads arrays on regular grids, with any
codecs. Before version 3.2 it does not support rectilinear grids. So plain, gzip and zstd chunks of these are
read here, and others by a zarr that supports them.
"""

import importlib
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast, final

import attrs
import numpy as np

from tensorwrapper._lazy import naming_extras
from tensorwrapper.buffer import strings_from_numpy
from tensorwrapper.errors import DataFileError, ParseError
from tensorwrapper.shape import Shape
from tensorwrapper.store.formats._bytes import check_bytes
from tensorwrapper.store.formats._checked_source import CheckedSource
from tensorwrapper.store.formats._contents import SCALES, Contents, Held, Opening, scaled
from tensorwrapper.store.formats._links import Links
from tensorwrapper.store.formats._names import FreeNames, renamed
from tensorwrapper.store.formats._origin_attributes import names_said, names_told, origin_said, placed
from tensorwrapper.store.formats._ragged import Ragged, broken_rows, contradiction
from tensorwrapper.store.formats._rows_source import RowsSource
from tensorwrapper.store.formats.conventions._cf import CONTIGUOUS, INDEXED, Variable, deal_variables
from tensorwrapper.store.formats.conventions._file_view import ROOT, Group, Part, Read, counted
from tensorwrapper.store.formats.conventions._groups import put_together
from tensorwrapper.store.formats.zarr._contained import contained_store, link_refusal
from tensorwrapper.store.formats.zarr._grid import CHUNKS, GRIDS_SETTING, grid_source, knows_grids
from tensorwrapper.store.formats.zarr._keys import Keyed, Place, keyed_store
from tensorwrapper.store.formats.zarr._tree import UnchangedNode, nodes_of, part_of, read_node, rows_of
from tensorwrapper.store.formats.zarr._unreadable import dtype_of, is_bytes, is_text, loss_of
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.tensor import Tensor, strings
from tensorwrapper.typing import Array
from tensorwrapper.wire import Limits

if TYPE_CHECKING:
    from tensorwrapper.selection import Source, View

RAGGED: Final = "ragged"
ORIGIN: Final = "index_origin"
METADATA: Final = "metadata"
_NAMES: Final = "_ARRAY_DIMENSIONS"
"""Attribute with xarray's mode names for version 2 arrays."""


def open_zarr(path: Path, how: Opening) -> Contents:
    """Return the contents of a store; reads only metadata.

    Raises
    ------
    DataFileError
        If the store is missing or damaged.
    """
    # Chunks are read later, maybe from another working folder.
    return open_place(path.absolute(), how)


def open_place(root: Place, how: Opening, refused: Mapping[str, Loss] | None = None) -> Contents:
    """Return the contents of a store that is a folder, an archive or a manifest.

    Parameters
    ----------
    root
        Root folder.
    how
        The limits.
    refused
        Losses of unread arrays, by name.

    Raises
    ------
    DataFileError
        If the store is missing or damaged.
    """
    limits = how.limits
    finder, links = _Finder(os.path.realpath(str(root)), how, refused or {}), Links()
    for name, folder, node in nodes_of(root, limits, links):
        if isinstance(node, Loss):
            finder.losses.append(node)
        else:
            finder.enter(name, folder, node)
    finder.name_fields(links.targets)
    dealt = deal_variables(finder.variables, finder.extents, limits)
    finder.held |= {
        name: attrs.evolve(finder.held[name], packing="jagged", read=read)
        for name, read in dealt.readers.items()
    }
    left = {name: own for name, own in finder.attributes.items() if own}
    known = {*finder.groups, *finder.held}
    return Contents(
        finder.held,
        finder.metadata,
        (*finder.losses, *dealt.losses, *links.broken(known, finder.parts)),
        aliases=links.aliases(list(finder.held), finder.groups, limits.tensors, finder.fields),
        attributes=lambda: left,
        resolve=links.resolve,
        told=dealt.told,
    )


class _Finder:
    """Collector of all nodes of a store, groups before their members."""

    def __init__(self, root: str, how: Opening, refused: Mapping[str, Loss]) -> None:
        self.root, self.limits, self.how, self.refused = root, how.limits, how, refused
        self.groups: set[str] = set()
        self.held: dict[str, Held] = {}
        self.metadata: Mapping[str, Any] = {}
        self.losses: list[Loss] = []
        self.attributes: dict[str, list[str]] = {}
        """Ignored attributes, by node."""
        self.parts: set[str] = set()
        """Arrays that are hidden because they are parts of a tensor."""
        self.variables: list[Variable] = []
        """Arrays with a named first mode."""
        self.extents: dict[tuple[str, str], int] = {}
        """Extents of dimensions, by group and name."""
        self.entries: list[tuple[str, str, Held]] = []
        """Names of fields, their groups, and their contents."""
        self.fields: dict[str, dict[str, str]] = {}
        """Suffixes of the fields of groups with their names, by the name of the group."""

    def enter(self, name: str, folder: Place, node: Mapping[str, Any]) -> None:
        """Record a node."""
        said, is_array = node.get("attributes", {}), node["node_type"] == "array"
        extents = node.get("shape") if is_array else None
        rank = len(cast("list[object]", extents)) if isinstance(extents, list) else 0
        if name in self.parts:
            # Only the elements of this node are used.
            self.attributes[name] = list(said)
            return
        self.attributes[name] = _others(said, rank, node) if is_array or not name else list(said)
        if not name and not is_array:
            self.metadata = _object(said.get(METADATA))
        if is_array:
            loss = self._loss_of(name or ROOT, node, folder)
            if loss is not None:
                self.losses.append(loss)
                return
        else:
            self.groups.add(name)
        if any(scale in said for scale in SCALES):
            self.losses.append(scaled(name or ROOT))
        told = names_told(name or ROOT, _names_of(node), rank) if is_array else None
        self.losses += [] if told is None else [told]
        reader = _Reader(folder, self.root, self.limits)
        if is_array:
            packing = str(_object(node.get("chunk_grid")).get("name"))
            self._hold(name, packing, partial(reader.array, node), said)
            if not self.how.raw:
                self._note(name or ROOT, node, partial(reader.array, node))
            return
        if self.how.raw:
            return
        rows = self._rows(name, folder, node)
        if rows is not None:
            self._hold(name, "jagged", partial(reader.rows, rows, name or ROOT), said)
        else:
            self._put_together(name, folder, said)

    def _loss_of(self, name: str, node: Mapping[str, Any], folder: Place) -> Loss | None:
        """Return why an array is not a tensor, or why its chunks may not be read."""
        what = f"the folder of chunks of the array {name!r}"
        return (
            self.refused.get(name)
            or loss_of(name, node, folder)
            or link_refusal(folder / CHUNKS, self.root, name, what)
        )

    def _hold(self, name: str, packing: str, read: Callable[[], object], said: Mapping[str, Any]) -> None:
        self.held[name or ROOT] = Held(0, None, packing, read, _object(said.get(METADATA)))

    def _note(self, name: str, node: Mapping[str, Any], read: Read) -> None:
        """Record an array with mode names, which may be part of a ragged array of CF conventions."""
        names, extents = _names_of(node), node.get("shape")
        if not isinstance(names, list) or not isinstance(extents, list):
            return
        counts = [counted(own, self.limits) for own in cast("list[object]", extents)]
        said: list[object] = cast("list[object]", names)
        if None in counts or len(said) != len(counts):
            return
        group = name.rpartition("/")[0]
        for dimension, extent in zip(said, cast("list[int]", counts), strict=True):
            if isinstance(dimension, str):
                # One array with a different extent must not hide the rows of the others.
                self.extents[group, dimension] = max(extent, self.extents.get((group, dimension), 0))
        dtype = dtype_of(node)
        part = Part(
            name,
            tuple(cast("list[int]", counts)),
            dtype if isinstance(dtype, np.dtype) else np.dtype(object),
            read,
        )
        attributes = node.get("attributes", {})
        first, samples, instances = [
            own if isinstance(own, str) else None
            for own in (next(iter(said), None), attributes.get(CONTIGUOUS), attributes.get(INDEXED))
        ]
        self.variables.append(Variable(part, first, samples, instances))

    def _put_together(self, name: str, folder: Place, said: Mapping[str, Any]) -> None:
        """Record the tensors that a convention assembles from a group, and hide their parts."""
        own = name or ROOT
        part = partial(self._part, name, folder)
        put = put_together(Group(own, said.get, part, self.limits, self.how.null_rows))
        if put is None or isinstance(put, Loss):
            self.losses += [] if put is None else [put]
            return
        self.losses += put.losses
        self.parts |= {f"{name}/{inner}" if name else inner for inner in put.parts}
        self.attributes[name] = [key for key in _others(said, 0, {}) if key not in put.attributes]
        for end, read in put.tensors:
            if end:
                held = Held(0, None, put.packing, read, _object(said.get(METADATA)))
                self.entries.append((f"{own}{end}", name, held))
            else:
                self._hold(name, put.packing, read, said)

    def name_fields(self, links: Iterable[str]) -> None:
        """Name the fields, with other names where theirs are taken."""
        free = FreeNames({*self.held, *self.groups, *links})
        for name, group, own in self.entries:
            taken = free.claim(name)
            self.held[taken] = own
            if group:
                self.fields.setdefault(group, {}).setdefault(name[len(group) :], taken)
            if taken != name:
                self.losses.append(renamed(name, taken))

    def _part(self, name: str, folder: Place, path: str) -> Part | None:
        """Return an array of numbers or text in a group; None if it is missing."""
        full = f"{name}/{path}" if name else path
        node = part_of(folder, path, self.root)
        if node is None:
            return None
        loss = self._loss_of(full, node, folder / path)
        if loss is not None:
            raise DataFileError(loss)
        extents, dtype = cast("list[object]", node.get("shape")), dtype_of(node)
        items = extents if isinstance(cast("object", extents), list) else [None]
        counts = [own for item in items if (own := counted(item, self.limits)) is not None]
        if len(counts) != len(items) or not isinstance(dtype, np.dtype) or dtype.kind not in "biufcmMUST":
            raise DataFileError(
                f"{path!r} has the extents {str(extents)[:60]} and elements {str(dtype)[:60]}"
            )
        reader = _Reader(folder / path, self.root, self.limits)
        dtype = np.dtypes.StringDType() if is_text(node) else dtype
        return Part(full, tuple(counts), dtype, partial(reader.array, node))

    def _rows(self, name: str, folder: Place, node: Mapping[str, Any]) -> Ragged | None:
        """Return the rows of a group; None if it has none, or if some of their arrays cannot be read."""
        try:
            rows = rows_of(folder, node, RAGGED, self.root)
        except (DataFileError, ParseError) as error:
            self.losses.append(broken_rows(name or ROOT, error))
            return None
        if rows is None:
            return None
        said: Mapping[str, Any] = node.get("attributes", {})
        parts = {f"{name}/{part}" if name else part: part for part in rows[1]}
        told = [self._loss_of(path, rows[1][part], folder / part) for path, part in parts.items()]
        unknown = next((loss for loss in told if loss is not None), None)
        if unknown is not None:
            self.losses.append(broken_rows(name or ROOT, DataFileError(unknown)))
            return None
        self.attributes[name] = [key for key in _others(said, 0, node) if key != RAGGED]
        self.parts |= set(parts)
        return rows[0]


def _names_of(node: Mapping[str, Any]) -> object:
    """Return the mode names of an array from Zarr 3 metadata, or else from xarray's attribute."""
    return node.get("dimension_names") or node.get("attributes", {}).get(_NAMES)


def _others(said: Mapping[str, Any], rank: int, node: Mapping[str, Any]) -> list[str]:
    """Return the ignored attributes of an array of rank `rank`, or of a group."""
    read = {METADATA} if isinstance(said.get(METADATA), dict) else set[str]()
    if rank and origin_said(said.get(ORIGIN), rank) is not None:
        read.add(ORIGIN)
    if names_said(said.get(_NAMES), rank) is not None and _names_of(node) is said[_NAMES]:
        read.add(_NAMES)
    return [key for key in said if key not in read]


class _Reader:
    """Reader of one array of a store, plain or ragged."""

    def __init__(self, folder: Place, root: str, limits: Limits) -> None:
        self.folder, self.root, self.limits = folder, root, limits
        """Folder of the array, and the real path of the store, outside which no link is followed."""

    def array(self, node: Mapping[str, Any]) -> "Tensor[Any] | View[Any]":
        """Return an array as a view, or as a tensor of strings."""
        given = node.get("shape")
        extents = cast("list[int]", given if isinstance(given, list) else [-1])
        if not all(type(n) is int and 0 <= n <= self.limits.extent for n in extents):
            raise DataFileError(
                f"{self.folder} has the extents {str(extents)[:80]}; but the limit is "
                f"{self.limits.extent}; limits=Limits(extent=...) can raise it"
            )
        if is_text(node):
            found: Tensor[Any] | View[Any] = self._strings(self.folder, node, Shape(*extents))
        else:
            from tensorwrapper.selection import as_view  # noqa: PLC0415 - other kinds of file need no views

            found = as_view(self._source(self.folder, node))
        return placed(found, _names_of(node), node.get("attributes", {}).get(ORIGIN))

    def rows(self, ragged: Ragged, name: str) -> "Tensor[Any] | View[Any]":
        """Return a ragged array."""
        from tensorwrapper.selection import as_view  # noqa: PLC0415 - as above

        sizes = {mode: self._sizes(f"sizes_{mode}") for mode in ragged.variable_modes}
        shape, folder = ragged.shape_in(self.folder, name, sizes), self.folder / "values"
        node = read_node(folder)
        if is_text(node):
            (count,) = node.get("shape", (None,))
            if count != shape.size:
                raise contradiction(self.folder, name, f"it has {count} values for {shape.size} elements")
            return self._strings(folder, node, shape)
        values = self._source(folder, node)
        if values.shape != Shape(shape.size):
            raise contradiction(self.folder, name, f"it has {values.shape} values for {shape.size} elements")
        return as_view(RowsSource(values, shape))

    def _source(self, folder: Place, node: Mapping[str, Any]) -> "Source":
        from tensorwrapper.selection import ArraySource  # noqa: PLC0415 - as above

        shown = folder if isinstance(folder, Path) else str(folder)
        same = UnchangedNode(folder, node) if isinstance(folder, Path) else None
        if _object(node.get("chunk_grid")).get("name") == "rectilinear":
            try:
                return CheckedSource(
                    grid_source(folder, node, self.root, self.limits), shown, "Zarr", check=same
                )
            except DataFileError as refused:
                found = _opened_on_request(folder, self.root, node, refused)
                return CheckedSource(ArraySource(found), shown, "Zarr", check=same)
        found = _opened(folder, self.root, node)
        if found.dtype == np.bool_ and not found.shape:
            found = _SingleTruth(_as_bytes(found))
        return CheckedSource(ArraySource(found), shown, "Zarr", check=same)

    def _sizes(self, name: str) -> Array:
        from tensorwrapper.selection import as_view  # noqa: PLC0415 - as above

        found = as_view(self._source(self.folder / name, read_node(self.folder / name)))
        check_bytes(8 * found.size, str(self.folder / name), self.limits)
        return np.asarray(found.compute())

    def _strings(self, folder: Place, node: Mapping[str, Any], shape: Shape[Any]) -> Tensor[Any]:
        """Return the text of an array, in row-major order, as a tensor of a shape."""
        found = _opened(folder, self.root, node)
        if found.size != shape.size:
            raise DataFileError(f"{folder} has {found.size} values for {shape.size} elements")
        check_bytes(16 * found.size, str(folder), self.limits)
        array = np.asarray(found[...]).reshape(-1)
        if array.dtype.kind in "US":
            return strings(strings_from_numpy(array), shape=shape)
        return strings(array, shape=shape, kind="binary" if is_bytes(node) else "utf8")


def _zarr() -> Any:  # noqa: ANN401 - its types are partly unknown
    # Import late, because only reading an array needs zarr.
    with naming_extras():
        return importlib.import_module("zarr")


def _opened(folder: Place, root: str, node: Mapping[str, Any]) -> Any:  # noqa: ANN401 - its types are partly unknown
    zarr = _zarr()
    if not isinstance(folder, Keyed):
        store = contained_store(str(folder), root)
        return zarr.open_array(store, mode="r", zarr_format=node["zarr_format"])
    found = zarr.open_array(keyed_store(folder), mode="r", zarr_format=node["zarr_format"])
    found.store.chunk = _bytes_of_chunk(found, node)
    return found


@final
@attrs.frozen(eq=False)
class _SingleTruth:
    """The element of a bool array of rank 0 as stored: zarr would make a bool of any byte."""

    array: Any
    """The same array, of bytes."""
    shape: ClassVar[tuple[()]] = ()
    dtype: ClassVar["np.dtype[np.bool_]"] = np.dtype(np.bool_)

    def __getitem__(self, key: object) -> Array:
        return np.asarray(self.array[key]).view(np.bool_)


def _as_bytes(found: Any) -> Any:  # noqa: ANN401 - as above
    """Return an array of bools as an array of bytes."""
    said = found.metadata.to_dict()
    typed = {"dtype": "|u1"} if said["zarr_format"] == 2 else {"data_type": "uint8"}
    fill = int(found.fill_value or 0)
    return type(found).from_dict(found.store_path, {**said, **typed, "fill_value": fill})


def _bytes_of_chunk(found: Any, node: Mapping[str, Any]) -> int | None:  # noqa: ANN401 - as above
    """Return the decompressed size of a chunk in bytes; None for variable-length elements."""
    dtype = dtype_of(node)
    if is_text(node) or not isinstance(dtype, np.dtype) or dtype.kind not in "biufcmM":
        return None
    if _object(node.get("chunk_grid")).get("name") != "regular":
        return None
    return int(prod(found.shards or found.chunks)) * dtype.itemsize


def _opened_on_request(folder: Place, root: str, node: Mapping[str, Any], refused: DataFileError) -> Any:  # noqa: ANN401 - as above
    """Return an array on a grid whose codecs are not supported here, if zarr supports such grids."""
    if not knows_grids():
        raise refused
    try:
        with _zarr().config.set({GRIDS_SETTING: True}):
            return _opened(folder, root, node)
    except (ValueError, TypeError, KeyError, RuntimeError) as error:
        raise refused from error


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
