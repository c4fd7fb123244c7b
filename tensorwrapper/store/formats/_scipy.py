"""Sparse matrices of SciPy's `save_npz`: several archive members form one sparse tensor.

The member `format` is "csr", "csc", "bsr", "dia", or "coo" (of any rank). The member `shape` has the extents.
Elements that are stored more than once are summed, as in SciPy.
"""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from tensorwrapper._arrays import are_truths
from tensorwrapper._error_text import brief
from tensorwrapper.errors import ConversionError, DataFileError, TensorWrapperError
from tensorwrapper.store.formats._bytes import check_bytes
from tensorwrapper.store.formats._contents import Held
from tensorwrapper.store.formats._names import FreeNames
from tensorwrapper.store.formats._zip_member import whole_of
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.tensor import Tensor, sparse
from tensorwrapper.typing import Array, Extents, IntArray
from tensorwrapper.wire import DEFAULT_LIMITS, Limits

Found: TypeAlias = "tuple[str, np.dtype[Any] | None, Held]"
"""Name of a member, its dtype (None if the header is damaged), and its reader."""
_Parts: TypeAlias = Mapping[str, Array]

_NAME: Final = "array"
_ALL: Final = frozenset(("format", "shape", "data"))
_ROWS: Final = frozenset(("indices", "indptr"))
_OTHERS: Final[tuple[frozenset[str], ...]] = (
    _ROWS,
    frozenset(("offsets",)),
    frozenset(("row", "col")),
    frozenset(("coords",)),
)
"""Members beyond those common to all formats."""
_NEEDED: Final[Mapping[str, tuple[frozenset[str], ...]]] = {
    "csr": (_ROWS,),
    "csc": (_ROWS,),
    "bsr": (_ROWS,),
    "dia": (frozenset(("offsets",)),),
    "coo": (frozenset(("coords",)), frozenset(("row", "col"))),
}
"""Required members, by format."""
_FLAG: Final = "_is_array"
_ADVICE: Final = "raw=True lists the members"


def with_sparse(found: list[Found], losses: list[Loss], limits: Limits) -> list[Found]:
    """Return the members of an archive, with those of a sparse matrix joined; appends to `losses`."""
    parts = {name: own for name, own, _ in found}
    if not {"format", "shape"} <= parts.keys():
        return found
    complete = [own for own in _OTHERS if own <= parts.keys()]
    if not complete or not parts.keys() >= _ALL:
        # Any archive may have members with these names.
        return found
    others = complete[0] if len(complete) == 1 else _others_of(found, complete)
    names = _ALL | others
    odd = [name for name in sorted(names) if not _fits(name, parts[name])]
    if odd:
        text = f"the members {odd} are not those of a sparse matrix, and all members are listed"
        losses.append(Loss(text, _NAME, "convention", "scipy.sparse.load_npz reads such files"))
        return found
    held = {name: own for name, _, own in found if name in names}
    left = [own for own in found if own[0] not in names | {_FLAG}]
    name = FreeNames([own[0] for own in left]).claim(_NAME)
    if name != _NAME:
        losses.append(Loss(f"the sparse matrix is called {name!r}, as a member is {_NAME!r}", _NAME, "name"))

    def read() -> Tensor[Any]:
        return _read({part: own.read for part, own in held.items()}, name, limits)

    nbytes = sum([own.nbytes or 0 for own in held.values()])
    return [*left, (name, parts["data"], Held(0, nbytes, "sparse", read))]


def _others_of(found: list[Found], complete: list[frozenset[str]]) -> frozenset[str]:
    """Return the members that the format needs; those of the first format if unreadable."""
    held = next(own for name, _, own in found if name == "format")
    try:
        form = _form(whole_of(held.read()))
    except TensorWrapperError:
        # The reader of the matrix raises the same error.
        return complete[0]
    return next((own for own in _NEEDED[form] if own in complete), complete[0])


def _fits(name: str, dtype: "np.dtype[Any] | None") -> bool:
    kinds = {"format": "SU", "data": "biufc"}.get(name, "iu")
    return dtype is not None and dtype.kind in kinds


def _read(parts: Mapping[str, Callable[[], object]], name: str, limits: Limits) -> Tensor[Any]:
    try:
        arrays = {part: whole_of(read()) for part, read in parts.items()}
        form, extents = _form(arrays["format"]), _extents(arrays["shape"], limits)
        data = arrays["data"]
        if not are_truths(data):
            raise ConversionError("a bool is neither 0 nor 1")
        # Memory for the index of each element in all modes, and for intermediate arrays of that size.
        check_bytes(8 * (len(extents) + 1) * data.size, name, limits)
        coords, values = _FORMS[form](arrays, extents)
        return sparse(coords, values, extents, duplicates="sum")
    except DataFileError:
        raise
    except (TensorWrapperError, KeyError) as error:
        said = f"has no member {error}" if isinstance(error, KeyError) else str(error)
        raise DataFileError(
            Loss(f"the sparse matrix {name!r}: {said}", name, "convention", _ADVICE)
        ) from error


def _form(given: Array) -> str:
    said: object = given.reshape(-1)[0] if given.size == 1 else None
    text = said.decode("ascii", "replace") if isinstance(said, bytes) else str(said)
    if text not in _FORMS:
        raise ConversionError(f"its format must be one of {', '.join(_FORMS)}, not {text[:20]!r}")
    return text


def _extents(given: Array, limits: Limits) -> Extents:
    extents: Extents = tuple(given.tolist()) if given.ndim == 1 else ()
    if not 1 <= len(extents) <= DEFAULT_LIMITS.rank or not all(0 <= n <= limits.extent for n in extents):
        raise ConversionError(f"its extents are {brief(given.tolist())}, but the limit is {limits.extent}")
    return extents


def _places(given: Array, extent: int, count: int, what: str) -> IntArray:
    """Return the indices of a mode, one per element."""
    if given.shape != (count,):
        raise ConversionError(
            f"{what} has the extents {given.shape}, not one index for each of {count} elements"
        )
    if count and not 0 <= int(given.min()) <= int(given.max()) < extent:
        raise ConversionError(
            f"{what} ranges from {given.min()} to {given.max()}, not from 0 to {extent - 1}"
        )
    return given.astype(np.int64, copy=False)


def _of_points(parts: _Parts, extents: Extents) -> tuple[IntArray, Array]:
    data = _flat(parts)
    given = list(parts["coords"]) if "coords" in parts else [parts["row"], parts["col"]]
    if len(given) != len(extents):
        raise ConversionError(f"it has coordinates for {len(given)} modes, but {len(extents)} extents")
    columns = [
        _places(own, extent, len(data), f"mode {mode} of the coordinates")
        for mode, (own, extent) in enumerate(zip(given, extents, strict=True))
    ]
    return np.stack(columns, axis=1), data


def _of_rows(parts: _Parts, extents: Extents) -> tuple[IntArray, Array]:
    _flat(parts)
    if len(extents) == 1:
        # A vector has one row, which is not a mode.
        coords, data = _compressed(parts, 1, extents[0])
        return coords[:, 1:], data
    return _compressed(parts, *_matrix(extents))


def _of_columns(parts: _Parts, extents: Extents) -> tuple[IntArray, Array]:
    _flat(parts)
    coords, data = _compressed(parts, *_matrix(extents)[::-1])
    return coords[:, ::-1], data


def _of_blocks(parts: _Parts, extents: Extents) -> tuple[IntArray, Array]:
    rows, columns = _matrix(extents)
    data = parts["data"]
    inner = data.shape[1:]
    if len(inner) != 2 or not all(inner) or rows % inner[0] or columns % inner[1]:
        raise ConversionError(f"its data have the extents {data.shape}, and are not blocks of {extents}")
    coords, blocks = _compressed(parts, rows // inner[0], columns // inner[1])
    within = np.stack(np.unravel_index(np.arange(prod(inner)), inner), axis=1)
    return (coords[:, np.newaxis] * inner + within).reshape(-1, 2), blocks.reshape(-1)


def _of_diagonals(parts: _Parts, extents: Extents) -> tuple[IntArray, Array]:
    rows, columns = _matrix(extents)
    data, offsets = parts["data"], parts["offsets"]
    if data.ndim != 2 or offsets.shape != data.shape[:1] or len(np.unique(offsets)) != len(offsets):
        raise ConversionError(f"its data have the extents {data.shape}, not one diagonal per offset")
    # A diagonal outside the matrix has no elements.
    numbers: Any = offsets
    first: IntArray = np.minimum(numbers, np.int64(columns)).astype(np.int64)
    first = np.maximum(first, -rows)
    own: IntArray = np.arange(min(data.shape[1], columns), dtype=np.int64)
    places: IntArray = own - first[:, np.newaxis]
    is_inside = (places >= 0) & (places < rows)
    found: IntArray = np.broadcast_to(own, places.shape)[is_inside]
    return np.stack([places[is_inside], found], axis=1), data[:, : len(own)][is_inside]


def _flat(parts: _Parts) -> Array:
    data = parts["data"]
    if data.ndim != 1:
        raise ConversionError(f"its data have the extents {data.shape}, but must be 1-d")
    return data


def _matrix(extents: Extents) -> tuple[int, int]:
    if len(extents) != 2:
        raise ConversionError(f"a matrix has 2 modes, not {len(extents)}")
    return extents[0], extents[1]


def _compressed(parts: _Parts, rows: int, columns: int) -> tuple[IntArray, Array]:
    """Return the coordinates and the values of all elements or blocks."""
    data, indices = parts["data"], parts["indices"]
    splits: Any = parts["indptr"]
    if splits.shape != (rows + 1,):
        raise ConversionError(f"'indptr' has the extents {splits.shape} for {rows} rows")
    if splits[0] != 0 or (splits[1:] < splits[:-1]).any() or int(splits[-1]) > len(data):
        raise ConversionError(f"'indptr' does not ascend from 0 to at most {len(data)}")
    count = int(splits[-1])
    places = _places(indices, columns, len(data), "'indices'")[:count]
    lengths = np.diff(splits.astype(np.int64))
    return np.stack([np.repeat(np.arange(rows), lengths), places], axis=1), data[:count]


_Form: TypeAlias = Callable[[_Parts, Extents], tuple[IntArray, Array]]
_FORMS: Final[Mapping[str, _Form]] = {
    "csr": _of_rows,
    "csc": _of_columns,
    "coo": _of_points,
    "bsr": _of_blocks,
    "dia": _of_diagonals,
}
"""Functions by format that return the coordinates and the elements."""
