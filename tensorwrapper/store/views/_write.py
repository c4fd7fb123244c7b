"""Write views as records: each source is a name in a file or on a server, or is stored with the view."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final, cast, final

import numpy as np

from tensorwrapper._error_text import shortened
from tensorwrapper._json import Json
from tensorwrapper.errors import ConversionError
from tensorwrapper.layout import Layout
from tensorwrapper.selection import Expression, Node, View
from tensorwrapper.selection.lowlevel import dtype_name, expression_of, stored_json
from tensorwrapper.shape import Shape
from tensorwrapper.store.records._origin import FileOrigin, Origin, origin_of, version_of_path
from tensorwrapper.store.views._buffer import StoredBuffer
from tensorwrapper.store.views._sources import (
    MOST_MEMBERS,
    PLAIN,
    FileSource,
    MembersSource,
    ServerSource,
)
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import IntArray

_HELD: Final = 2**20
"""Size limit of a source stored with the view, in bytes."""
_HELD_ALL: Final = 2**24
"""Size limit of all such sources together, in bytes."""
_MANY: Final = 16
"""Minimum number of sources that are joined to one node."""
_ROWS: Final = 2**12
"""Sources up to this many rows store all row lengths."""

_LayoutJson = Callable[[Layout[Any]], "dict[str, Json] | None"]


@final
class ViewWriter:
    """Collector of the sources of one view."""

    __slots__ = (
        "_file",
        "_folder",
        "_given",
        "_held",
        "_known",
        "_met",
        "_moved",
        "_replaced",
        "frames",
        "said",
        "tables",
        "wholes",
    )

    frames: list[bytes]
    """Tables of positions, 8 bytes each."""
    said: list[Json]
    """Description of each source."""
    tables: list[object]
    """Tables, and tensors stored with the view."""
    wholes: dict[str, object]
    """Sources that a reader opens immediately, by number."""

    def __init__(
        self,
        file: FileOrigin,
        *,
        replaced: bool,
        given: Mapping[int, tuple[object, str]] | None = None,
        moved: tuple[object, Collection[str]] = (None, ()),
    ) -> None:
        """Start to write a view.

        Parameters
        ----------
        file
            The file to write the view to.
        replaced
            Whether this file replaces an existing one.
        given
            Tensors in memory and their names in the file, by id.
        moved
            The reader of another file, and the names of the tensors copied from it.
        """
        self._file, self._folder, self._replaced = file, os.path.dirname(file.path), replaced
        self._given = given or {}
        self._held = 0
        self._known: dict[object, str] = {}
        self._met: dict[tuple[str, int], tuple[object, Any]] = {}
        self._moved = moved
        self.frames, self.said, self.tables, self.wholes = [], [], [], {}

    def write(self, view: View[Any]) -> str:
        """Return the text of a view.

        Raises
        ------
        ConversionError
            If JSON cannot represent a step, or if a source in memory is too large.
        """
        return stored_json(view, self, self.frames)

    # The text writer calls these methods.

    def view(self, view: Expression, layout: _LayoutJson) -> tuple[dict[str, Json], int] | None:
        """Return the JSON of a source, and its number of calls; None if it is not a source."""
        known: tuple[dict[str, Json], int] | None = self._once("view", view, lambda: self._view(view, layout))
        return known

    def node(self, node: Node) -> dict[str, Json] | None:
        """Return the JSON of many joined tensors in files; None for other nodes."""
        known: dict[str, Json] | None = self._once("node", node, lambda: self._joined(node))
        return known

    def _once(self, what: str, given: object, make: Callable[[], Any]) -> Any:  # noqa: ANN401 - what that makes
        known = self._met.get((what, id(given)))
        if known is None:
            known = self._met[what, id(given)] = given, make()
        return known[1]

    def _view(self, view: Expression, layout: _LayoutJson) -> tuple[dict[str, Json], int] | None:
        origin = origin_of(view.node)
        if origin is not None and origin.calls is not None:
            done = len(origin.calls)
            before = None if origin.written is None else origin.written()
            same = view.written is before and _are(view.calls[:done], origin.calls)
            if same and (len(view.calls) > done or view.layout is origin.layout):
                made = Expression(view.node, origin.layout, view.calls[:done], before)
                return self._of_file(origin, View(made)), done
        if view.written is not None or view.node.source is None:
            return None
        tensor = view.node.tensor
        if tensor is None:
            return self._elsewhere(view)
        chosen = tensor.layout if view.calls or view.layout is tensor.layout else view.layout
        buffer = tensor.buffer.owner
        if isinstance(buffer, StoredBuffer):
            whole = Layout(cast("Shape[Any]", buffer.source.shape))
            return self._part(self._again(buffer), whole, chosen, layout)
        known = origin_of(buffer)
        if known is not None and known.calls is None:
            # The layout of a part refers to the memory of the tensor in its own file.
            is_whole = chosen is known.layout or chosen == known.layout
            said = self._of_file(known, Tensor(known.layout, tensor.buffer), may_move=is_whole)
            return self._part(said, known.layout, chosen, layout)
        given, own = self._given.get(id(tensor), (None, ""))
        if given is tensor and chosen is tensor.layout:
            said = self._of_this_file(own, tensor.shape, None)
        elif view.calls or chosen is tensor.layout:
            said = self._travelling(tensor)
        else:
            said = self._travelling(View(view).compute())
        if tensor.dtype.isnative:
            return said, 0
        # Records have native byte order, but later steps may expect another.
        return {"of": {"cast": dtype_name(tensor.dtype), "part": said}}, 0

    def _part(
        self, said: dict[str, Json], whole: Layout[Any], chosen: Layout[Any], layout: _LayoutJson
    ) -> tuple[dict[str, Json], int]:
        if chosen is whole or chosen == whole:
            return said, 0
        rows = _rows_of(whole, chosen)
        if rows is not None:
            step: list[Json] = ["index", [rows.start, rows.stop, None]]
            return {**said, "ops": [step]}, 0
        own = layout(chosen) if chosen.shape.is_box else None
        if own is None:
            raise ConversionError(
                f"the view reads {chosen.shape}, a part of a tensor in a file that JSON "
                f"cannot represent. Use a part of a view of the whole tensor, as in sel.as_view(f['x'])[1:]"
            )
        return {**said, "layout": own}, 0

    def _elsewhere(self, view: Expression) -> tuple[dict[str, Json], int]:
        source: Any = view.node.source
        stored = getattr(cast("object", type(source)), "stored_as", None)
        found: tuple[str, str, str] | None = None if stored is None else stored(source)
        if found is not None:
            address, name, version = found
            server = ServerSource(address, name, version, source.shape, source.dtype)
            return self._source(("server", *found), server.said()), 0
        return self._travelling(View(view.node.all()).compute(), source), 0

    # Sources.

    def _source(self, key: object, said: dict[str, Json], whole: object = None) -> dict[str, Json]:
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = str(len(self.said))
            self.said.append(said)
            if whole is not None:
                self.wholes[number] = whole
        return {"of": {"source": number}}

    def _of_this_file(self, name: str, shape: Shape[Any], whole: object) -> dict[str, Json]:
        """Return a source of the same file, with the number of its rows: it may grow."""
        said: dict[str, Json] = {"own": name}
        if shape.rank:
            said["rows"] = shape.extent(0)
        return self._source(("own", name), said, whole)

    def _table(self, table: object) -> int:
        self.tables.append(table)
        return len(self.tables) - 1

    def _travelling(self, tensor: Tensor[Any], source: object = None) -> dict[str, Json]:
        number = self._known.get(("held", id(tensor)))
        if number is not None:
            return {"of": {"source": number}}
        nbytes = tensor.nbytes
        self._held += nbytes
        if nbytes > _HELD or self._held > _HELD_ALL:
            raise ConversionError(
                f"the view reads {source or tensor.shape} of {nbytes} bytes, which is in "
                f"memory. A view can store at most {_HELD} bytes per source, and {_HELD_ALL} "
                f"in total; save the tensor first"
            )
        self._met["held", id(tensor)] = tensor, None
        return self._source(("held", id(tensor)), {"held": self._table(tensor)})

    def _of_file(
        self, origin: Origin, whole: "Tensor[Any] | View[Any]", *, may_move: bool = True
    ) -> dict[str, Json]:
        file = origin.file
        if self._is_own(file) or (may_move and self._is_moved(origin)):
            return self._of_this_file(origin.name, whole.shape, None if isinstance(whole, Tensor) else whole)
        if not file.is_there():
            raise ConversionError(
                f"the view reads {origin.name!r} of {shortened(file.path)}, which was replaced"
            )
        path = self._relative(file.path)
        version = version_of_path(file.path) if origin.version is None else origin.version()
        form = _Form.of(whole)
        source = FileSource(file.path, origin.name, version, file.options, form.shape, form.dtype)
        key = "file", file.path, origin.name, repr(file.options)
        return self._source(key, source.said(path), whole)

    def _is_own(self, file: FileOrigin) -> bool:
        """Return True if a file is the file to write the view to, even if opened twice."""
        home, own = file.home, self._file.home
        if home is None or own is None or home is own:
            return home is not None
        return file.stat == self._file.stat and home.is_file(own.read_at)

    def _is_moved(self, origin: Origin) -> bool:
        """Return True if a tensor of another file was copied to this one under its name."""
        home, names = self._moved
        return home is not None and origin.file.home is home and origin.name in names

    def _again(self, buffer: StoredBuffer[Any]) -> dict[str, Json]:
        """Return the JSON of sources that were read from a view's record."""
        source = buffer.source
        if isinstance(source, MembersSource):
            members: dict[str, Json] = self._once("members", source, lambda: self._members(source))
            return {"of": members}
        if isinstance(source, ServerSource):
            return self._source(("server", source.address, source.name, source.version), source.said())
        own = cast("FileSource", source)
        return self._source(
            ("file", own.path, own.name, repr(own.options)), own.said(self._relative(own.path))
        )

    def _relative(self, path: str) -> str:
        """Return the path of a source, relative to the file of the view."""
        if self._replaced and os.path.realpath(path) == os.path.realpath(self._file.path):
            raise ConversionError(
                f"the view reads {shortened(path)}, which is being replaced; write to another file"
            )
        try:
            relative = PurePath(os.path.relpath(path, self._folder)).as_posix()
        except ValueError as error:
            raise ConversionError(f"{shortened(path)} has no path relative to {self._folder}") from error
        try:
            relative.encode()
        except UnicodeEncodeError as error:
            raise ConversionError(f"the path {ascii(path)[:200]} of a source is not UTF-8") from error
        return relative

    # Many sources.

    def _members(self, source: MembersSource) -> dict[str, Json]:
        said: dict[str, Json] = {
            "members": 0,
            "files": [self._relative(path) for path in source.files],
            "table": self._table(source.table),
            "names": self._table(np.frombuffer(source.names, np.uint8)),
            "dtype": dtype_name(source.dtype),
        }
        if source.lengths is None:
            return {**said, "tail": list(source.tail)}
        return {**said, "lengths": self._table(source.lengths)}

    def _joined(self, node: Node) -> dict[str, Json] | None:
        """Return the JSON of many whole tensors in `.tens` files, joined along the first mode."""
        mode = getattr(node, "mode", None) if node.name == "concat" else None
        if node.is_of_rows and node.name == "concat":
            mode = cast("Any", node).arguments[0]
        if mode != 0 or not _MANY <= len(node.operands) <= MOST_MEMBERS:
            return None
        parts: list[tuple[Origin, Tensor[Any]]] = []
        for own in node.operands:
            tensor = own.node.tensor
            origin = None if tensor is None or own.calls else origin_of(tensor.buffer.owner)
            if tensor is None or origin is None or not self._is_member(origin, tensor, own.layout):
                return None
            parts.append((origin, tensor))
        return self._of_members(parts)

    def _is_member(self, origin: Origin, tensor: Tensor[Any], layout: Layout[Any]) -> bool:
        if (
            origin.version is None
            or self._is_own(origin.file)
            or self._is_moved(origin)
            or "\n" in origin.name
        ):
            return False
        if layout is not origin.layout and layout != origin.layout:
            return False
        return _Form.is_plain(tensor)

    def _of_members(self, parts: Sequence[tuple[Origin, Tensor[Any]]]) -> dict[str, Json] | None:
        shapes = [tensor.shape for _, tensor in parts]
        boxes = all(shape.is_box for shape in shapes)
        if not boxes and not all(map(_are_rows, shapes)):
            return None
        numbers: dict[str, int] = {}
        table: IntArray = np.empty((len(parts), 3), dtype=np.int64)
        for row, (origin, tensor) in enumerate(parts):
            file = origin.file
            if file.path not in numbers and not file.is_there():
                raise ConversionError(f"the view reads {shortened(file.path)}, which was replaced")
            version = int(cast("Any", origin.version)(), 16)
            table[row] = (
                len(tensor),
                numbers.setdefault(file.path, len(numbers)),
                version - (version >> 63 << 64),
            )
        lengths: IntArray | None = None
        if not boxes:
            lengths = np.concatenate([_lengths(shape) for shape in shapes])
        names = "\n".join([origin.name for origin, _ in parts]).encode("utf-8", "surrogateescape")
        tail = shapes[0].extents[1:] if boxes else ()
        source = MembersSource.of(tuple(numbers), table, names, parts[0][1].dtype, tail, lengths)
        return self._members(source)


def _lengths(shape: Shape[Any]) -> IntArray:
    return np.diff(shape.splits(1))


def _rows_of(whole: Layout[Any], chosen: Layout[Any]) -> range | None:
    """Return the rows of a jagged tensor that form a part; None if the part is not a run of rows."""
    shape, count = whole.shape, chosen.shape.as_smooth().extents[:1]
    if shape.rank != 2 or shape.is_box or shape.has_layers or chosen.shape.rank != 2 or chosen.shape.is_box:
        return None
    splits = shape.splits(1) + whole.offset
    first, last = np.searchsorted(splits, [chosen.offset, chosen.offset + 1])
    # Preceding empty rows have the same start as the first row.
    found = (range(int(row), int(row) + count[0]) for row in range(int(last) - 1, int(first) - 1, -1))
    return next((rows for rows in found if whole[rows.start : rows.stop] == chosen), None)


def _are_rows(shape: Shape[Any]) -> bool:
    """Return True if row lengths fully describe a shape."""
    return shape.rank == 2 and shape.kind == "jagged" and shape == Shape.from_offsets(shape.splits(1))


def _are(calls: Sequence[object], others: Sequence[object]) -> bool:
    return len(calls) == len(others) and all(a is b for a, b in zip(calls, others, strict=True))


@final
class _Form:
    """Shape and dtype of a source, if a view may store them."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: Shape[Any] | None, dtype: "np.dtype[Any] | None") -> None:
        self.shape = shape
        self.dtype = dtype

    @classmethod
    def of(cls, whole: "Tensor[Any] | View[Any]") -> "_Form":
        shape = whole.shape
        few = shape.is_box or (shape.rank == 2 and len(whole) <= _ROWS)
        return cls(shape, whole.dtype) if cls.is_plain(whole) and few else cls(None, None)

    @staticmethod
    def is_plain(whole: "Tensor[Any] | View[Any]") -> bool:
        """Return True if all elements are stored contiguous numbers."""
        shape = whole.shape
        plain = whole.dtype.kind in PLAIN and not whole.is_sparse and not whole.is_nullable
        layout = whole.layout if isinstance(whole, Tensor) else expression_of(whole).layout
        return plain and not shape.has_layers and not layout.is_tiled
