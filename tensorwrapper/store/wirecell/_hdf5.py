"""Wire-Cell's tensor sets in HDF5: groups with numbered datasets, and metadata in attributes."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from tensorwrapper._json import parse_json
from tensorwrapper.errors import DataFileError, ParseError
from tensorwrapper.store.formats._contents import Contents, Opening
from tensorwrapper.store.formats._file_location import Where, memory_of, name_of
from tensorwrapper.store.formats.hdf5._external_files import open_linked
from tensorwrapper.store.formats.hdf5._heaps import Heaps
from tensorwrapper.store.formats.hdf5._read import opened_file
from tensorwrapper.store.records._lazy_metadata import LazyMetadata, LazyMetadataByName, told_of
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.store.system._system import of_stranger
from tensorwrapper.wire import Limits

if TYPE_CHECKING:
    import h5py

_TENSOR: Final = re.compile(r"tensorsets/(0|-?[1-9][0-9]{0,17})/(0|[1-9][0-9]{0,17})", re.ASCII)
_ATTRIBUTE_BYTES: Final = 2**20
_ATTRIBUTES: Final = 10_000


def open_hdf5_sets(where: Where, how: Opening) -> Contents:
    """Return the contents of an HDF5 file, with the datasets that are tensors of Wire-Cell's sets.

    Raises
    ------
    DataFileError
        If the file is missing or damaged.
    """
    contents, limits = open_linked(where, how), how.limits
    sets: dict[int, list[tuple[int, str]]] = {}
    for name in contents.held:
        found = _TENSOR.fullmatch(name)
        if found:
            sets.setdefault(int(found[1]), []).append((int(found[2]), name))
    if not sets:
        return contents
    said: dict[str, Callable[[], dict[str, Any]]] = {
        key: partial(contents.metadata.__getitem__, key) for key in contents.metadata
    }
    heaps = Heaps(memory_of(where, "HDF5"))
    said |= {f"tensorset_{ident}": partial(_of_set, where, ident, limits, heaps) for ident in sets}
    held = dict(contents.held)
    all_said = dict(said)
    for own in sets.values():
        for _, name in own:
            if not held[name].metadata:
                all_said[name] = partial(_attributes, where, name, limits, heaps)
                held[name] = attrs.evolve(held[name], metadata=LazyMetadata(all_said[name]))
    told = told_of(all_said)
    ordered = {("", ident): tuple([name for _, name in sorted(own)]) for ident, own in sets.items()}
    return attrs.evolve(
        contents,
        held=held,
        metadata=LazyMetadataByName(said),
        sets=ordered,
        told=lambda: (*contents.told(), *told()),
        attributes=partial(_others, contents, {name for own in ordered.values() for name in own}),
    )


def _others(contents: Contents, tensors: set[str]) -> dict[str, Sequence[str] | Loss]:
    """Return the attributes of all objects except sets and their tensors, whose attributes are metadata."""
    sets = {name.rpartition("/")[0] for name in tensors}
    return {name: own for name, own in contents.attributes().items() if name not in tensors | sets}


def _of_set(where: Where, ident: int, limits: Limits, heaps: Heaps) -> dict[str, Any]:
    found = _attributes(where, f"tensorsets/{ident}", limits, heaps)
    # The name also has the number.
    found.pop("ident", None)
    return found


def _attributes(where: Where, name: str, limits: Limits, heaps: Heaps) -> dict[str, Any]:
    """Return the attributes of a group or a dataset: numbers, text, and JSON as text."""
    path = name_of(where)
    with of_stranger(path, "HDF5"), opened_file(where, heaps) as file:
        own = file[name].attrs
        if len(own) > _ATTRIBUTES:
            raise DataFileError(f"{path}: {name!r} has {len(own)} attributes, but the limit is {_ATTRIBUTES}")
        if any(own.get_id(key).dtype.hasobject for key in own):
            heaps.check()
        return {
            key: _value(own, key, f"{path}: the attribute {key[:60]!r} of {name!r}", limits) for key in own
        }


def _value(attributes: "h5py.AttributeManager", key: str, what: str, limits: Limits) -> object:
    found = attributes.get_id(key)
    if not found.get_space().get_select_npoints():
        return None
    size = found.get_storage_size()
    if size > _ATTRIBUTE_BYTES:
        raise DataFileError(f"{what} has {size} bytes, but the limit is {_ATTRIBUTE_BYTES}")
    value: object = attributes[key]
    if isinstance(value, bytes | str):
        text = value if isinstance(value, str) else value.rstrip(b"\0").decode("utf-8", "backslashreplace")
        if not text.startswith(("{", "[")):
            return text
        try:
            # Lists and objects are written as JSON.
            return parse_json(text, what, depth=limits.depth, digits=limits.digits, items=limits.label_items)
        except ParseError:
            return text
    array = np.asarray(value)
    if array.dtype.kind in "biuf":
        return array.tolist()
    return str(value)[:_ATTRIBUTE_BYTES]
