"""Select parts of tensors for the page, from servers and from files that JavaScript cannot read."""

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, cast, final

import numpy as np

from tensorwrapper import wire
from tensorwrapper._value_class import Shown
from tensorwrapper.errors import ConversionError, LayoutError, TensorWrapperError
from tensorwrapper.remote import Remote, RemoteTensor
from tensorwrapper.selection import View
from tensorwrapper.store import ArrayFile, TensFile
from tensorwrapper.tensor import Tensor

MOST_ASKED: Final = 2**16
"""Size limit of a request in bytes."""
_MOST: Final = 2**20
"""Limit on the elements of a response."""
_FEW: Final = 2**16
"""Rows up to this many elements are sent whole, though the page shows only part of them."""
_COLUMNS: Final = 24
_MOST_ROWS: Final = 4096
_MOST_LISTED: Final = 256

_Tensors: TypeAlias = Remote | ArrayFile | TensFile
_Lazy: TypeAlias = "Tensor[Any] | View[Any] | RemoteTensor"


@final
class Selected(Shown):
    """Answers requests for parts of named tensors, one at a time.

    A request is a JSON object: either `{"list": [first, end]}`, or `name` with one of `window`, `rows` and
    `lengths`. The response to a list is JSON; all others are messages.
    """

    __slots__ = ("_lock", "_names", "_tensors")

    def __init__(self, tensors: _Tensors) -> None:
        self._tensors = tensors
        self._names: tuple[str, ...] = tuple(tensors)
        self._lock = threading.Lock()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tensors, in order."""
        return self._names

    def close(self) -> None:
        """Close the file or the connection."""
        with self._lock:
            self._tensors.close()

    def answer(self, question: bytes) -> bytes:
        """Return the response to a request.

        Raises
        ------
        TensorWrapperError
            If the request is malformed, names an unknown tensor, or exceeds a limit.
        """
        try:
            asked: Mapping[str, object] = json.loads(question)
            with self._lock:
                if "list" in asked:
                    first, end = _span(asked["list"])
                    return json.dumps(self._listed(first, end)).encode()
                return self._part(self._tensors[str(asked["name"])], asked)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            if isinstance(error, TensorWrapperError):
                raise
            raise ConversionError(f"invalid request: {error}") from error

    def _listed(self, first: int, end: int) -> list[dict[str, object]]:
        names = self._names[first : min(end, first + _MOST_LISTED)]
        return [self._described(name) for name in names]

    def _described(self, name: str) -> dict[str, object]:
        """Return the metadata of a tensor, without reading elements."""
        said: dict[str, object] = {"name": name}
        try:
            tensor: _Lazy = self._tensors[name]
            tiling = _tiling_of(tensor)
            kind = "tiled" if tiling else "dense" if tensor.shape.is_box else "jagged"
            box = tensor.untiled().shape if tiling else tensor.shape
            said |= {
                "kind": kind,
                "hold": "sparse" if tensor.is_sparse else "string" if tensor.dtype.kind == "T" else None,
                "nullable": tensor.is_nullable,
                "type": "text" if tensor.dtype.kind == "T" else str(tensor.dtype),
                "isNumeric": tensor.dtype.kind in "biufV",
                "rank": tensor.shape.rank,
                "bytes": tensor.nbytes,
                "shape": None if kind == "jagged" else list(box.extents),
                "rows": len(tensor) if tensor.shape.rank else 1,
                "names": list(tensor.shape.names),
                "marks": tiling,
            }
            if not isinstance(self._tensors, Remote):
                said["metadata"] = self._tensors.tensor_metadata(name)
        except TensorWrapperError as error:
            said["refused"] = str(error)
        return said

    def _part(self, tensor: _Lazy, asked: Mapping[str, object]) -> bytes:
        if "window" in asked:
            spans = [_span(own) for own in _list(asked["window"])]
            box = tensor.untiled() if _tiling_of(tensor) else tensor
            part = box[tuple([slice(*own) for own in spans])] if spans else box
            return _message([_computed(part)])
        if "lengths" in asked:
            spans = [_span(own) for own in _list(asked["lengths"])]
            _check_count(sum([end - first for first, end in spans]), _MOST)
            lengths = [np.asarray(tensor[first:end].row_lengths()) for first, end in spans]
            return _message([np.concatenate([np.empty(0, "i8"), *lengths])])
        first, end = _span(asked["rows"])
        _check_count(end - first, _MOST_ROWS)
        part = tensor[first:end]
        if part.shape.size <= _FEW:
            return _message([_computed(part)])
        counts = np.array([part[k].shape.size if part.shape.rank > 1 else 1 for k in range(len(part))])
        if part.shape.rank == 2:  # the first elements of each row
            return _message([_computed(part[:, :_COLUMNS]), counts])
        short = np.flatnonzero(counts <= _FEW // 16)
        return _message([_computed(part[short]), counts, short])


def _computed(part: _Lazy) -> "Tensor[Any]":
    _check_count(part.shape.size, _MOST)
    return part if isinstance(part, Tensor) else part.compute()


def _check_count(count: int, most: int) -> None:
    if count > most:
        raise ConversionError(f"a response has at most {most} rows or elements, not {count}")


def _message(tensors: Sequence["Tensor[Any] | np.ndarray[Any, Any]"]) -> bytes:
    return bytes(wire.encode_frames(wire.encode(list(tensors))))


def _tiling_of(tensor: _Lazy) -> list[list[int]] | None:
    """Return the tile boundaries of each mode; None if there are no tiles."""
    try:
        tiling = tensor.tiling
    except LayoutError:
        return None
    return [np.append(0, np.cumsum(own)).tolist() for own in tiling.sizes]


def _list(given: object) -> list[object]:
    if not isinstance(given, list) or len(cast("list[object]", given)) > 64:
        raise TypeError("expected a list of at most 64 spans")
    return cast("list[object]", given)


def _span(given: object) -> tuple[int, int]:
    """Return the start and stop of a span."""
    match given:
        case [int(first), int(end)] if 0 <= first <= end < 2**53:
            return first, end
        case _:
            raise TypeError(f"a span is [first, end], not {given!r:.60}")
