"""`RemoteRecords`: records on a server, whose fields are read together."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, cast, final, overload

from tensorwrapper._arrays import splits_of
from tensorwrapper._error_text import brief, counted, shortened
from tensorwrapper._hints import hint
from tensorwrapper._no_array import NoArray
from tensorwrapper.buffer.lowlevel import buffer_of, packed_layout
from tensorwrapper.errors import (
    ConversionError,
    ReadOnlyError,
    RemoteProtocolError,
    RequestRefusedError,
    TensorNameError,
    VersionChangedError,
)
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._lookup import facts_of, names_under
from tensorwrapper.remote.client._rows import chosen_rows
from tensorwrapper.remote.client._shared_connections import Opening, opened, opening_of
from tensorwrapper.remote.client._source import elements_of
from tensorwrapper.remote.client._tensor import RemoteTensor, summary_of
from tensorwrapper.remote.protocol._events import AskRecords, FieldRows
from tensorwrapper.selection import Runs, View
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import ArrayKey, IntArray

if TYPE_CHECKING:
    from tensorwrapper.fields import Records

_AT_ONCE: Final = 2**20
"""Limit on the bytes of elements sent with their row lengths in one answer."""
_SHOWN: Final = 20
"""Limit on the fields shown in a notebook."""
_ROWS: Final = 2**17
"""Limit on the rows of one answer."""


@final
class RemoteRecords(NoArray):
    """Records on a server: fields with the same rows and version, created by `Remote.records`.

    A string selects a field, which is a `RemoteTensor`, and a list of strings several fields. Any other key
    selects rows of all fields and returns `Records`. One request returns the lengths of these rows and, up to
    a MiB, the elements of all fields. Otherwise the fields are lazy views. `tw.records`, `tw.concat` and
    similar functions accept the `view`. It pickles as a `RemoteTensor` does.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> e = tw.records({"t": tw.jagged([[5, 1, 7], [], [2, 9]]), "run": [10, 20, 30]})
    >>> with tw.serve({"ev": e}) as server, tw.connect(server.address) as remote:
    ...     events = remote.records("ev")
    ...     events.names, len(events), events[1:].to_dict(), events["t"][0].tolist()
    (('t', 'run'), 3, {'t': [[], [2, 9]], 'run': [20, 30]}, [5, 1, 7])
    """

    __slots__ = ("_connections", "_fields", "_is_told", "_name", "_rank")

    def __init__(
        self,
        connections: Connections,
        name: str,
        fields: dict[str, RemoteTensor],
        rank: int,
        *,
        is_told: bool,
    ) -> None:
        self._connections, self._name = connections, name
        self._fields, self._rank = fields, rank
        self._is_told = is_told

    def __reduce__(self) -> "tuple[Callable[..., RemoteRecords], tuple[Any, ...]]":
        opening = opening_of(self, self._connections)
        return _opened, (opening, self._name, self._fields, self._rank, self._is_told)

    @property
    def name(self) -> str:
        """The name under which the records are served."""
        return self._name

    @property
    def version(self) -> str:
        """The version of all fields."""
        return next(iter(self._fields.values())).version

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return tuple(self._fields)

    @property
    def rank(self) -> int:
        """The number of modes that the fields share."""
        return self._rank

    @property
    def shape(self) -> Shape[Any]:
        """The shape that the fields share; the lengths of all rows are requested on first access."""
        whole = next(field for field in self._fields.values() if field.rank >= self._rank)
        return whole.shape if whole.rank == self._rank else whole.shape.leading(self._rank)

    @property
    def nbytes(self) -> int:
        """The number of bytes of the elements of all fields."""
        return sum([field.nbytes for field in self._fields.values()])

    def __len__(self) -> int:
        return min([len(field) for field in self._fields.values()])

    @overload
    def __getitem__(self, key: str) -> RemoteTensor: ...
    @overload
    def __getitem__(self, key: list[str]) -> "RemoteRecords": ...
    @overload
    def __getitem__(self, key: ArrayKey) -> "Records": ...
    def __getitem__(self, key: "str | list[str] | ArrayKey") -> "RemoteTensor | RemoteRecords | Records":
        """Return a field, several fields, or rows of all fields.

        Raises
        ------
        TensorNameError
            If there is no such field, or a name comes twice.
        OutOfBoundsError, TooManyIndicesError
            If there are no such rows.
        VersionChangedError
            If the records have changed since they were looked up.
        """
        if isinstance(key, str):
            return self._field(key)
        given: Any = key  # a list may hold anything
        if type(given) is list and given and isinstance(given[0], str):
            names = cast("list[str]", given)
            fields = {name: self._field(name) for name in names}
            if len(fields) < len(names):
                twice = next(name for name in fields if names.count(name) > 1)
                raise TensorNameError(
                    f"the field {twice!r} is selected twice; names of fields must be unique"
                )
            rank = min(self._rank, max([field.rank for field in fields.values()]))
            return RemoteRecords(self._connections, self._name, fields, rank, is_told=self._is_told)
        rows_of = cast("Any", self._rows)
        found = (
            chosen_rows(len(self), cast("ArrayKey", key), rows_of) if self._is_told and self._rank else None
        )
        return cast("Records", found) if found is not None else self.view()[key]

    def _field(self, name: object) -> RemoteTensor:
        found = self._fields.get(name) if isinstance(name, str) else None
        if found is None:
            raise TensorNameError(
                f"{self._name!r} has no field {brief(name)}; existing: {shortened(', '.join(self.names))}"
            )
        return found

    def view(self) -> "Records":
        """Return records of lazy views of all fields."""
        from tensorwrapper.fields import records  # noqa: PLC0415 - few clients read records

        return records({name: field.view() for name, field in self._fields.items()}, shape=self.shape)

    def compute(self) -> "Records":
        """Return all elements of all fields."""
        return self.view().compute()

    def to_dict(self) -> dict[str, Any]:
        """Return the elements of each field in nested lists, by name."""
        return self.view().to_dict()

    def keys(self) -> Sequence[str]:
        """Return the names of the fields."""
        return self.names

    def __contains__(self, name: object) -> bool:
        raise ConversionError(f"use `{brief(name)} in r.names` to check for a field")

    def __iter__(self) -> "Iterator[Records]":
        return iter(self.view())

    # For operators, and functions of records.

    def __fields__(self) -> "tuple[dict[str, View[Any]], int]":
        """Return views of all fields, and the number of shared modes."""
        return self.view().__fields__()

    def __join__(
        self, what: Literal["concat", "stack", "where"], operands: Sequence[Any], mode: int
    ) -> "Records":
        """Return the result of `tw.concat`, `tw.stack` or `tw.where` for the view and other records."""
        return self.view().__join__(what, operands, mode)

    def _no_array(self, what: str) -> ConversionError:
        name = self.names[0]
        return ConversionError(f"{what}: use `r[{name!r}]` for one field, `r[:]` or `r.view()` for Records")

    if not TYPE_CHECKING:
        # Type checkers should reject item assignment.

        def __setitem__(self, key: object, value: object) -> NoReturn:
            raise ReadOnlyError(f"the records {self._name!r} on a server are read-only")

        def __delitem__(self, key: object) -> NoReturn:
            self[key] = None

    # Rows of all fields.

    def _rows(self, rows: Runs) -> "Records":
        """Return rows by ascending numbers."""
        if rows.size > min(_ROWS, self._connections.here().welcome.answer_bytes // 16):
            return self._by_field(rows)
        fields = self._fields
        request = AskRecords(self._name, self.version, tuple(fields), rows, _AT_ONCE)
        try:
            answer = self._connections.here().ask(request)
        except RequestRefusedError as error:
            # Other kinds of fields, such as sparse ones, are read one by one.
            if error.reason not in ("unsupported", "limit"):
                raise
            return self._by_field(rows)
        if not isinstance(answer, FieldRows) or answer.version != self.version:
            raise VersionChangedError(f"the records {self._name!r} do not have the version {self.version!r}")
        shapes = self._shapes(answer, rows)
        if not answer.elements:
            return self._lazy(answer, rows)
        made: dict[str, Tensor[Any]] = {}
        for field, number, frames in zip(fields.values(), answer.fields, answer.elements, strict=True):
            inner = () if number >= 0 else field.shape.extents[1:]
            shape = shapes[number] if number >= 0 else Shape(rows.size, *inner)
            flat = elements_of(frames, field.dtype, shape.size)
            made[field.name[len(self._name) + 1 :]] = make_tensor(
                packed_layout(shape), buffer_of(flat).as_readonly()
            )
        return self._records(made)

    def _shapes(self, answer: FieldRows, rows: Runs) -> list[Shape[Any]]:
        """Return the shape of each table of rows, after checking it against the fields."""
        if len(answer.fields) != len(self._fields):
            raise RemoteProtocolError(
                "size", f"{len(self._fields)} fields were requested, but others were received"
            )
        for field, number in zip(self._fields.values(), answer.fields, strict=True):
            if (number >= 0) != (field._n_rows is not None):
                raise RemoteProtocolError("schema", f"the rows of {field.name!r} have another kind")
        shapes: list[Shape[Any]] = []
        for number, (starts, lengths) in enumerate(answer.tables):
            if len(starts) != rows.count or len(lengths) != rows.size:
                raise RemoteProtocolError(
                    "size", f"{rows.size} rows were requested, but others were received"
                )
            most = min(
                [
                    field.size
                    for field, own in zip(self._fields.values(), answer.fields, strict=True)
                    if own == number
                ],
                default=0,
            )
            if _sum(lengths) > most:
                raise RemoteProtocolError("size", f"rows have more than the {most} elements of the tensor")
            shapes.append(Shape.from_offsets(splits_of(lengths), validate=False, copy=False))
        return shapes

    def _lazy(self, answer: FieldRows, rows: Runs) -> "Records":
        """Return lazy views of rows with known lengths."""
        numbers = rows.numbers()
        return self._records(
            {
                name: field.view()[numbers] if number < 0 else field._seen_rows(rows, *answer.tables[number])
                for (name, field), number in zip(self._fields.items(), answer.fields, strict=True)
            }
        )

    def _by_field(self, rows: Runs) -> "Records":
        first, last = (int(rows.starts[0]), int(rows.ends[-1])) if rows.size else (0, 0)
        key: ArrayKey = slice(first, last) if last - first == rows.size else rows.numbers()
        return self._records({name: field[key] for name, field in self._fields.items()})

    def _records(self, fields: dict[str, Any]) -> "Records":
        from tensorwrapper.fields import records  # noqa: PLC0415 - few clients read records

        whole = next(field for field in fields.values() if field.rank >= self._rank)
        shape = whole.shape if whole.rank == self._rank else whole.shape.leading(self._rank)
        return records(fields, shape=shape)

    def __repr__(self) -> str:
        return f"<RemoteRecords {self._name!r}: {shortened(', '.join(self.names))}>"

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: a table of the fields. Sends no request."""
        from tensorwrapper._displays import Fold, html_block, html_table  # noqa: PLC0415 - few are shown
        from tensorwrapper.drawing import bytes_text  # noqa: PLC0415 - few are shown

        rows = [(name, *summary_of(field)) for name, field in itertools.islice(self._fields.items(), _SHOWN)]
        more = len(self._fields) - len(rows)
        table = html_table([("field", "shape", "dtype", "bytes"), *rows], more=more)
        return html_block(
            f"RemoteRecords {counted(len(self._fields), 'field')}, {bytes_text(self.nbytes)}",
            [("name", self._name), ("server", self._connections.address), ("version", self.version)],
            folds=[Fold("fields", table, opened=True)],
        )


hint(RemoteRecords, "RemoteRecords")


def _opened(
    opening: Opening,
    name: str,
    fields: dict[str, RemoteTensor],
    rank: int,
    is_told: bool,  # noqa: FBT001 - pickled by position
) -> RemoteRecords:
    """Return records from their pickled state."""
    return RemoteRecords(opened(opening), name, fields, rank, is_told=is_told)


def _sum(lengths: IntArray) -> int:
    # A sum of 64 bits of untrusted numbers may wrap around.
    most = int(lengths.max(initial=0))
    return int(lengths.sum()) if most * len(lengths) < 2**63 else sum(lengths.tolist())


def found_records(connections: Connections, name: str, pin: str = "") -> RemoteRecords:
    """Return the records with a name, current or in a snapshot.

    For a server without support for records, tensors with dotted names are the fields.

    Raises
    ------
    TensorNameError
        If there are no such records.
    VersionChangedError
        If they change during the lookup.
    """
    if not isinstance(cast("object", name), str):
        raise ConversionError(f"records are looked up by name, not by {brief(name)}")
    told = "records" in connections.here().welcome.capabilities
    names = names_under(connections, f"{name}.", pin)
    facts = facts_of(connections, names, pin, records=told)
    if told:
        facts = sorted(
            [own for own in facts if own.records is not None and own.records[0] == name],
            key=lambda own: cast("tuple[str, int, int]", own.records)[1],
        )
    if not facts:
        raise TensorNameError(f"no records are served under the name {shortened(repr(name))}")
    ranks = {own.records[2] for own in facts if own.records is not None}
    if told and (len({own.version for own in facts}) > 1 or len(ranks) > 1):
        raise VersionChangedError(f"the records {name!r} changed while they were looked up")
    fields = {own.name[len(name) + 1 :]: RemoteTensor(connections, own) for own in facts}
    # This client may have access to only some of the fields.
    rank = min([*ranks, max([own.rank for own in facts])]) if told else 1
    return RemoteRecords(connections, name, fields, rank, is_told=told)
