"""`Directory`: the records of a file, by tensor name. Does no I/O."""

from collections.abc import Callable, Collection, Iterable, Iterator, KeysView, Mapping, Sequence
from itertools import chain, count
from typing import cast, final

import numpy as np

from tensorwrapper.errors import DataFileError
from tensorwrapper.store.records._index_rows import Extensions, Listing, Place, Row
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.typing import IntArray


def dotted(name: str) -> Iterator[str]:
    """Yield the part of a name before each of its dots: possible names of records."""
    stop = name.find(".")
    while stop > 0:
        yield name[:stop]
        stop = name.find(".", stop + 1)


def _by_name(names: Sequence[str], numbers: IntArray) -> dict[str, IntArray]:
    """Return the numbers of each name, ascending."""
    first, stop = numbers.item(0), numbers.item(-1) + 1
    is_run = stop - first == len(numbers)
    one = names[first]
    # Mostly one tensor grew, and then all names are one object: comparing them takes less than hashing.
    if is_run and names.count(one) - names[:first].count(one) - names[stop:].count(one) == len(numbers):
        return {one: numbers}
    found = names[first:stop] if is_run else [names[number] for number in numbers.tolist()]
    codes = {name: code for code, name in enumerate(dict.fromkeys(found))}
    of_each = np.fromiter(map(codes.__getitem__, found), np.int64, len(found))
    order = np.argsort(of_each, kind="stable")
    marks = np.cumsum(np.bincount(of_each, minlength=1))[:-1]
    return dict(zip(codes, np.split(numbers[order], marks), strict=False))


def _kind(fields: tuple[str, ...]) -> str:
    return f"records of {', '.join(fields)[:80]}" if fields else "a tensor"


@final
class Directory:
    """Records of a file, and properties of the file as a whole."""

    __slots__ = (
        "_entries",
        "_extensions",
        "_find",
        "_listed",
        "_load",
        "_may_have",
        "_metadata",
        "_n_listed",
        "_n_loaded",
        "_partial",
        "_rows",
        "_rows_at",
        "_unfinished",
        "before",
        "chain",
        "complaints",
        "end",
        "is_unchecked",
        "records",
        "torn",
        "views",
    )

    def __init__(self) -> None:
        # Places of a tensor, or its number among the listed tensors.
        self._entries: dict[str, tuple[Place, ...] | int] = {}
        self._listed: list[Listing] = []
        self._n_listed = 0  # listed rows that are not in `_rows`
        self._rows: list[Row] = []
        self._extensions: dict[str, Extensions] = {}
        self._metadata: Place | None = None
        self._load: Callable[[], Directory] | None = None
        self._may_have: Callable[[str], bool] | None = None
        self._find: Callable[[str], Row | None] | None = None
        self._rows_at: Callable[[int], list[Row] | None] | None = None
        self._n_loaded = 0  # rows that were read but not added before the directory was complete
        self.before = 0
        """Number of rows before `rows`, which are in unread indexes."""
        self.chain: list[tuple[int, int]] = []
        """Start of each valid index, and the number of its first row."""
        self.end = 0
        """Position of the next record."""
        self.torn: str | None = None
        """Reason why the bytes from `end` on are not a record; None if there are none."""
        self.is_unchecked = False
        """True if those bytes may be valid, but their checksum cannot be computed here."""
        self.complaints: list[str] = []
        """Damage that was found and skipped."""
        self.records: dict[str, tuple[str, ...]] = {}
        """Names of records and of their fields, as far as read."""
        self.views: dict[str, int] = {}
        """Start of the record of each view. A tensor of the same name hides it."""
        self._partial: dict[str, list[Place]] = {}
        self._unfinished: dict[str, list[Row]] = {}

    @classmethod
    def deferred(
        cls,
        chain: list[tuple[int, int]],
        before: int,
        end: int,
        *,
        records: Iterable[tuple[str, tuple[str, ...]]] = (),
        views: Iterable[tuple[str, int]] = (),
        load: "Callable[[], Directory]",
        may_have: Callable[[str], bool],
        find: Callable[[str], Row | None],
        rows_at: "Callable[[int], list[Row] | None]",
    ) -> "Directory":
        """Return a directory of listed records that are not read yet.

        Parameters
        ----------
        chain, before, end, records, views
            As the attributes.
        load
            Function that reads the whole directory.
        may_have
            Function that returns False if a name is certainly not listed.
        find
            Function that returns the last record of a name; None if not found.
        rows_at
            Function that reads the rows of the index at a position; None if damaged.
        """
        new = cls()
        new.chain, new.before, new.end, new.records = chain, before, end, dict(records)
        new.views = dict(views)
        new._load, new._may_have, new._find, new._rows_at = load, may_have, find, rows_at
        return new

    @property
    def rows(self) -> list[Row]:
        """All records read so far, in order."""
        if self._n_listed:
            self._rows = [*chain.from_iterable([part.rows() for part in self._listed]), *self._rows]
            self._n_listed = 0
        return self._rows

    @property
    def n_rows(self) -> int:
        """Number of records."""
        return self.before + self._n_listed + len(self._rows)

    @property
    def names(self) -> KeysView[str]:
        """Names of all complete tensors, in order."""
        self._complete()
        return self._entries.keys()

    def places(self, name: str) -> tuple[Place, ...] | None:
        """Return the pieces of an original tensor; None if it is missing or incomplete."""
        if self._load is not None:
            self._complete()
        return self._places(name)

    def alone(self, name: object) -> tuple[int, int] | None:
        """Return the start and length of the record of a tensor that is in one record; None for others."""
        if self._load is not None:
            self._complete()
        found = self._entries.get(name) if isinstance(name, str) else None
        if found is None or name in self._extensions or name in self.records:
            return None
        if not isinstance(found, int):
            return (found[0].start, found[0].length) if len(found) == 1 else None
        return self._listed_place(found)

    def _listed_place(self, number: int) -> tuple[int, int]:
        for part in self._listed:
            starts = part.starts
            if number < len(starts):
                return starts.item(number), part.lengths.item(number)
            number -= len(starts)
        raise AssertionError(number)

    def _places(self, name: str) -> tuple[Place, ...] | None:
        found = self._entries.get(name)
        if not isinstance(found, int):
            return found
        return (Place(*self._listed_place(found)),)

    @property
    def extensions(self) -> Mapping[str, Sequence[Row]]:
        """Records that extend tensors, in order; tensors without extensions have no entry."""
        self._complete()
        return self._extensions

    def field_of(self, name: str) -> tuple[str, str] | None:
        """Return the names of the records and the field for a dotted name; None if there are none.

        A tensor with the same name hides the field.
        """
        for owner in dotted(name) if self.records else ():
            field = name[len(owner) + 1 :]
            if field in self.records.get(owner, ()) and self.has(owner):
                return owner, field
        return None

    def has_view(self, name: object) -> bool:
        """Return True if a name belongs to a view, and to no tensor."""
        return isinstance(name, str) and name in self.views and name not in self.names

    def listed(self) -> Collection[str]:
        """Return the names of all complete tensors and fields, in order, then of views."""
        names = self.names
        if not self.records:
            return dict.fromkeys([*names, *self.views]) if self.views else names
        listed: list[str] = []
        for name in names:
            fields = self.records.get(name)
            listed += [name] if fields is None else [f"{name}.{field}" for field in fields]
        # A tensor hides a field or a view of the same name.
        return dict.fromkeys([*listed, *self.views])

    @property
    def metadata(self) -> Place | None:
        """Place of the latest metadata of the file."""
        if self._metadata is None:
            self._complete()
        return self._metadata

    def has(self, name: object) -> bool:
        """Return True if there is a tensor with this name; O(log n) before anything is read."""
        if name in self._entries or name in self._extensions or name in self.views:
            return True
        if self._may_have is None or not isinstance(name, str) or not self._may_have(name):
            return False
        return self._last(name) is not None or name in self.names

    def newest(self, name: str) -> Row | None:
        """Return the last read extension of a tensor; O(1)."""
        known = self._extensions.get(name)
        return known[-1] if known else None

    def tip(self, name: str) -> tuple[Row, ...] | None:
        """Return the last record of a tensor, or all of its pieces if it was split and not extended.

        Return None if there is no such tensor. Before the directory is read, reads only as much as needed.
        """
        newest = self.newest(name)
        if newest is None and name not in self._entries:
            if self._may_have is not None and not self._may_have(name):
                return None
            newest = self._last(name)
            if newest is None:
                self._complete()
                newest = self.newest(name)
        if newest is not None:
            return (newest,)
        places = self._places(name)
        if places is None:
            return None
        return tuple([(name, place, piece, len(places), None) for piece, place in enumerate(places)])

    def _last(self, name: str) -> Row | None:
        """Return the last unread record of a name, if it is complete by itself."""
        if self._find is None or name in self._entries:
            return None
        found = self._find(name)
        if found is None or found[3] == 1:
            return found
        # Truncation may remove the last piece, and an original tensor in pieces needs all of them.
        return found if found[4] is not None and found[2] == found[3] - 1 else None

    def rows_from(self, indices: Sequence[tuple[int, int]]) -> list[Row] | None:
        """Return all rows from the given last links of the chain on; None if an index is damaged."""
        first = indices[0][1]
        earlier: list[Row] = []
        # Rows from `before` on are already read.
        for start, number in indices:
            if number >= self.before:
                continue
            found = None if self._rows_at is None else self._rows_at(start)
            if found is None:
                return None
            earlier += found
        if earlier:
            self._rows, self._n_loaded, self.before = (
                earlier + self.rows,
                self._n_loaded + len(earlier),
                first,
            )
        return self.rows[first - self.before :]

    def _complete(self) -> None:
        if self._load is None:
            return
        whole, later = self._load(), self.rows[self._n_loaded :]
        self._load = self._may_have = self._find = self._rows_at = None
        self._entries, self._metadata, self._partial = whole._entries, whole._metadata, whole._partial
        self._extensions, self._unfinished = whole._extensions, whole._unfinished
        self._listed, self._n_listed = whole._listed, whole._n_listed
        self._rows, self.before = whole._rows, 0
        self.records = whole.records | self.records
        self.views = whole.views | self.views
        self.complaints += whole.complaints
        end = self.end
        for row in later:
            self.add(row)
        self.end = end

    def losses(self) -> tuple[Loss, ...]:
        """Return unfinished and damaged tensors, a sentence each."""
        torn = [] if self.torn is None else [Loss(f"{self.torn}: it and what follows is lost", "", "damage")]
        unfinished = [
            Loss(f"the tensor {name!r} is lost: it has only {len(parts)} of its pieces", name, "damage")
            for name, parts in self._partial.items()
            if name not in self._entries
        ]
        unfinished += [
            Loss(
                f"an extension of the tensor {name!r} is lost: it has only {len(parts)} of its pieces",
                name,
                "damage",
            )
            for name, parts in self._unfinished.items()
        ]
        return (*torn, *unfinished, *[Loss(text, "", "damage") for text in self.complaints])

    def take(self, row: Row, fields: tuple[str, ...]) -> None:
        """Add a record whose label was read, with the field names for records. Raises as `add`.

        Raises
        ------
        DataFileError
            Also if an extension differs from the original in kind or fields.
        """
        name = row[0]
        goes_on = name in self._entries or row[2] > 0
        if goes_on and name and fields != self.records.get(name, ()):
            raise DataFileError(
                f"the record at {row[1].start} continues {name!r} as {_kind(fields)}, but it "
                f"was started as {_kind(self.records.get(name, ()))}"
            )
        self.add(row)
        if fields and not goes_on:
            self.records[name] = fields
        elif not goes_on:
            # The name of an unfinished tensor may be reused for another kind.
            self.records.pop(name, None)

    def add(self, row: Row) -> None:
        """Add the last record.

        Raises
        ------
        DataFileError
            If the name is taken, the tensor to extend is missing, or a previous piece is missing.
        """
        name, place, piece, pieces, after = row
        if not name:
            self._metadata = place
        elif after is not None:
            self._extend(row, after)
        elif name in self._entries:
            raise DataFileError(f"the record at {place.start} repeats the name {name!r}")
        elif pieces == 1:
            self._entries[name] = (place,)
        else:
            # A piece 0 restarts the tensor, whose earlier pieces a killed writer left unfinished.
            parts = self._partial[name] = [] if piece == 0 else self._partial.get(name, [])
            if len(parts) != piece:
                raise DataFileError(
                    f"the record at {place.start} is piece {piece} of {name!r}, after {len(parts)} pieces"
                )
            parts.append(place)
            if len(parts) == pieces:
                self._entries[name] = tuple(self._partial.pop(name))
        self._rows.append(row)
        self.end = place.stop

    def add_view(self, name: str, place: Place) -> None:
        """Add the record of a view, the last of the file.

        Raises
        ------
        DataFileError
            If the name is taken.
        """
        if name in self.views or name in self._entries:
            raise DataFileError(f"the record at {place.start} repeats the name {name!r}")
        self.views[name] = place.start
        self.end = place.stop

    def add_all(self, found: Listing | Sequence[Row]) -> None:
        """Add records after all others, in order. Raises as `add`."""
        if isinstance(found, Listing):
            if not self._rows and self._list(found):
                return
            found = found.rows()
        new = {row[0]: (row[1],) for row in found if row[3] == 1 and row[4] is None and row[0]}
        of_file = [row[1] for row in found if not row[0]]
        if len(new) + len(of_file) < len(found) or not self._entries.keys().isdisjoint(new):
            known, unfinished, rows = self._extensions, self._unfinished, self._rows
            for row in found:
                name, place, _, pieces, after = row
                before = known.get(name)
                if (
                    before
                    and after is not None
                    and pieces == 1
                    and after > (before[-1][4] or 0)
                    and name not in unfinished
                ):
                    # As `_extend`, in a third of the time: most records of a file may extend one tensor.
                    before.extend((row,))
                    rows.append(row)
                    self.end = place.stop
                    continue
                self.add(row)
        elif found:
            self._entries.update(new)
            if of_file:
                self._metadata = of_file[-1]
            self._rows += found
            self.end = found[-1][1].stop

    def _list(self, found: Listing) -> bool:
        """Add listed records; return False if a name is repeated, or an extension is out of order."""
        numbers: Iterable[int] = count(self._n_listed)
        names, afters = found.names, found.afters
        if afters is not None:
            originals: list[int] = np.flatnonzero(afters < 0).tolist()
            names, numbers = [names[k] for k in originals], [self._n_listed + k for k in originals]
        new: dict[str, tuple[Place, ...] | int] = dict(zip(names, numbers, strict=False))
        last = cast("int | None", new.pop("", None))
        unnamed = 0 if last is None else names.count("")
        if len(new) + unnamed < len(names) or not self._entries.keys().isdisjoint(new):
            return False
        if afters is not None:
            grown = _by_name(found.names, np.flatnonzero(afters >= 0))
            if not all(self._may_extend(name, own, new, afters[own]) for name, own in grown.items()):
                return False
            for name, own in grown.items():
                listed = self._extensions.setdefault(name, Extensions(name))
                first, stop = int(own[0]), int(own[-1]) + 1
                # Mostly they follow each other, and then nothing is copied.
                run = slice(first, stop) if stop - first == len(own) else own
                listed.add_columns(found.starts[run], found.lengths[run], afters[run])
        if last is not None:
            self._metadata = found.place(last - self._n_listed)
        if self._entries:
            self._entries.update(new)
        else:
            # Avoid a copy, which for 10^5 names took a third of the time to open a file.
            self._entries = new
        self._listed.append(found)
        self._n_listed += len(found)
        self.end = found.place(-1).stop
        return True

    def _may_extend(
        self, name: str, own: IntArray, new: Mapping[str, tuple[Place, ...] | int], afters: IntArray
    ) -> bool:
        """Return True if these extensions follow their tensor and each other, as `_extend` requires."""
        begun = new.get(name)
        if name not in self._entries and not (isinstance(begun, int) and begun - self._n_listed < own[0]):
            return False
        before = self.newest(name)
        if before is not None and afters[0] <= (before[4] or 0):
            return False
        return name not in self._unfinished and bool((afters[1:] > afters[:-1]).all())

    def _extend(self, row: Row, after: int) -> None:
        name, place, piece, pieces, _ = row
        # With a lazy directory, the writer has already looked up the name.
        if self._load is None and name not in self._entries:
            raise DataFileError(f"the record at {place.start} extends {name!r}, which does not exist")
        parts = [] if piece == 0 else self._unfinished.get(name, [])
        before = parts or self._extensions.get(name)
        if before and after <= (before[-1][4] or 0):
            # Each extension has at least one row, so that reading all rows uses each of them.
            raise DataFileError(
                f"the record at {place.start} extends {name!r} at row {after}, after one at {before[-1][4]}"
            )
        if len(parts) != piece:
            raise DataFileError(
                f"the record at {place.start} is piece {piece} of an extension of {name!r}, after "
                f"{len(parts)} pieces"
            )
        parts.append(row)
        if len(parts) == pieces:
            self._extensions.setdefault(name, Extensions(name)).extend(parts)
            self._unfinished.pop(name, None)
        else:
            self._unfinished[name] = parts
