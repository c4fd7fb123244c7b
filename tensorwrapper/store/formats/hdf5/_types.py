"""Classify HDF5 datasets: which are tensors, and which can be mapped without conversion."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DTypeError
from tensorwrapper.store.records._loss import Loss, LossCode
from tensorwrapper.tensor.lowlevel import check_sequences

if TYPE_CHECKING:
    import h5py

Packing: TypeAlias = Literal["strings", "vlen", "records", "arrays", "chunked", "converted", "dense"]
"""How a dataset is read."""
_NUMBERS: Final = "biufcmM"
_VIEW: Final = "selection.as_view(h5py.File(...)[name]) reads them"

_PLUGINS: Final = {
    307: "bzip2",
    32001: "Blosc",
    32004: "LZ4",
    32008: "Bitshuffle",
    32013: "ZFP",
    32015: "Zstandard",
    32017: "SZ",
    32018: "FCIDECOMP",
    32024: "SZ3",
    32026: "Blosc2",
    32028: "SPERR",
}
"""Filters of the package hdf5plugin, by registered number."""


@final
@frozen(eq=False)
class DatasetFacts:
    """Properties of a dataset, read once, because HDF5 may report a type differently after a conversion."""

    dtype: "np.dtype[Any]"
    packing: Packing
    odd: tuple[tuple[str, str], ...] = ()
    """Fields of a record that NumPy does not support, with reasons; `dtype` omits them."""


def look_at(found: "h5py.Dataset", name: str) -> "DatasetFacts | Loss":
    """Return the properties of a dataset, or a loss if it is not a tensor, without reading elements."""
    import h5py  # noqa: PLC0415 - an extra

    if found.id.get_space().get_simple_extent_type() == h5py.h5s.NULL:
        return Loss(f"the dataset {name!r} has a null dataspace, and no elements", name, "empty")
    away = _external_storage(found)
    if away is not None:
        where, advice = away
        return Loss(f"the dataset {name!r} {where}, and is not followed", name, "link", advice)
    missing = _missing_filter(found, name)
    if missing is not None:
        return missing
    kind = found.id.get_type()
    if isinstance(kind, h5py.h5t.TypeCompoundID) and not _is_complex(kind):
        odd: list[tuple[str, str]] = []
        return DatasetFacts(_fields_of(kind, name, odd), "records", tuple(odd))
    try:
        dtype = _type_of(found, kind)
    except Exception as error:  # noqa: BLE001 - h5py has no one word for types that NumPy lacks
        wider = _wider(found)
        if wider is not None:
            return DatasetFacts(wider, "converted")
        return Loss(
            f"the dataset {name!r} has elements of a type that h5py cannot read, {error}", name, "type"
        )
    refused = _refusal(dtype)
    if refused is not None:
        code, why, advice = refused
        return Loss(f"the dataset {name!r} has {why}", name, code, advice)
    return DatasetFacts(dtype, _packing(found, dtype))


def _packing(found: "h5py.Dataset", dtype: "np.dtype[Any]") -> Packing:
    """Return how to read a dataset without records."""
    import h5py  # noqa: PLC0415 - an extra

    if dtype.subdtype is not None:
        return "arrays"
    if is_text(dtype):
        return "strings"
    if h5py.check_vlen_dtype(dtype) is not None:
        return "vlen"
    if found.chunks is not None:
        return "chunked"
    return "dense" if reads_raw(found, dtype) else "converted"


def reads_raw(found: "h5py.Dataset", dtype: "np.dtype[Any]") -> bool:
    """Return True if the bytes of a contiguous dataset are its elements, by h5py's type comparison.

    A type in a file has more properties than a NumPy dtype: unused bits, the position and bias of an
    exponent, the values of an enumeration. Records are never mapped, because padding may differ between equal
    types.
    """
    import h5py  # noqa: PLC0415 - an extra

    if dtype.names is not None or dtype.kind not in "biufcmM":
        return False
    # Use `logical`, because otherwise enumerations unknown to NumPy become integers in memory.
    return bool(found.id.get_type().equal(h5py.h5t.py_create(dtype, logical=True)))


def start_of(found: "h5py.Dataset") -> int | None:
    """Return the start of contiguous elements; None if they are not stored.

    A dataset that was never written has an undefined address, to which HDF5 adds the size of a user block.
    """
    return found.id.get_offset() if found.chunks is None and found.id.get_storage_size() else None


def _is_complex(kind: "h5py.h5t.TypeCompoundID") -> bool:
    """Return True if h5py reads a record as a complex number."""
    try:
        return bool(_type_of(kind, kind).names is None)
    except Exception:  # noqa: BLE001 - h5py has no one word for types that NumPy lacks
        return False


def _fields_of(kind: "h5py.h5t.TypeCompoundID", above: str, odd: list[tuple[str, str]]) -> "np.dtype[Any]":
    """Return a record of the fields that NumPy supports, and record the others in `odd`.

    Each field is examined separately. h5py's dtype of the whole record uses file offsets, so fields overlap
    if one is wider in memory, as for some floats.
    """
    import h5py  # noqa: PLC0415 - an extra

    fields: list[tuple[str, np.dtype[Any]]] = []
    for k in range(kind.get_nmembers()):
        raw = kind.get_member_name(k)
        name = raw.decode("utf-8", "backslashreplace")
        if name.encode() != raw:
            odd.append((f"{above}.{name}", f"its name {raw!r} is not UTF-8"))
            continue
        own = kind.get_member_type(k)
        if isinstance(own, h5py.h5t.TypeCompoundID) and not _is_complex(own):
            found = _fields_of(own, f"{above}.{name}", odd)
            # Skip a nested record without supported fields; each of its fields was recorded.
            fields += [(name, found)] if found.names else []
            continue
        try:
            fields.append((name, _type_of(own, own)))
        except Exception as error:  # noqa: BLE001 - as above
            odd.append((f"{above}.{name}", str(error)))
    return np.dtype(fields)


def _type_of(shown: "h5py.Dataset | h5py.h5t.TypeID", kind: "h5py.h5t.TypeID") -> "np.dtype[Any]":
    """Return the dtype that h5py reports.

    Raises
    ------
    TypeError
        If NumPy does not support the type, or HDF5 would convert elements to wrong numbers.
    """
    if has_misread(kind):
        raise TypeError("HDF5 converts integers of one big-endian byte with unused bits to wrong numbers")
    import h5py  # noqa: PLC0415 - an extra

    dtype = shown.dtype
    is_number = (dtype.subdtype or (dtype,))[0].kind in _NUMBERS
    if is_number and h5py.h5t.find(kind, h5py.h5t.py_create(dtype)) is None:
        raise TypeError(f"HDF5 cannot convert it to {dtype}")
    return dtype


def has_misread(kind: "h5py.h5t.TypeID") -> bool:
    """Return True if some elements are integers of one big-endian byte with unused bits.

    HDF5 2.0 does not clear these bits when it converts to one-byte integers. Wider integers are correct.
    """
    import h5py  # noqa: PLC0415 - an extra

    if isinstance(kind, h5py.h5t.TypeCompoundID):
        return any(has_misread(kind.get_member_type(k)) for k in range(kind.get_nmembers()))
    if isinstance(kind, h5py.h5t.TypeArrayID | h5py.h5t.TypeVlenID | h5py.h5t.TypeEnumID):
        return has_misread(kind.get_super())
    if not isinstance(kind, h5py.h5t.TypeIntegerID):
        return False
    return bool(kind.get_size() == 1 and kind.get_order() == h5py.h5t.ORDER_BE and kind.get_precision() < 8)


def are_labels(kind: "h5py.h5t.TypeID", space: "h5py.h5s.SpaceID", rank: int) -> bool:
    """Return True if an attribute can be mode names: one variable-length string per mode.

    HDF5 relies on this type, and would interpret any bytes as pointers to text.
    """
    import h5py  # noqa: PLC0415 - an extra

    is_text = isinstance(kind, h5py.h5t.TypeStringID) and bool(kind.is_variable_str())
    is_simple = space.get_simple_extent_type() == h5py.h5s.SIMPLE
    return is_text and is_simple and space.get_simple_extent_dims() == (rank,)


def is_one_text(kind: "h5py.h5t.TypeID", space: "h5py.h5s.SpaceID") -> bool:
    """Return True if an attribute is a single string."""
    import h5py  # noqa: PLC0415 - an extra

    is_scalar = space.get_simple_extent_type() == h5py.h5s.SCALAR
    return isinstance(kind, h5py.h5t.TypeStringID) and is_scalar


def _external_storage(found: "h5py.Dataset") -> tuple[str, str] | None:
    """Return the location of elements outside the dataset, and advice; None if they are inside."""
    if found.is_virtual:
        sources = found.virtual_sources()
        files = _names_text([own.file_name for own in sources if own.file_name != "."])
        own = _names_text([own.dset_name for own in sources])
        where = f"other files, {files}" if files else f"other datasets of this file, {own or 'none'}"
        return f"is virtual, with its elements in {where}", _VIEW
    if found.external:
        files = _names_text([own[0] for own in found.external])
        return f"has its elements in other files, {files}", f"in a process whose folder is theirs, {_VIEW}"
    return None


def _names_text(names: Sequence[str]) -> str:
    """Return unique names as text."""
    each = list(dict.fromkeys(names))
    return ", ".join([repr(own)[:80] for own in each[:3]]) + ", ..." * (len(each) > 3)


def _missing_filter(found: "h5py.Dataset", name: str) -> Loss | None:
    import h5py  # noqa: PLC0415 - an extra

    if found.chunks is None:
        return None
    plist = found.id.get_create_plist()
    for number in range(plist.get_nfilters()):
        code, _, _, said = plist.get_filter(number)
        if h5py.h5z.filter_avail(code):
            continue
        known = _PLUGINS.get(code)
        advice = (
            "`pip install hdf5plugin`, and `import hdf5plugin` before the file is opened" if known else ""
        )
        title = known or said.decode("utf-8", "replace") or "without a name"
        return Loss(
            f"the dataset {name!r} is packed by the filter {code} ({title[:40]}), which is not installed",
            name,
            "codec",
            advice,
        )
    return None


def _wider(found: "h5py.Dataset") -> "np.dtype[Any] | None":
    """Return the smallest NumPy integer dtype for integers of 1, 3, 5, 6 or 7 bytes."""
    import h5py  # noqa: PLC0415 - an extra

    kind = found.id.get_type()
    if not isinstance(kind, h5py.h5t.TypeIntegerID) or kind.get_size() > 8:
        return None
    sign = "i" if kind.get_sign() == h5py.h5t.SGN_2 else "u"
    return np.dtype(f"{sign}{1 << (kind.get_size() - 1).bit_length()}")


def has_heap(found: "h5py.Dataset") -> bool:
    """Return True if elements may be stored on a heap of the file: variable-length text and sequences."""
    import h5py  # noqa: PLC0415 - an extra

    kind = found.id.get_type()
    if isinstance(kind, h5py.h5t.TypeStringID):
        return bool(kind.is_variable_str())
    return isinstance(kind, h5py.h5t.TypeVlenID | h5py.h5t.TypeCompoundID | h5py.h5t.TypeArrayID)


def is_text(dtype: "np.dtype[Any]") -> bool:
    """Return True if elements are text of fixed or variable length."""
    import h5py  # noqa: PLC0415 - an extra

    return h5py.check_string_dtype(dtype) is not None


def field_refusal(name: str, dtype: "np.dtype[Any]") -> Loss | None:
    """Return why a field of records is not a tensor."""
    if is_text(dtype) or (dtype.kind in _NUMBERS and dtype.itemsize <= (16 if dtype.kind == "c" else 8)):
        return None
    text = f"the field {name!r} has elements of type {str(dtype)[:80]}"
    return Loss(text, name, "objects" if dtype.hasobject else "type", "dataset['field'] of h5py reads it")


def _refusal(dtype: "np.dtype[Any]") -> tuple[LossCode, str, str] | None:
    import h5py  # noqa: PLC0415 - an extra

    shown = str(dtype)[:80]
    if dtype.subdtype is not None and dtype.base.kind not in _NUMBERS and not is_text(dtype.base):
        return "type", f"an array in each element, {shown}", "h5py reads them"
    if dtype.names is not None or dtype.subdtype is not None:
        return None
    if is_text(dtype):
        return None
    inner = h5py.check_vlen_dtype(dtype)
    if inner is not None:
        try:
            check_sequences(np.dtype(inner))
        except DTypeError as error:
            return "type", str(error), ""
        return None
    if dtype.hasobject:
        return "objects", "references, which are not elements", "h5py follows them"
    if dtype.kind not in "biufcmM" or (dtype.kind == "M" and np.datetime_data(dtype)[0] == "generic"):
        return "type", f"elements of type {shown}, which tensors have not", "h5py reads them"
    if dtype.kind in "fc" and dtype.itemsize > (8 if dtype.kind == "f" else 16):
        return (
            "type",
            f"elements that need {shown}, which few machines have",
            f"dataset.astype('{'f8' if dtype.kind == 'f' else 'c16'}') reads them",
        )
    return None
