"""Read HDF5 files: datasets are tensors over the mapped file, or views of chunks, named by path.

A contiguous dataset is a view of memory. h5py reads chunked datasets, only the chunks that a selection
touches, and datasets whose file format differs from NumPy's dtype. A group declared as ragged is one tensor
of rows, and so is a dataset of sequences. Links to other files are not followed.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from itertools import chain
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import attrs
import numpy as np

from tensorwrapper._arrays import are_truths
from tensorwrapper._integers import MAX_DIGITS
from tensorwrapper._json import Json, parse_json
from tensorwrapper._value_class import evolve
from tensorwrapper.buffer import StringData, strings_from_numpy
from tensorwrapper.errors import DataFileError, ParseError
from tensorwrapper.shape import Shape
from tensorwrapper.store.formats._bytes import check_bytes
from tensorwrapper.store.formats._checked_source import CheckedSource
from tensorwrapper.store.formats._contents import SCALES, Contents, Held, Opening, scaled
from tensorwrapper.store.formats._fetched_elements import FetchedElements
from tensorwrapper.store.formats._fields import FieldPath, FieldsOf, field_paths, inner_of
from tensorwrapper.store.formats._file_location import Where, memory_of, name_of, reading_at, size_of
from tensorwrapper.store.formats._names import FreeNames, renamed
from tensorwrapper.store.formats._origin_attributes import names_told, origin_said, placed
from tensorwrapper.store.formats._ragged import Ragged, broken_rows, contradiction
from tensorwrapper.store.formats._rows_source import RowsSource
from tensorwrapper.store.formats.conventions._cf import (
    CONTIGUOUS,
    INDEXED,
    DealtRows,
    Variable,
    deal_variables,
)
from tensorwrapper.store.formats.conventions._file_view import RAW, ROOT, Group, Part, Put
from tensorwrapper.store.formats.conventions._groups import put_together
from tensorwrapper.store.formats.hdf5._attributes import plain_attribute
from tensorwrapper.store.formats.hdf5._fetched import fetched_source, stream_for_hdf5
from tensorwrapper.store.formats.hdf5._heaps import Heaps
from tensorwrapper.store.formats.hdf5._links import walk
from tensorwrapper.store.formats.hdf5._scales import Scales, is_bare_dimension, plain_text
from tensorwrapper.store.formats.hdf5._types import (
    DatasetFacts,
    Packing,
    are_labels,
    field_refusal,
    has_heap,
    has_misread,
    is_one_text,
    is_text,
    look_at,
    start_of,
)
from tensorwrapper.store.ranges._ranges import Ranges
from tensorwrapper.store.records._loss import Loss, unread
from tensorwrapper.store.system._map import FileMemory
from tensorwrapper.tensor import Tensor, as_tensor, strings
from tensorwrapper.tensor.lowlevel import rows_of_sequences, text_or_bytes
from tensorwrapper.typing import Array, IntArray
from tensorwrapper.wire import DEFAULT_LIMITS, no_elements

if TYPE_CHECKING:
    import h5py

    from tensorwrapper.selection import Source, View

_T = TypeVar("_T", "Tensor[Any]", "View[Any]")

RAGGED: Final = "ragged"
"""Attribute of a group that is a ragged tensor, as JSON."""
ORIGIN: Final = "index_origin"
"""Attribute for the origin of a dataset."""
METADATA: Final = "metadata"
"""Attribute for metadata of the file or a tensor, as JSON."""
_JOINS: Final[frozenset[str]] = frozenset(("DIMENSION_LIST", "REFERENCE_LIST"))
"""Attributes that only join datasets."""
_LABELS: Final = "DIMENSION_LABELS"
_VARIABLE: Final = "_nc4_non_coord_"
"""Prefix of netCDF-4 for variables that are named like a dimension of another variable."""
_PSEUDO: Final = "PSEUDOATOM"
_PSEUDO_ATOMS: Final = {
    b"object": "pickles of Python objects",
    b"vlstring": "the bytes of texts",
    b"vlunicode": "the characters of texts",
}
"""Attribute by which PyTables declares that sequences of numbers encode other objects."""
_TEXT_BYTES: Final = 2**16  # size limit of an attribute stored in place
_LEAST_ROWS: Final = 256
_EARLY: Final = 2**26
"""Files up to this many bytes have their heaps checked in advance."""


def opened_file(where: Where, heaps: Heaps) -> "h5py.File":
    """Open a file with h5py."""
    import h5py  # noqa: PLC0415 - an extra

    return h5py.File(where if isinstance(where, Path) else stream_for_hdf5(where, heaps), "r")


def open_hdf5(where: Where, how: Opening) -> Contents:
    """Return the contents of an HDF5 file; reads only names, dtypes and extents.

    Raises
    ------
    DataFileError
        If there is no such file, or HDF5 cannot read it.
    """
    with reading_at(where, "HDF5"):
        finder = _Finder(name_of(where), memory_of(where, "HDF5"), how)
        file = opened_file(where, finder.heaps)
        links = walk(file, finder.enter)
        led = [loss.name for loss in (*finder.losses, *links.losses) if loss.code == "link"]
        # Links and tensors have precedence over fields of records for names.
        held = finder.named([*links.targets, *([] if how.follow is None else led)])
        links.targets |= finder.variables(held)
        dealt = finder.dealt(held)
        held |= {
            name: attrs.evolve(held[name], packing=_packing_dealt(held[name]), read=read)
            for name, read in dealt.readers.items()
        }
        losses = [*finder.losses, *dealt.losses, *links.losses, *links.broken(finder.known, finder.parts)]
        return Contents(
            held,
            _own_metadata(file, finder.heaps),
            tuple(losses),
            aliases=links.aliases(list(held), finder.groups, how.limits.tensors, finder.fields),
            attributes=partial(finder.attributes_of, file),
            resolve=links.resolve,
            unsaid=lambda: (*links.types, *finder.enumerations()),
            told=lambda: (*finder.told(), *dealt.told()),
        )


class _Finder:
    """Collector of all objects in a file."""

    def __init__(self, path: Path | str, memory: FileMemory | Ranges, how: Opening) -> None:
        self.path, self.memory, self.limits, self.how = path, memory, how.limits, how
        self.heaps = Heaps(memory)
        self.entries: list[tuple[str, str | None, Held]] = []
        """Field names, the names of their records, and their contents."""
        self.losses: list[Loss] = []
        self.groups: set[str] = {""}
        self.known: set[str] = {""}
        """All named groups and datasets."""
        self.read: dict[str, frozenset[str]] = {}
        """Attributes that are used, by the name of an assembled group."""
        self.parts: set[str] = set()
        """Datasets that are hidden because they are parts of a tensor."""
        self.below: dict[str, set[str]] = {}
        """The same, by group."""
        self.scales = Scales()
        self.dimensions: set[str] = set()
        """Dimensions of netCDF without a variable."""
        self.datasets: list[tuple[str, h5py.Dataset]] = []
        """Datasets whose modes may have names."""
        self.dealers: dict[str, tuple[Part, str | None, str | None]] = {}
        """Variables that group others into rows: by counts, or by row numbers."""
        self.names_told: tuple[Loss, ...] | None = None
        self.fields: dict[str, dict[str, str]] = {}
        """Suffixes of the fields of records with their names, by the name of the records."""

    def enter(self, name: str, found: "h5py.Group | h5py.Dataset") -> Collection[str] | None:
        """Record an object; return the names of the parts in a group, or None for a dataset."""
        import h5py  # noqa: PLC0415 - an extra

        if isinstance(found, h5py.Group):
            self.known.add(name)
            self.groups.add(name)
            if not self.how.raw:
                self._enter_group(name, found)
            return self.below.get(name, ())
        self._check_heap(found)
        self.scales.note(found)
        if is_bare_dimension(found):
            # The name of the scale is the name of its modes.
            self.known.add(name)
            self.dimensions.add(name)
            return None
        look = look_at(found, name)
        if isinstance(look, Loss):
            self.losses.append(look)
            return None
        meant = self._meant(found, look)
        if meant is not None:
            text = f"the numbers of {name!r} are {meant}"
            self.losses.append(Loss(text, name, "objects", f"PyTables reads them, {RAW}"))
            return None
        self.known.add(name)
        self.datasets.append((name, found))
        said = _own_metadata(found, self.heaps)
        start = start_of(found) or 0
        # HDF5 counts chunks by reading the whole chunk index, which may be scattered over the file.
        is_far = isinstance(self.memory, Ranges) and found.chunks is not None
        size = None if is_far else found.id.get_storage_size()
        if look.packing == "records":
            self._enter_fields(name, found, look, Held(start, size, "field", no_elements, said))
            return None
        read = self._reader(found, look)
        self.entries.append((name, None, Held(start, size, look.packing, read, said)))
        if any(scale in found.attrs for scale in SCALES):
            self.losses.append(scaled(name))
        self._note_dealer(name, found, Part(name, found.shape, look.dtype, read))
        return None

    def _check_heap(self, found: "h5py.Dataset") -> None:
        if size_of(self.memory) <= _EARLY and has_heap(found):
            # The fill value is on a heap, which HDF5 reads for datasets with chunks and filters.
            self.heaps.check()

    def _enter_fields(self, name: str, found: "h5py.Dataset", look: DatasetFacts, held: Held) -> None:
        """Record the fields of records."""
        for path, own in field_paths(look.dtype):
            self._field(found, name, path, own, held)
        for full, why in look.odd:
            text = f"the field {full!r} is none that h5py can read, {why}"
            self.losses.append(Loss(text, full, "type"))

    def _meant(self, found: "h5py.Dataset", look: DatasetFacts) -> str | None:
        """Return the kind of objects that PyTables encoded as sequences of numbers."""
        is_meant = look.packing == "vlen" and not self.how.raw
        return _PSEUDO_ATOMS.get(plain_text(found, _PSEUDO)) if is_meant else None

    def _note_dealer(self, name: str, found: "h5py.Dataset", part: Part) -> None:
        """Record a variable that groups others into rows."""
        if self.how.raw or not any(key in found.attrs for key in (CONTIGUOUS, INDEXED)):
            return
        try:
            texts = [plain_attribute(found, self.heaps, key) for key in (CONTIGUOUS, INDEXED)]
        except Exception as error:  # noqa: BLE001 - whatever HDF5 says of what is damaged
            self.losses.append(unread(f"the attributes of {name!r} cannot be read", name, error))
            return
        samples, instances = [own if isinstance(own, str) else None for own in texts]
        self.dealers[name] = (part, samples, instances)

    def attributes_of(self, file: "h5py.File") -> "dict[str, list[str] | Loss]":
        """Return the ignored attributes of the file and of all named objects."""
        found: dict[str, list[str] | Loss] = {}
        for name in sorted(self.known | self.parts):
            try:
                keys: list[str] | Loss = self._attributes(file, name)
            except Exception as error:  # noqa: BLE001 - whatever HDF5 says of what is damaged
                keys = unread(f"the attributes of {name or 'the file'!r} cannot be read", name, error)
            if keys:
                found[name] = keys
        return found

    def enumerations(self) -> list[Loss]:
        """Return a loss for the member names of each enumeration, except bools."""
        import h5py  # noqa: PLC0415 - an extra

        found: list[Loss] = []
        for name, own in self.datasets:
            kind = own.id.get_type()
            if isinstance(kind, h5py.h5t.TypeEnumID) and own.dtype.kind != "b":
                words = [
                    kind.get_member_name(k).decode("utf-8", "backslashreplace")[:40]
                    for k in range(min(kind.get_nmembers(), 8))
                ]
                shown = ", ".join(map(repr, words)) + ", ..." * (kind.get_nmembers() > 8)
                found.append(Loss(f"the words {shown} of the enumeration {name!r}", name, "kind"))
        return found

    def _attributes(self, file: "h5py.File", name: str) -> list[str]:
        import h5py  # noqa: PLC0415 - an extra

        own = cast("h5py.Group | h5py.Dataset", file[f"/{name}"])
        known = set(_JOINS)
        # A group that is not assembled has these attributes for another purpose.
        known |= self.read.get(name, frozenset())
        is_tensor = isinstance(own, h5py.Dataset) and name not in self.parts
        if (is_tensor or not name or name in self.read) and _own_metadata(own, self.heaps):
            known.add(METADATA)
        if isinstance(own, h5py.Dataset) and is_tensor:
            known |= {ORIGIN} if _has_origin(own) else set()
            known |= {_LABELS} if _has_labels(own) else set()
        return [key for key in own.attrs if key not in known]

    def _enter_group(self, name: str, found: "h5py.Group") -> None:
        """Record the tensors of a group in this library's format of rows, or in another convention."""
        try:
            ragged = _ragged(found, self.heaps)
            parts = {} if ragged is None else _parts_of_rows(found, ragged)
            if ragged is not None:
                ragged.check_counts(_counts_of(parts, ragged))
        except (DataFileError, ParseError) as error:
            self.losses.append(broken_rows(name or ROOT, error))
            return
        if ragged is not None:
            read = partial(self._rows, found, ragged)
            is_far = isinstance(self.memory, Ranges)
            nbytes = None if is_far else parts["values"].id.get_storage_size()
            self._put(name, Put("jagged", tuple(parts), (("", read),), frozenset((RAGGED,))), nbytes, found)
            return
        group = Group(
            name or ROOT,
            partial(plain_attribute, found, self.heaps),
            partial(self._part, name, found),
            self.limits,
            self.how.null_rows,
        )
        put = put_together(group)
        if isinstance(put, Loss):
            self.losses.append(put)
        elif put is not None:
            self._put(name, put, None, found)

    def _put(self, name: str, put: Put, nbytes: int | None, found: "h5py.Group") -> None:
        """Record the tensors that a convention assembles from a group, and hide their parts."""
        self.losses += put.losses
        self.read[name] = put.attributes
        for part in put.parts:
            full = f"{name}/{part}" if name else part
            self.parts.add(full)
            above, _, own = full.rpartition("/")
            self.below.setdefault(above, set()).add(own)
        said: Mapping[str, Any] = _own_metadata(found, self.heaps) if name else {}
        for end, read in put.tensors:
            held = Held(0, nbytes, put.packing, read, said)
            # A tensor has precedence over a field of the same name, and over a file that is one tensor.
            self.entries.append((f"{name or ROOT}{end}", name if end or not name else None, held))

    def _part(self, name: str, group: "h5py.Group", path: str) -> Part | None:
        """Return a dataset of numbers or text in a group; None if it is missing."""
        import h5py  # noqa: PLC0415 - an extra

        own: object = group
        for part in path.split("/"):
            above, own = own, None
            link = above.get(part, getlink=True) if isinstance(above, h5py.Group) else None
            if isinstance(above, h5py.Group) and isinstance(link, h5py.HardLink):
                own = above[part]
            elif link is not None:
                raise DataFileError(f"{path!r} is a link")
        if own is None:
            return None
        if not isinstance(own, h5py.Dataset):
            raise DataFileError(f"{path!r} is not a dataset")
        full = f"{name}/{path}" if name else path
        self._check_heap(own)
        look = look_at(own, full)
        if isinstance(look, Loss):
            raise DataFileError(look)
        if look.packing not in ("dense", "converted", "chunked", "strings"):
            raise DataFileError(f"{path!r} has elements {str(look.dtype)[:80]}")
        dtype = np.dtypes.StringDType() if look.packing == "strings" else np.dtype(look.dtype.str)
        return Part(full, own.shape, dtype, self._reader(own, look))

    def _field(
        self,
        found: "h5py.Dataset",
        name: str,
        path: FieldPath,
        dtype: "np.dtype[Any]",
        held: Held,
    ) -> None:
        """Record a field of records; its final name depends on all other names."""
        full = ".".join([name, *path])
        loss = field_refusal(full, inner_of(dtype)[0])
        if loss is None:
            read = partial(self._parts, found, path, dtype)
            self.entries.append((full, name, attrs.evolve(held, read=read)))
        else:
            self.losses.append(loss)

    def named(self, links: Iterable[str]) -> dict[str, Held]:
        """Return all recorded contents, with fields under names that are not taken, even by links."""
        own_names = {name for name, records, _ in self.entries if records is None}
        free = FreeNames(own_names | self.groups | set(links))
        found: dict[str, Held] = {}
        for name, records, own in self.entries:
            taken = name if records is None else free.claim(name)
            if records:
                self.fields.setdefault(records, {}).setdefault(name[len(records) :], taken)
            if taken != name:
                self.losses.append(renamed(name, taken))
            found[taken] = own
        # The entries refer to this object, and the cycle would keep the file open until garbage collection.
        self.entries.clear()
        return found

    def variables(self, names: Iterable[str]) -> dict[str, str]:
        """Return netCDF variables that are named like dimensions, with their names in the file."""
        found: dict[str, str] = {}
        for name in names:
            above, slash, own = name.rpartition("/")
            called = f"{above}{slash}{own.removeprefix(_VARIABLE)}"
            if own.startswith(_VARIABLE) and called in self.dimensions:
                found[called] = name
        return found

    def dealt(self, held: Mapping[str, Held]) -> DealtRows:
        """Return the variables that others group into rows."""
        found = deal_variables(self._variables(held), self.scales.extents(), self.limits)
        # These also refer to this object.
        self.dealers.clear()
        return found

    def _variables(self, held: Mapping[str, Held]) -> Iterator[Variable]:
        """Yield all variables, if any of them groups others into rows."""
        for name, found in self.datasets if self.dealers else ():
            fields = self.fields.get(name, {}).values()
            if not (name in held or fields) or not found.shape:
                continue
            try:
                names = self.scales.names_of(found)[0]
            except Exception:  # noqa: BLE001, S112 - whatever HDF5 says of what is damaged; `told` tells it
                continue
            dimension = names[0] if len(names) == 1 else None
            for own in fields or (name,):
                part = Part(own, found.shape, np.dtype(object), held[own].read)
                part, samples, instances = self.dealers.get(own, (part, None, None))
                yield Variable(part, dimension, samples, instances)

    def _parts(
        self, found: "h5py.Dataset", path: FieldPath, dtype: "np.dtype[Any]"
    ) -> "Tensor[Any] | View[Any]":
        """Return a field, or array elements, as a view read by h5py."""
        from tensorwrapper.selection import ArraySource, as_view  # noqa: PLC0415 - as below

        self._check_extents(found)
        own, inner = inner_of(dtype)
        parts = FieldsOf(found, path, (*found.shape, *inner), own)
        if is_text(own):
            return self._text_parts(found, parts)
        return self._placed(
            as_view(CheckedSource(ArraySource(parts), self.path, "HDF5", ".".join([str(found.name), *path]))),
            found,
        )

    def _reader(self, found: "h5py.Dataset", look: DatasetFacts) -> Callable[[], object]:
        reads: dict[Packing, Callable[[], object]] = {
            "strings": partial(self._strings, found),
            "vlen": partial(self._sequences, found),
            "arrays": partial(self._parts, found, (), look.dtype),
            "dense": partial(self._mapped, found, look.dtype),
        }
        return reads.get(look.packing, partial(self._read, found, look))

    def _read(self, found: "h5py.Dataset", look: DatasetFacts) -> "Tensor[Any] | View[Any]":
        """Return a dataset that needs conversion as a view read by h5py."""
        import h5py  # noqa: PLC0415 - an extra

        from tensorwrapper.selection import as_view  # noqa: PLC0415 - arrays in memory need no views

        self._check_extents(found)
        is_misread = has_misread(found.id.get_type())
        try:
            source = None if is_misread else self._source(found)
        except TypeError:
            source = None
        if source is None:
            # NumPy has no 3-byte integers, and h5py has no simpler way to widen them.
            wide = np.dtype(f"{look.dtype.kind}2") if is_misread else look.dtype
            check_bytes(found.size * wide.itemsize, found.name, self.limits)
            array = np.empty(found.shape, wide)
            found.id.read(h5py.h5s.ALL, h5py.h5s.ALL, array)
            return self._placed(as_tensor(array.astype(look.dtype, copy=False)), found)
        return self._placed(as_view(source), found)

    def _mapped(self, found: "h5py.Dataset", dtype: "np.dtype[Any]") -> "Tensor[Any] | View[Any]":
        """Return a contiguous dataset as mapped memory, if its bytes equal its elements."""
        self._check_extents(found)
        start = start_of(found)
        if start is None:
            # Unwritten data, and data in the object header, have no offset.
            from tensorwrapper.selection import as_view  # noqa: PLC0415 - as above

            return self._placed(as_view(self._source(found)).compute(), found)
        if start + found.nbytes > size_of(self.memory):
            raise DataFileError(f"{self.path} is truncated within {found.name!r}")
        if isinstance(self.memory, Ranges):
            from tensorwrapper.selection import as_view  # noqa: PLC0415 - as above

            view = as_view(self._source(found))
            return self._placed(view, found) if found.shape else self._placed(view.compute(), found)
        assert found.chunks is None, found.name  # noqa: S101 - what `look_at` has proved
        # Drop the enumeration metadata that h5py adds to the dtype.
        flat = np.frombuffer(self.memory, np.dtype(dtype.str), found.size, start)
        if not are_truths(flat):
            raise DataFileError(f"{self.path}: {found.name!r} has a bool that is neither 0 nor 1")
        return self._placed(as_tensor(flat.reshape(found.shape)), found)

    def _placed(self, value: _T, found: "h5py.Dataset") -> _T:
        """Return a tensor or view with the mode names and the origin of a dataset."""
        inner: int = value.shape.rank - len(found.shape)
        origin = [*np.asarray(found.attrs[ORIGIN]).tolist(), *[0] * inner] if _has_origin(found) else None
        return placed(value, [*self._labels(found), *[None] * inner], origin)

    def _labels(self, found: "h5py.Dataset") -> list[str | None]:
        """Return the mode names of a dataset from its labels, or else from its scales."""
        labels = [""] * len(found.shape)
        if _has_labels(found):
            self.heaps.check()
            # Do not use `dims`, with which HDF5 aborts the process if a heap is damaged.
            said = np.asarray(found.attrs[_LABELS], dtype=object).reshape(-1).tolist()
            labels = [own if isinstance(own, str) else own.decode("utf-8", "replace") for own in said]
        scales = self.scales.names_of(found)
        return [
            own or (names[0] if len(names) == 1 else None) for own, names in zip(labels, scales, strict=True)
        ]

    def told(self) -> tuple[Loss, ...]:
        """Return losses about mode names; checking labels may require reading the whole file."""
        if self.names_told is None:
            with self.memory.unbroken() if isinstance(self.memory, Ranges) else nullcontext():
                told = [loss for name, found in self.datasets for loss in self._name_losses(name, found)]
            self.names_told = tuple(told)
        return self.names_told

    def _name_losses(self, name: str, found: "h5py.Dataset") -> Iterator[Loss]:
        try:
            labels, scales = self._labels(found), self.scales.names_of(found)
        except Exception as error:  # noqa: BLE001 - whatever HDF5 says of what is damaged
            yield unread(f"the names of the modes of {name!r} cannot be read", name, error)
            return
        loss = names_told(name, labels, len(labels))
        if loss is not None:
            yield loss
        for mode, (label, names) in enumerate(zip(labels, scales, strict=True)):
            if label is None and names:
                yield Loss(
                    f"mode {mode} of {name!r} has the scales {names[:8]}, and no one name", name, "name"
                )

    def _source(self, found: "h5py.Dataset") -> "Source":
        from tensorwrapper.selection import ArraySource  # noqa: PLC0415 - as above

        array = found if found.shape else FieldsOf(found, (), (), found.dtype)
        source = CheckedSource(ArraySource(array), self.path, "HDF5", found.name or "")
        if isinstance(self.memory, Ranges):
            return fetched_source(self.memory, found, source, self.limits)
        return source

    def _check_extents(self, found: "h5py.Dataset") -> None:
        if max(found.shape, default=0) > self.limits.extent:
            raise DataFileError(
                f"{found.name!r} has the extents {found.shape}, but the limit is "
                f"{self.limits.extent}; limits=Limits(extent=...) can raise it"
            )

    def _objects(self, found: "h5py.Dataset | FieldsOf", name: str) -> list[Array]:
        """Return the objects of a dataset, a few rows at a time, as each may be as large as the file."""
        self.heaps.check()
        size, rank = prod(found.shape), len(found.shape)
        check_bytes(16 * size, name, self.limits)
        flat, nbytes = list[Array](), 0
        step = max(self.limits.decompressed_bytes // max(size_of(self.memory), 1), _LEAST_ROWS)
        count = found.shape[0] if rank else 1
        step = max(step // max(size // max(count, 1), 1), 1)
        for first in range(0, count, step):
            key = (slice(first, first + step), *[slice(None)] * (rank - 1)) if rank else ()
            part = np.asarray(found[key], dtype=object).reshape(-1)
            nbytes += sum(map(_size_of, part))
            check_bytes(nbytes, name, self.limits)
            flat.append(part)
        return flat

    def _strings(self, found: "h5py.Dataset") -> Tensor[Any]:
        self._check_extents(found)
        return self._placed(strings(self._text_of(found, str(found.name)), shape=Shape(*found.shape)), found)

    def _text_parts(self, found: "h5py.Dataset", parts: FieldsOf) -> Tensor[Any]:
        """Return a text field, or elements that are arrays of text."""
        data = self._text_of(parts, ".".join([str(found.name), *parts.path]))
        return self._placed(strings(data, shape=Shape(*parts.shape)), found)

    def _text_of(self, found: "h5py.Dataset | FieldsOf", name: str) -> StringData:
        if found.dtype.kind == "S":
            check_bytes(prod(found.shape) * found.dtype.itemsize, name, self.limits)
            array = np.asarray(found[tuple([slice(None)] * len(found.shape))])
            data = strings_from_numpy(array.reshape(-1))
        else:
            parts = self._objects(found, name)
            data = StringData.from_list(list(chain.from_iterable(parts)), kind="binary")
        # HDF5 strings are UTF-8 or ASCII text, but NumPy writes arbitrary bytes as strings.
        return text_or_bytes(data)

    def _sequences(self, found: "h5py.Dataset") -> Tensor[Any]:
        """Return a dataset of sequences as rows. HDF5 stores each sequence separately, so all are read."""
        import h5py  # noqa: PLC0415 - an extra

        self._check_extents(found)
        inner = np.dtype(h5py.check_vlen_dtype(found.dtype))
        self.heaps.check()
        rows = [found[()]] if not found.shape else self._objects(found, str(found.name))
        given = rows if not found.shape else list(chain.from_iterable(rows))
        return self._placed(rows_of_sequences(given, found.shape, inner), found)

    def _rows(self, group: "h5py.Group", ragged: Ragged) -> "Tensor[Any] | View[Any]":
        from tensorwrapper.selection import as_view  # noqa: PLC0415 - as above

        parts = _parts_of_rows(group, ragged)
        name = (group.name or "").strip("/") or ROOT
        sizes = {mode: self._sizes(parts, mode, name) for mode in ragged.variable_modes}
        values, shape = parts["values"], ragged.shape_in(self.path, name, sizes)
        if values.shape != (shape.size,):
            raise contradiction(self.path, name, f"it has {values.shape} values for {shape.size} elements")
        if values.dtype.kind in "SO":
            return strings(self._text_of(values, str(values.name)), shape=shape)
        source = self._source(values)
        if isinstance(source, FetchedElements):
            return as_view(evolve(source, shape=shape))
        return as_view(RowsSource(source, shape))

    def _sizes(self, parts: "Mapping[str, h5py.Dataset]", mode: int, name: str) -> IntArray:
        is_offsets = f"offsets_{mode}" in parts
        found = parts[f"offsets_{mode}" if is_offsets else f"sizes_{mode}"]
        check_bytes(found.nbytes, found.name, self.limits)
        array = np.asarray(found[...])
        if not is_offsets:
            return array
        if not len(array) or array[0] != 0 or (array[1:] < array[:-1]).any():
            raise contradiction(self.path, name, f"'offsets_{mode}' does not ascend from 0")
        return np.diff(array)


def _packing_dealt(held: Held) -> str:
    """Return the packing of a tensor grouped into rows; fields keep their packing."""
    return "field" if held.packing == "field" else "jagged"


def _size_of(value: bytes | Array) -> int:
    return value.nbytes if isinstance(value, np.ndarray) else len(value)


def _ragged(group: "h5py.Group", heaps: Heaps) -> Ragged | None:
    """Return the description of rows in a group; None if it is not in this library's format."""
    if RAGGED not in group.attrs:
        return None
    own = group.attrs.get_id(RAGGED)
    if not is_one_text(own.get_type(), own.get_space()):
        return None
    if own.dtype.kind not in "SU":
        heaps.check()
    given: object = group.attrs[RAGGED]
    text = given.encode(errors="replace") if isinstance(given, str) else bytes(cast("bytes", given))
    # Other programs may use the same name for other purposes.
    return Ragged.from_fields(_json(group, RAGGED, heaps)) if text.lstrip().startswith(b"{") else None


def _parts_of_rows(group: "h5py.Group", ragged: Ragged) -> "dict[str, h5py.Dataset]":
    """Return the datasets that form rows, by their names in the group.

    Raises
    ------
    DataFileError
        If one is missing or invalid.
    """
    parts = {"values": _dataset(group, "values")}
    for mode in ragged.variable_modes:
        name, other = f"offsets_{mode}", f"sizes_{mode}"
        if name in group and other in group:
            raise DataFileError(f"{name!r} and {other!r} are alternatives; only one is allowed")
        name = name if name in group else other
        parts[name] = _dataset(group, name)
        if parts[name].dtype.kind not in "iu":
            raise DataFileError(f"{name!r} has dtype {parts[name].dtype}, not integers")
    for name, own in parts.items():
        if len(own.shape) != 1:
            raise DataFileError(f"{name!r} has the extents {own.shape}, but must be 1-d")
    return parts


def _counts_of(parts: "Mapping[str, h5py.Dataset]", ragged: Ragged) -> dict[int, int]:
    """Return the number of sizes of each variable mode, without reading elements."""
    counts: dict[int, int] = {}
    for mode in ragged.variable_modes:
        offsets = parts.get(f"offsets_{mode}")
        counts[mode] = len(parts[f"sizes_{mode}"]) if offsets is None else len(offsets) - 1
        if counts[mode] < 0:
            raise DataFileError(f"'offsets_{mode}' has no elements, but offsets must start with 0")
    return counts


def _dataset(group: "h5py.Group", name: str) -> "h5py.Dataset":
    import h5py  # noqa: PLC0415 - an extra

    # A link may lead to another file, so it does not count as a dataset.
    link = group.get(name, getlink=True)
    found = group[name] if isinstance(link, h5py.HardLink) else None
    if not isinstance(found, h5py.Dataset):
        raise DataFileError(f"missing dataset {name!r}")
    look = look_at(found, name)
    if isinstance(look, Loss):
        raise DataFileError(look)
    if look.packing in ("vlen", "records", "arrays") or (look.packing == "strings" and name != "values"):
        raise DataFileError(f"{name!r} has dtype {str(look.dtype)[:80]}, which rows do not support")
    return found


def _has_labels(found: "h5py.Dataset") -> bool:
    """Return True if an attribute is the labels of a dataset, one string per mode."""
    if _LABELS not in found.attrs:
        return False
    own = found.attrs.get_id(_LABELS)
    return are_labels(own.get_type(), own.get_space(), len(found.shape))


def _has_origin(found: "h5py.Dataset") -> bool:
    """Return True if an attribute is the origin of a dataset, one integer per mode."""
    if ORIGIN not in found.attrs or found.attrs.get_id(ORIGIN).dtype.kind not in "iu":
        return False
    return origin_said(np.asarray(found.attrs[ORIGIN]), len(found.shape)) is not None


def _json(found: "h5py.Group | h5py.Dataset", name: str, heaps: Heaps) -> Json:
    """Return the JSON value of an attribute."""
    if found.attrs.get_id(name).dtype.kind not in "SU":
        # Variable-length text, as other programs write it.
        heaps.check()
    if found.attrs.get_id(name).get_storage_size() > _TEXT_BYTES:
        raise DataFileError(
            f"the attribute {name!r} of {found.name!r} is not text of at most {_TEXT_BYTES} bytes"
        )
    what = f"the attribute {name!r} of {found.name!r}"
    return parse_json(
        found.attrs[name], what, depth=DEFAULT_LIMITS.depth, digits=MAX_DIGITS, max_bytes=_TEXT_BYTES
    )


def _own_metadata(found: "h5py.Group | h5py.Dataset", heaps: Heaps) -> Mapping[str, Any]:
    """Return this library's metadata of a file or a tensor; attributes of other programs are ignored."""
    if METADATA not in found.attrs:
        return {}
    own = found.attrs.get_id(METADATA)
    if not is_one_text(own.get_type(), own.get_space()) or own.get_storage_size() > _TEXT_BYTES:
        return {}
    try:
        said = _json(found, METADATA, heaps)
    except ParseError:
        text: object = found.attrs[METADATA]
        if (
            isinstance(text, str)
            and text.startswith("{")
            and len(text.encode(errors="replace")) > _TEXT_BYTES
        ):
            # The attribute may be this library's, so raise instead of silently losing it.
            raise
        return {}
    return cast("Mapping[str, Any]", said) if isinstance(said, dict) else {}
