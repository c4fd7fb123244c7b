"""Prepare tensors for files of other formats: blocks, runs, and contiguous chunks."""

import errno
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from tensorwrapper._arrays import as_truths
from tensorwrapper._error_text import counted, shortened
from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.errors import ConversionError, DataFileError, TensorWrapperError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.store.formats._contents import Options
from tensorwrapper.store.formats._ragged import Ragged, ragged_of
from tensorwrapper.store.records._loss import Loss, unsaid
from tensorwrapper.store.records._record import cut
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import Array, Extents, IntArray

if TYPE_CHECKING:
    from tensorwrapper.selection import View

TensorLike: TypeAlias = "Tensor[Any] | View[Any]"
RowsToWrite: TypeAlias = tuple[Ragged, dict[int, IntArray]]
"""Description of rows, and the sizes of the variable modes."""

CHUNK_BYTES: Final = 2**20
"""Default size of a chunk. It fits HDF5's cache, and is worth a request to a remote store."""
_LAYER_BYTES: Final = (2**12, 2**25)
"""Smallest and largest layer of a nested shape that becomes one chunk, in bytes."""
_BLOCK: Final = 2**24


def to_write(given: object, name: str, target: object, *, nulls: bool = False) -> TensorLike:
    """Return the value to write under a name. A view stays lazy, and is computed block by block.

    Raises
    ------
    ConversionError
        If it is sparse or not a tensor, or if it has nulls and `nulls` is False.
    """
    from tensorwrapper.selection import View  # noqa: PLC0415 - a room above, which most files do not need

    if isinstance(given, View):
        view = cast("View[Any]", given)
        if not nulls:
            check_nulls(view, name, target)
        return view
    try:
        tensor = as_tensor(given)
    except DataFileError:
        raise
    except TensorWrapperError as error:
        raise ConversionError(f"cannot write {name!r} to {target}: {error}") from error
    if tensor.is_sparse:
        raise ConversionError(f"{name!r} is sparse; use to_dense(), or a .tens file")
    if not nulls:
        check_nulls(tensor, name, target)
    return tensor


def check_nulls(value: TensorLike, name: str, target: object) -> None:
    """Raise if a number, a bool or a time is null, which most formats do not support.

    A view computes only its validity, and only if a source is nullable.
    """
    count = value.null_count if not holds_strings(value.dtype) and value.is_nullable else 0
    if count:
        text = f"{name!r} has {counted(count, 'null')}, which {target} does not support"
        advice = "fill_null(0) replaces them, a .tens or .parquet file keeps them"
        raise ConversionError(Loss(text, name, "null", advice))


def rows_to_write(value: TensorLike, name: str) -> RowsToWrite | None:
    """Return how to write a tensor as rows; None for a box, a matrix of tiles, or strings.

    Raises
    ------
    ConversionError
        If it has neither nested rows nor cells of one level.
    """
    if holds_strings(value.dtype) or grid_of(value) is not None or value.shape.flatten().is_box:
        return None
    return ragged_of(value.shape, f"{name!r}")


@contextmanager
def in_our_words(path: Path, name: str) -> Generator[None, None, None]:
    """Convert a library's errors for names that are taken, text with NUL, and unknown types."""
    try:
        yield
    except TensorWrapperError:
        raise
    except (ValueError, TypeError, RuntimeError, KeyError) as error:
        raise ConversionError(f"cannot write {shortened(repr(name))} to {path}: {error}") from error
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise ConversionError(
            f"cannot write {shortened(repr(name))} to {path}: the path is too long"
        ) from error


def check_text(name: str, path: Path) -> None:
    """Raise if a name has a lone surrogate, which a file cannot store."""
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ConversionError(f"cannot write {shortened(repr(name))} to {path}: {error.reason}") from error


def is_wide(dtype: "np.dtype[Any]") -> bool:
    """Return True for floats of more than 64 bits, and complex numbers of such floats."""
    return dtype.kind in "fc" and dtype.itemsize > (8 if dtype.kind == "f" else 16)


def refused_type(dtype: "np.dtype[Any]", kind: str, pair: str = "complex128") -> ConversionError:
    """Return the error for a dtype that a format does not support, with a suitable cast.

    `pair` is the format's type of complex numbers.
    """
    advice = "a .tens file keeps them"
    if not holds_strings(dtype) and dtype.type.__module__ != "numpy":
        # Integers of a few bits; only signed ones can be negative.
        held = f"np.{dtype.name.rstrip('0123456789')}8" if "int" in dtype.name else "np.float32"
        advice = f"astype({held}) holds them"
    elif dtype.kind in "fc":
        cast_to = "np.float64" if dtype.kind == "f" else f"np.{pair}"
        advice = f"astype({cast_to}) rounds them, a .npz file keeps them"
    return ConversionError(f"{kind} does not support elements of type {dtype}: {advice}")


def dense_advice(tensor: TensorLike) -> str:
    """Return advice for an error on how to make a tensor a dense box with origin zero; empty if it is one."""
    shape = tensor.shape
    if isinstance(tensor, Tensor) and tensor.is_sparse:
        return "to_dense() has all elements"
    if grid_of(tensor) is not None:
        return "untiled() is a box"
    if not shape.flatten().is_box:
        return f"{'flatten().' * shape.has_layers}to_padded() makes a box of rows"
    return "t[...] counts from zero" if any(shape.origin) else ""


def flat_runs(value: TensorLike) -> Iterator[Array]:
    """Yield the elements in row-major order, a few MiB at a time."""
    if isinstance(value, Tensor):
        yield from (as_truths(run.elements()) for run in cut(value, _BLOCK))
        return
    for _, block in value.blocks(_BLOCK):
        yield as_truths(block.elements())


def boxes_of(value: TensorLike) -> Iterator[tuple[tuple[slice, ...], Array]]:
    """Yield parts of a box with their zero-based slices; a single part if that needs no copy."""
    first = value.shape.origin
    if isinstance(value, Tensor):
        memory = np.asarray(value)
        if memory.flags.c_contiguous or not value.rank:
            yield tuple([slice(0, n) for n in memory.shape]), as_truths(memory)
            return
        parts: Iterator[tuple[Shape[Any], Tensor[Any]]] = ((own.shape, own) for own in cut(value, _BLOCK))
    else:
        parts = value.blocks(_BLOCK)
    for region, part in parts:
        starts = [start - own for start, own in zip(region.origin, first, strict=True)]
        key = [slice(start, start + n) for start, n in zip(starts, region.extents, strict=True)]
        yield tuple(key), as_truths(np.asarray(part))


def grid_of(value: TensorLike) -> Tiling | None:
    """Return the tiles of a tiled matrix, which become its chunks; None for other values."""
    return cast("Tiling | None", getattr(value, "tiling", None))


def chunks_for(name: str, value: TensorLike, options: Options, least: int) -> Extents | None:
    """Return the chunks of a box: those of the caller, or chunks that are contiguous in memory.

    By default a box of up to `least` bytes has no chunks. Otherwise chunks have whole modes in memory order,
    up to `CHUNK_BYTES`. A layer of a nested shape of suitable size is one chunk, because layers are read one
    at a time.
    """
    extents: Extents = value.shape.flatten().extents
    if not extents or 0 in extents:
        return None  # HDF5 has no chunks beyond a mode.
    found = options.chunks_of(name, extents) or _lying_together(value, least)
    return found and tuple([min(own, max(n, 1)) for own, n in zip(found, extents, strict=True)])


def without_layers(name: str, value: TensorLike, lost: list[Loss]) -> TensorLike:
    """Return the same box without layers, and add a loss for them, and for a symmetry."""
    if value.symmetry is not None:
        lost.append(unsaid(name, "the symmetry"))
    if not value.shape.has_layers:
        return value
    lost.append(unsaid(name, "the layers"))
    return value.flatten()


def _lying_together(value: TensorLike, least: int) -> Extents | None:
    itemsize, shape = value.dtype.itemsize, value.shape
    if not shape.size or shape.size * itemsize <= least:
        return None
    layout = value.layout if isinstance(value, Tensor) else Layout(shape)
    hints = layout.hints()
    most = max(CHUNK_BYTES // itemsize, 1)
    if shape.has_layers:
        low, high = _LAYER_BYTES
        found = [block.greatest for block in hints.layers if low <= block.greatest * itemsize <= high]
        most = found[0] if found else most
    return tuple([max(sizes, default=1) for sizes in hints.tiling(most).chunks])


def run_extents(value: TensorLike, least: int) -> tuple[int] | None:
    """Return the chunk of contiguous elements; None up to `least` bytes."""
    itemsize = value.dtype.itemsize
    if not value.size or value.size * itemsize <= least:
        return None
    return (min(max(CHUNK_BYTES // itemsize, 1), value.size),)
