"""Ragged shapes in array files: for each mode its extent, or the modes on which it depends.

The form follows a discussion of Zarr's developers (zarr-extensions, issue 57): ``[5, {"variable": [0]}, 3]``
is 5 rows of any lengths of 3 elements each, and an array of 5 numbers has the lengths. It can represent rows
of rows (sizes for each index of all previous modes) and cells of any extents (sizes for each row).
Dependencies are transitive: ``{"variable": [1]}`` is ``[0, 1]`` where mode 1 varies.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import splits_of
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, DataFileError, ExtentError, JaggedModeError, ParseError
from tensorwrapper.shape import Shape
from tensorwrapper.store.formats._origin_attributes import names_said
from tensorwrapper.store.records._loss import Loss, loss_in, unread
from tensorwrapper.typing import Index, IntArray
from tensorwrapper.wire import DEFAULT_LIMITS

_Extent: TypeAlias = "int | tuple[int, ...]"
"""Number of indices of a mode, or the modes on which it depends."""

_KEYS: Final = {"shape", "index_origin", "dimension_names"}


@final
@frozen(eq=False)
class Ragged:
    """Description of a ragged shape, without the sizes of its modes."""

    extents: tuple[_Extent, ...]
    origin: Index
    names: tuple[str | None, ...]

    @property
    def variable_modes(self) -> tuple[int, ...]:
        """Modes that have an array of sizes."""
        return tuple([mode for mode, own in enumerate(self.extents) if not isinstance(own, int)])

    @property
    def is_rows(self) -> bool:
        """True if sizes belong to nested rows, not to cells."""
        return any(own != (0,) for own in self.extents if not isinstance(own, int))

    def to_fields(self) -> dict[str, Json]:
        """Return the JSON object, without default values."""
        shape: list[Json] = [own if isinstance(own, int) else {"variable": list(own)} for own in self.extents]
        fields: dict[str, Json] = {"shape": shape}
        if any(self.origin):
            fields["index_origin"] = list(self.origin)
        if any(self.names):
            fields["dimension_names"] = list(self.names)
        return fields

    @classmethod
    def from_fields(cls, fields: object) -> "Ragged":
        """Return the description from an untrusted JSON object.

        Raises
        ------
        ParseError
            If the object does not describe a ragged shape.
        """
        given = cast("Mapping[object, Any]", fields if isinstance(fields, Mapping) else {})
        if "shape" not in given or not given.keys() <= _KEYS:
            raise ParseError(f"a ragged shape has the keys {', '.join(sorted(_KEYS))}, not {list(given)[:8]}")
        entries = _list(given["shape"], "the shape")
        if not 1 <= len(entries) <= DEFAULT_LIMITS.rank:
            raise ParseError(f"a ragged shape has 1 to {DEFAULT_LIMITS.rank} modes, not {len(entries)}")
        extents: tuple[_Extent, ...] = ()
        for entry in entries:
            extents = (*extents, _extent(entry, extents))
        origin = _list(given.get("index_origin", [0] * len(extents)), "the origin")
        names = _list(given.get("dimension_names", [None] * len(extents)), "the names of dimensions")
        if len(origin) != len(extents) or not all(type(n) is int and abs(n) < 2**62 for n in origin):
            raise ParseError(f"the origin must have {len(extents)} integers, one per mode, not {origin[:8]}")
        if names_said(names, len(extents)) != tuple(names):
            raise ParseError(
                f"the names must be {len(extents)} identifiers or null, one per mode, not {names[:8]}"
            )
        return cls(extents, cast("Index", tuple(origin)), cast("tuple[str | None, ...]", tuple(names)))

    def shape_of(self, sizes: Mapping[int, npt.ArrayLike]) -> Shape[Any]:
        """Return the shape with these sizes of the variable modes; O(rows).

        Raises
        ------
        ParseError, ExtentError
            If sizes are negative, or their number is wrong.
        """
        columns = {mode: _sizes(sizes[mode], mode) for mode in self.variable_modes}
        if self.is_rows:
            shape = self._rows(columns)
        elif columns:
            shape = self._cells(columns)
        else:
            shape = Shape(*cast("tuple[int, ...]", self.extents)).as_jagged()
        shape = shape.translate_to(self.origin) if any(self.origin) else shape
        return shape.named(*self.names) if any(self.names) else shape

    def shape_in(self, path: object, name: str, sizes: Mapping[int, npt.ArrayLike]) -> Shape[Any]:
        """Return the shape of a group in a file, from its sizes.

        Raises
        ------
        DataFileError
            If the sizes contradict the extents.
        """
        try:
            return self.shape_of(sizes)
        except (ParseError, ExtentError) as error:
            raise contradiction(path, name, error) from error

    def check_counts(self, counts: Mapping[int, int]) -> None:
        """Raise unless the numbers of sizes of the variable modes match the shape.

        Checks only the numbers that do not depend on other sizes.

        Raises
        ------
        ParseError
            If a number contradicts the extents.
        """
        known: int | None = cast("int", self.extents[0])
        for mode, own in enumerate(self.extents[1:], start=1):
            if isinstance(own, int):
                known = None if known is None else known * own
                continue
            needed = cast("int", self.extents[0]) if own == (0,) else known
            if needed is not None and mode in counts and counts[mode] != needed:
                raise ParseError(
                    f"mode {mode} has {counts[mode]} sizes for {needed} indices of the previous modes"
                )
            known = None

    def _cells(self, columns: Mapping[int, IntArray]) -> Shape[Any]:
        n_cells = cast("int", self.extents[0])
        for mode, column in columns.items():
            _check_count(column, n_cells, mode)
        table = np.empty((n_cells, len(self.extents) - 1), dtype=np.int64)
        for mode, own in enumerate(self.extents[1:], start=1):
            table[:, mode - 1] = own if isinstance(own, int) else columns[mode]
        return Shape.from_cells((n_cells,), table)

    def _rows(self, columns: Mapping[int, IntArray]) -> Shape[Any]:
        count = cast("int", self.extents[0])
        offsets: list[IntArray] = []
        # From mode 2 on: the number of indices of the previous mode below each index of mode 0.
        below: IntArray | None = None
        for mode, own in enumerate(self.extents[1:], start=1):
            if isinstance(own, int):
                if own * count > MAX_INT64:
                    raise ParseError(f"mode {mode} has {count} times {own} indices, which exceed 64 bits")
                if 8 * count > DEFAULT_LIMITS.decompressed_bytes:
                    raise ParseError(f"mode {mode} has {count} rows, which do not fit in memory")
                offsets.append(np.arange(count + 1, dtype=np.int64) * own)
            else:
                given = columns[mode]
                if own == (0,) and below is not None:
                    _check_count(given, len(below), mode)
                    given = np.repeat(given, below)
                _check_count(given, count, mode)
                offsets.append(splits_of(given))
            below = np.diff(offsets[-1] if below is None else offsets[-1][splits_of(below)])
            count = int(offsets[-1][-1])
        return Shape.from_offsets(*offsets)


def broken_rows(name: str, why: Exception) -> Loss:
    """Return the loss of a group that declares rows but lacks parts of them; its arrays are listed.

    An unsupported part is not an error of the group.
    """
    if loss_in(why) is not None:
        return unread(f"the group {name!r} is ragged, and its arrays are listed instead", name, why)
    text = f"the group {name!r} says that it is ragged, and is not, so that its arrays are listed: {why}"
    return Loss(text, name, "convention")


def contradiction(path: object, name: str, why: object) -> DataFileError:
    """Return the error of a group whose parts contradict each other.

    Examples
    --------
    >>> str(contradiction("a.h5", "r", "mode 1 has 2 sizes for 3 rows"))
    "a.h5: the ragged group 'r' is invalid: mode 1 has 2 sizes for 3 rows: raw=True lists its arrays"
    """
    text = f"{path}: the ragged group {name!r} is invalid: {why}"
    return DataFileError(Loss(text, name, "convention", "raw=True lists its arrays"))


def ragged_of(shape: Shape[Any], what: str) -> tuple[Ragged, dict[int, IntArray]]:
    """Return the description of a jagged shape, and the sizes of the variable modes; O(rows).

    Raises
    ------
    ConversionError
        If reading the description would give another shape; `what` names the tensor.
    """
    if shape.has_layers:
        raise ConversionError(f"{what} has layers, as {shape.kind} shapes do; use flatten(), or a .tens file")
    try:
        origin: Index = shape.origin
    except JaggedModeError as error:
        raise ConversionError(
            f"{what} has cells with different origins ({error}); use `t[...]` to start each "
            f"at zero, or a .tens file"
        ) from error
    for ragged, sizes in _forms(shape, origin):
        if ragged.shape_of(sizes) == shape:
            return ragged, sizes
    raise ConversionError(f"{what} is neither nested rows nor cells of one level; use a .tens file")


def _forms(shape: Shape[Any], origin: Index) -> "list[tuple[Ragged, dict[int, IntArray]]]":
    """Return the possible descriptions of a shape: as cells, which is shorter, or as rows."""
    rank, found = shape.rank, list[tuple[Ragged, dict[int, IntArray]]]()
    if shape.outer_rank == 1:
        # Do not use `cell_extents`, because sizes stored behind an empty mode matter.
        table = shape.cell_table().extents
        varying = [
            mode
            for mode in range(1, rank)
            if not len(table) or (table[1:, mode - 1] != table[0, mode - 1]).any()
        ]
        cells: list[_Extent] = [len(table)]
        cells += [(0,) if mode in varying else int(table[0, mode - 1]) for mode in range(1, rank)]
        own = {mode: table[:, mode - 1] for mode in varying}
        found.append((Ragged(tuple(cells), origin, shape.names), own))
    rows: list[_Extent] = [shape.extent(0), *[tuple(range(mode)) for mode in range(1, rank)]]
    found.append((Ragged(tuple(rows), origin, shape.names), {m: shape.lengths(m) for m in range(1, rank)}))
    return found


def _list(value: object, what: str) -> list[object]:
    if not isinstance(value, list | tuple):
        raise ParseError(f"{what} of a ragged array is a list, not a {type(value).__name__}")
    return list(cast("Sequence[object]", value))


def _extent(entry: object, before: tuple[_Extent, ...]) -> _Extent:
    if type(entry) is int and 0 <= entry <= DEFAULT_LIMITS.extent:
        return entry
    mode = len(before)
    fields = cast("Mapping[object, Any]", entry if isinstance(entry, Mapping) else {})
    if list(fields) == ["variable"] and mode:
        found = _closure(_list(fields["variable"], "an entry"), before)
        if found in ((0,), tuple(range(mode))):
            return found
    text = str(cast("Any", entry))[:60]
    raise ParseError(
        f"mode {mode} of a ragged array has up to {DEFAULT_LIMITS.extent} indices, or varies "
        f"with mode 0 or with all previous modes; not {text}"
    )


def _closure(given: list[object], before: tuple[_Extent, ...]) -> tuple[int, ...]:
    """Return modes with all of their dependencies; empty unless they are ascending earlier modes."""
    modes = [own for own in given if type(own) is int and 0 <= own < len(before)]
    if len(modes) != len(given) or modes != sorted(set(modes)):
        return ()
    # Earlier entries are already closures.
    inner = [own for mode in modes if not isinstance(own := before[mode], int)]
    return tuple(sorted(set(modes).union(*inner)))


def _sizes(given: npt.ArrayLike, mode: int) -> IntArray:
    array = np.asarray(given)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ParseError(
            f"the sizes of mode {mode} must be a 1-d array of integers, not {array.ndim}-d {array.dtype}"
        )
    if len(array) and not 0 <= int(array.min()) <= int(array.max()) <= DEFAULT_LIMITS.extent:
        raise ParseError(f"the sizes of mode {mode} are out of range: {array.min()} to {array.max()}")
    return array.astype(np.int64, copy=False)


def _check_count(sizes: IntArray, count: int, mode: int) -> None:
    if len(sizes) != count:
        raise ParseError(f"mode {mode} has {len(sizes)} sizes for {count} indices of the previous modes")
