"""`RemoteTensor`: a tensor on a server, with only a description here."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, SupportsIndex, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import check_casting, or_absent, times_like, to_dtype
from tensorwrapper._arrays import splits_of
from tensorwrapper._error_text import type_text
from tensorwrapper.buffer.lowlevel import buffer_of, check_dtype, packed_layout
from tensorwrapper.errors import (
    ConversionError,
    LayoutError,
    OutOfBoundsError,
    ReadOnlyError,
    RemoteProtocolError,
    TensorWrapperError,
    VersionChangedError,
)
from tensorwrapper.layout import Layout, LayoutCommon
from tensorwrapper.layout.lowlevel import is_basic, tile_layout, wrap_layout
from tensorwrapper.remote.client._blocks import RemoteBlocks
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._orbits import OrbitSource, orbit_source
from tensorwrapper.remote.client._reductions import reduced_there
from tensorwrapper.remote.client._remote_array import RemoteArray
from tensorwrapper.remote.client._rows import chosen_rows, rows_source
from tensorwrapper.remote.client._shared_connections import Opening, opened, opening_of
from tensorwrapper.remote.client._source import RemoteSource, elements_of
from tensorwrapper.remote.client._sparse_entries import (
    fill_of_source,
    read_entries,
    read_entries_of_rows,
    wanted_of,
)
from tensorwrapper.remote.client._tiled_tensor import InTiles, layout_of_tiles
from tensorwrapper.remote.client._write_source import WritingSource
from tensorwrapper.remote.protocol._elements import dtype_of, dtype_text, may_be_null
from tensorwrapper.remote.protocol._events import AskRows, AskShape, Facts, Rows, Text
from tensorwrapper.selection import Runs, Source, TensorSource, View, Wanted, as_view
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import shape_words
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, ArrayKey, ElementCasting, IntArray

if TYPE_CHECKING:
    from tensorwrapper.selection import Cancel, Progress, Target
    from tensorwrapper.shape import BlockPattern, Symmetry, SymmetryLike

_ROWS_AT_ONCE: Final = 2**17
"""Rows whose lengths are requested at a time."""

_WITH_LENGTHS: Final = 2**15
"""Limit on the bytes of elements sent with row lengths, cheaper than another round trip."""


@final
class RemoteTensor(RemoteArray, InTiles):
    """A tensor on a server, pinned to its version at the time of lookup.

    Indexing returns a `View`. `compute()` reads only the needed elements from the server. All functions of
    `selection` accept such views, and this tensor. If the tensor is changed, reads raise
    `VersionChangedError`; look it up again.

    Selecting rows of a jagged tensor transfers only their lengths. Selecting from a sparse tensor transfers
    the stored entries of the selection. A tensor in blocks transfers the elements of present tiles when a
    selection is computed. A tensor that is tiled on the server is also tiled here: selections of elements are
    requested as selections of the box.

    It has the methods of a view, and selections return views. Operators and ufuncs read their operands. The
    server itself computes `np.sum`, `mean`, `prod`, `max`, `min`, `any`, `all` and `count_nonzero` of 16 KiB
    and more.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> events = tw.jagged([[1, 2], [], [3, 4, 5]])
    >>> with tw.serve({"events": events}) as server, tw.connect(server.address) as remote:
    ...     rows = remote["events"]
    ...     rows.kind, len(rows), rows[1:].shape, rows[-1, ::2].compute().tolist()
    ('jagged', 3, Shape.jagged([0, 3]), [3, 5])
    """

    __slots__ = ("_blocks", "_connections", "_dtype", "_facts", "_shape", "_sparse", "_tiles", "_viewed")

    def __init__(self, connections: Connections, facts: Facts, dtype: "np.dtype[Any] | None" = None) -> None:
        self._connections, self._facts = connections, facts
        self._dtype = dtype_of(facts.dtype) if dtype is None else dtype
        self._shape: Shape[Any] | None = None
        self._sparse: Tensor[Any] | None = None
        self._blocks: RemoteBlocks | None = None
        self._tiles: tuple[Shape[Any], Layout[Any]] | None = None
        self._viewed: View[Any] | None = None
        if facts.shape is not None:
            self._shape = _shape_of(facts, facts.shape)

    def __reduce__(self) -> "tuple[Callable[..., RemoteTensor], tuple[Any, ...]]":
        return _opened, (opening_of(self, self._connections), self._facts, self._dtype)

    # Members known without a request.

    @property
    def name(self) -> str:
        """Name of the tensor on the server."""
        return self._facts.name

    @property
    def version(self) -> str:
        """Version, which distinguishes this tensor from later ones with the same name."""
        return self._facts.version

    @property
    def kind(self) -> str:
        """``smooth``, ``jagged`` or ``nested``."""
        return self._facts.kind

    @property
    def rank(self) -> int:
        """The number of modes."""
        return self._facts.rank

    @property
    def _n_rows(self) -> int | None:
        """Number of rows, if rows are requested by number; otherwise None."""
        return self._facts.rows

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._facts.size

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return self._dtype

    @property
    def nbytes(self) -> int:
        """Size of the elements in bytes."""
        return self.size * self.dtype.itemsize

    @property
    def is_sparse(self) -> bool:
        """True if the tensor is sparse."""
        return self._facts.entries is not None

    @property
    def is_nullable(self) -> bool:
        """True if elements may be null."""
        return hasattr(self._dtype, "na_object") or may_be_null(self._facts.dtype)

    # Members requested once.

    @property
    def shape(self) -> Shape[Any]:
        """Shape of the tensor; the first access requests the row lengths."""
        shape = self._shape
        if shape is None:
            facts = self._facts
            if facts.rows is None or facts.box is not None:
                answer = self._connections.here().ask(AskShape(facts.name, facts.version))
                if not isinstance(answer, Text):
                    raise RemoteProtocolError("schema", "the server sent another answer than a shape")
                shape = _shape_of(facts, answer.text)
            else:
                starts, lengths, _ = self._rows(Runs(0, facts.rows))
                shape = Shape.jagged(lengths)
                if shape.size != facts.size or (len(starts) and starts[0]):
                    raise RemoteProtocolError(
                        "size", f"rows have {shape.size} elements, not the announced {facts.size}"
                    )
            self._shape = shape
        return shape

    def view(self) -> View[Any]:
        """Return a view of the whole tensor."""
        found = self._viewed
        if found is None:
            found = self._viewed = as_view(self.as_source())
        return found

    def as_source(self) -> Source:
        """Return the tensor as a source of views. Requests the entries of a sparse tensor."""
        if not self.is_sparse:
            orbits = self._orbits()
            return self._seen() if orbits is None else orbits
        blocks = self._in_blocks()
        if blocks is not None:
            return TensorSource(blocks.tensor)
        found = self._sparse
        if found is None:
            found = self._sparse = self._stored_in((Runs(0, self.size),))
        return TensorSource(found)

    def astype(
        self, dtype: npt.DTypeLike, *, casting: ElementCasting = "checked"
    ) -> "RemoteTensor | View[Any]":
        """Return the tensor with another dtype, to which the server casts before sending.

        Reading an element that does not fit raises. The server casts only once, and only stored numbers.
        Otherwise, and for ``casting="unsafe"``, the result is a view, which casts here.

        Raises
        ------
        ConversionError
            If the protocol does not support the dtype.
        DTypeError
            If the dtype is invalid, or the elements are strings.
        """
        if casting != "checked":
            check_casting(casting, ElementCasting)
        held, wanted = dtype_of(self._facts.dtype), times_like(to_dtype(dtype), self.dtype)
        is_seen = self.is_sparse or self.is_nullable or self.dtype.kind == "T" or wanted.kind == "T"
        if is_seen or casting != "checked":
            return self.view().astype(wanted, casting=casting)
        check_dtype(wanted)
        if wanted != self.dtype and not np.can_cast(held, self.dtype):
            # Keep both casts, because the first one loses information.
            return self.view().astype(wanted)
        dtype_text(wanted)
        return RemoteTensor(self._connections, self._facts, wanted)

    def _seen(self) -> RemoteSource:
        """Return the source of views: the whole tensor, or the box under its tiles."""
        origin = self._facts.box
        if origin is None:
            return self._source(self.shape)
        found = self._tiles
        if found is None:
            found = self._tiles = layout_of_tiles(self.shape, origin)
        box, layout = found
        return attrs.evolve(self._source(box), layout=layout)

    def _source(self, shape: Shape[Any]) -> RemoteSource:
        held = dtype_of(self._facts.dtype)
        cast_to = None if self._dtype == held else dtype_text(self._dtype)
        return RemoteSource(
            self._connections,
            self.name,
            self.version,
            shape,
            self._dtype,
            cast_to,
            held_itemsize=held.itemsize,
            nullable=may_be_null(self._facts.dtype),
        )

    # Selections.

    def __iter__(self) -> Iterator[View[Any]]:
        return iter(self.view())

    def __len__(self) -> int:
        if not self.rank:
            raise ConversionError("a tensor of rank 0 has no len")
        return self.shape.extent(0) if self._facts.rows is None else self._facts.rows

    def __getitem__(self, key: ArrayKey) -> View[Any]:
        """Return the selected part as a view with origin zero, by NumPy's rules.

        Raises
        ------
        OutOfBoundsError, TooManyIndicesError
            If there is no such part.
        """
        is_known = self._shape is not None or self._sparse is not None
        if self._facts.rows is not None and not is_known and not self._stays_tiled(key):
            found = self._selected_rows(key)
            if found is not None:
                return found
        if self.is_sparse and self._sparse is None:
            blocks = self._in_blocks()
            if blocks is None:
                return self._selected_entries(key)
            if is_basic(key):
                return blocks.view(blocks.tensor.layout[cast("Any", key)])
        if self._facts.box is not None and not self.is_sparse and not self._stays_tiled(key):
            # Answers have the elements tile by tile, in the requested order. Reading through the box would
            # require moving each element.
            return as_view(self._source(self.shape))[key]
        return self.view()[key]

    def _stays_tiled(self, key: ArrayKey) -> bool:
        """Return True if a key selects several tiles of a tiled tensor, so that the result is tiled."""
        if self._facts.box is None:
            return False
        items: tuple[Any, ...] = key if isinstance(key, tuple) else (key,)
        first = next((item for item in items if item is not None), ...)
        return first is ... or isinstance(first, slice)

    def _selected_rows(self, key: ArrayKey) -> View[Any] | None:
        """Return the part that a key selects from rows; None if the key does not select rows first."""
        return chosen_rows(cast("int", self._facts.rows), key, self._view_of_rows)

    def _view_of_rows(self, rows: Runs) -> View[Any]:
        starts, lengths, elements = self._rows(rows, 0 if self.is_sparse else _WITH_LENGTHS)
        if elements is not None:
            # The elements arrived with the lengths. They are read-only, because writes would not reach the
            # server.
            shape: Shape[Any] = Shape.from_offsets(splits_of(lengths), validate=False, copy=False)
            return as_view(make_tensor(packed_layout(shape), buffer_of(elements).as_readonly()))
        return self._seen_rows(rows, starts, lengths)

    def _seen_rows(self, rows: Runs, starts: IntArray, lengths: IntArray) -> View[Any]:
        """Return a lazy view of rows with known starts and lengths."""
        flat = attrs.evolve(self._source(Shape(self.size)), is_whole=False)
        found = rows_source(flat, rows, starts, lengths)
        if self.is_sparse:
            return as_view(read_entries_of_rows(self._connections, self._facts, found))
        return as_view(found)

    def _rows(self, rows: Runs, nbytes: int = 0) -> tuple[IntArray, IntArray, Array | None]:
        """Return the starts of runs of rows, all row lengths, and the elements if they are few."""
        facts, connection = self._facts, self._connections.here()
        if rows.size and int(rows.ends[-1]) > cast("int", facts.rows):
            raise OutOfBoundsError(f"there are {facts.rows} rows, not {int(rows.ends[-1])}")
        if not rows.size:
            return np.empty(0, np.int64), np.empty(0, np.int64), None
        most = max(min(_ROWS_AT_ONCE, connection.welcome.answer_bytes // 8), 1)
        if rows.size <= most:
            with_them = self._comes_with_lengths(connection.welcome.capabilities)
            return self._ask_rows(rows, nbytes if with_them else 0)
        numbers = rows.numbers() if len(rows.starts) > 1 else None
        starts: list[IntArray] = []
        lengths: list[IntArray] = []
        for k in range(0, rows.size, most):
            first, counts, _ = self._ask_rows(_some(rows, numbers, k, most), 0)
            starts.append(first)
            lengths.append(counts)
        # A run that was requested in pieces starts with its first piece.
        first = np.concatenate(starts)
        begins = np.concatenate([_some(rows, numbers, k, most).starts for k in range(0, rows.size, most)])
        return first[np.isin(begins, rows.starts)], np.concatenate(lengths), None

    def _ask_rows(self, own: Runs, nbytes: int) -> tuple[IntArray, IntArray, Array | None]:
        """Return the result of `_rows` for rows that fit one answer."""
        facts = self._facts
        answer = self._connections.here().ask(AskRows(facts.name, facts.version, own, nbytes))
        if not isinstance(answer, Rows) or answer.version != facts.version:
            raise VersionChangedError(
                f"the rows of {facts.name!r} are not those of version {facts.version!r}"
            )
        if len(answer.starts) != len(own.starts) or len(answer.lengths) != own.size:
            raise RemoteProtocolError("size", f"{own.size} rows were requested, but others were received")
        most = int(answer.lengths.max(initial=0))
        # A sum of untrusted numbers in 64 bits may overflow.
        count = int(answer.lengths.sum()) if most * own.size < 2**63 else sum(answer.lengths.tolist())
        if count > facts.size:
            raise RemoteProtocolError("size", f"rows have more than the {facts.size} elements of the tensor")
        elements = None
        if answer.elements is not None:
            if count * self.dtype.itemsize > nbytes:
                raise RemoteProtocolError("size", f"received {count} elements without a request")
            elements = elements_of((answer.elements,), self.dtype, count)
        return answer.starts, answer.lengths, elements

    def _comes_with_lengths(self, capabilities: tuple[str, ...]) -> bool:
        """Return True if the server can send elements with their row lengths."""
        is_cast = self._dtype != dtype_of(self._facts.dtype)
        plain = not is_cast and self._dtype.kind != "T" and not self.is_nullable
        return "rows with elements" in capabilities and plain

    def _in_blocks(self) -> RemoteBlocks | None:
        """Return the present tiles of a tensor in blocks, requested once; None for other tensors."""
        found = self._blocks
        if found is None and self._facts.present is not None:
            source = attrs.evolve(self._source(self.shape), layout=None)
            found = self._blocks = RemoteBlocks(self._facts, source, fill_of_source(self._facts, source))
        return found

    def _orbits(self) -> OrbitSource | None:
        """Return the packed elements of a symmetric tensor; None for others, and if the server casts."""
        facts = self._facts
        if facts.symmetry is None or not self.shape.is_box or self._dtype != dtype_of(facts.dtype):
            return None
        return orbit_source(facts, self._source(self.shape))

    @property
    def symmetry(self) -> "Symmetry | None":
        """The symmetry of a packed tensor; None for others. Sends no request."""
        orbits = self._orbits()
        if orbits is not None:
            return orbits.symmetry
        return None if self._facts.present is None else super().symmetry

    def compute(
        self,
        out: "Target | None" = None,
        *,
        progress: "Progress | None" = None,
        cancel: "Cancel | None" = None,
    ) -> Tensor[Any]:
        """Return all elements as a tensor in new memory, or in `out`; see `View.compute`.

        A symmetric tensor stays packed, and only packed elements are transferred.
        """
        orbits = self._orbits() if out is None and progress is None and cancel is None else None
        return super().compute(out, progress=progress, cancel=cancel) if orbits is None else orbits.whole()

    def packed_values(self) -> Array:
        """Return the stored elements of a symmetric or tiled tensor."""
        return super().packed_values() if self._orbits() is None else self.compute().packed_values()

    def to_packed(self, symmetry: "SymmetryLike", tolerance: float = 0.0) -> Tensor[Any]:
        """Return the elements as a symmetric tensor, as `Tensor.to_packed`."""
        if self._orbits() is None:
            return super().to_packed(symmetry, tolerance)
        return self.compute().to_packed(symmetry, tolerance)

    @property
    @or_absent
    def pattern(self) -> "BlockPattern":
        """The present tiles of a tensor in blocks, with one request for 8 bytes per tile.

        Raises
        ------
        LayoutError
            If the tensor is not in blocks.
        """
        blocks = self._in_blocks()
        if blocks is None:
            raise LayoutError(f"{self.name!r} is not in blocks, as tw.blocks(blocks, tiling) makes tensors")
        return blocks.pattern

    @property
    @or_absent
    def stored_pattern(self) -> "BlockPattern":
        """The stored tiles: one per orbit of a symmetric tensor, otherwise all present; as `pattern`."""
        pattern, symmetry = self.pattern, self.symmetry
        return pattern if symmetry is None else pattern.unique(symmetry)

    def tile(self, number: Iterable[SupportsIndex]) -> View[Any]:
        """Return a tile by number, with its origin in the box. See `View.tile`.

        A tensor in blocks reads only this tile; an absent tile needs no request.
        """
        blocks = self._in_blocks()
        if blocks is None:
            return super().tile(number)
        found = tile_layout(blocks.tensor.layout.implementation.unnamed(), number)
        return blocks.view(wrap_layout(cast("LayoutCommon", found)))

    def _selected_entries(self, key: ArrayKey) -> View[Any]:
        """Return the part of a sparse tensor that a key selects, after reading its stored entries."""
        return as_view(self._stored_in(wanted_of(self._seen(), key)))[key]

    def _stored_in(self, selections: Sequence[Wanted]) -> Tensor[Any]:
        """Return a sparse tensor with the stored entries within selections."""
        return read_entries(self._connections, self._facts, self._seen(), selections)

    def _reduced_there(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> object:
        if self.is_sparse or self._dtype.kind not in "biufc":
            return NotImplemented
        return reduced_there(self._connections, function, self.view(), arguments, options)

    # Writing.

    @property
    def is_readonly(self) -> bool:
        """True unless this client may write to the tensor."""
        return not self._facts.writable

    def __setitem__(self, key: ArrayKey, value: npt.ArrayLike) -> None:
        """Write values to selected elements, without comparing versions; see `assign`."""
        self.assign(key, value)

    def assign(self, key: ArrayKey, value: npt.ArrayLike, *, if_unchanged: bool = False) -> None:
        """Write values, broadcast and cast, to selected elements, atomically in one request.

        Afterwards this object has the new version of the tensor; earlier views have the old version. A write
        that was lost with its connection is repeated, but applied only once.

        Parameters
        ----------
        key
            Selected elements; none may be selected twice.
        value
            New values.
        if_unchanged
            Write only if the tensor still has this version.

        Raises
        ------
        ReadOnlyError
            If this client may not write to the tensor, or the key selects an element twice.
        VersionChangedError
            If `if_unchanged` is True and the tensor has changed.
        OutcomeUnknownError
            If the server did not answer, or restarted meanwhile, so that the outcome is unknown.
        SizeOverflowError
            If the values are too large for one request.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> x = np.zeros((2, 3))
        >>> with tw.serve({"x": x}, writable=True) as server, tw.connect(server.address) as remote:
        ...     there = remote["x"]
        ...     there[1, ::2] = 5
        ...     there.compute().tolist()
        [[0.0, 0.0, 0.0], [5.0, 0.0, 5.0]]
        """
        facts = self._facts
        if not facts.writable or self._dtype != dtype_of(facts.dtype):
            raise ReadOnlyError(f"{self!r} is read-only: the server accepts no writes to it from this client")
        version = facts.version if if_unchanged else ""
        seen = self._seen()
        target = WritingSource(self._connections, facts, seen.shape, self._dtype, version, seen.layout)
        part = as_view(target)[key]
        # Nothing is written to no elements, but the errors are those of elements that may be nulls.
        (part if part.shape.size else self.view()[key]).assign(value)
        self._facts = attrs.evolve(facts, version=target.version)
        self._sparse = self._viewed = self._blocks = None

    def __repr__(self) -> str:
        return f"<RemoteTensor {self._facts.name!r}: {', '.join(summary_of(self))}>"

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: facts that are known without a request."""
        from tensorwrapper._displays import html_block  # noqa: PLC0415 - few are shown

        facts = self._facts
        own = "writeable" if facts.writable else "read-only"
        stored = [] if facts.entries is None else [("stored", f"{facts.entries:,} elements")]
        return html_block(
            f"RemoteTensor {', '.join(summary_of(self))}",
            [
                ("name", facts.name),
                ("server", self._connections.address),
                ("version", f"{facts.version}, {own}"),
                *stored,
                ("state", "elements are at the server; a selection reads its own elements alone"),
            ],
        )


def summary_of(tensor: RemoteTensor) -> tuple[str, str, str]:
    """Return shape, dtype and bytes in words, as far as known without a request."""
    from tensorwrapper.drawing import bytes_text, count_text  # noqa: PLC0415 - few are shown

    facts = tensor._facts
    if tensor._shape is not None:
        shape = shape_words(tensor._shape)
    elif facts.rows is not None:
        shape = f"{count_text(facts.rows)} rows, {count_text(facts.size)} elements"
    else:
        shape = f"{facts.kind}, rank {facts.rank}, {count_text(facts.size)} elements"
    return shape, type_text(tensor.dtype), bytes_text(tensor.nbytes)


def _opened(opening: Opening, facts: Facts, dtype: "np.dtype[Any]") -> RemoteTensor:
    """Return a tensor from its pickled state."""
    return RemoteTensor(opened(opening), facts, dtype)


def _some(rows: Runs, numbers: IntArray | None, start: int, count: int) -> Runs:
    """Return some of the rows of runs."""
    if numbers is None:
        begin = int(rows.starts[0]) if len(rows.starts) else 0
        return Runs(begin + start, min(count, rows.size - start))
    return Runs(numbers[start : start + count])


def _shape_of(facts: Facts, text: str) -> Shape[Any]:
    try:
        shape = Shape.from_json(text)
    except TensorWrapperError as error:
        raise RemoteProtocolError("schema", f"the shape of {facts.name!r} is invalid: {error}") from error
    if shape.size != facts.size or shape.rank != facts.rank:
        raise RemoteProtocolError(
            "size", f"{facts.name!r} has {facts.size} elements, but its shape {shape.size}"
        )
    return shape
