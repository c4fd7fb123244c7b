"""Write files of NumPy and safetensors, which store only dense boxes with origin zero."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tensorwrapper._error_text import shortened
from tensorwrapper._json import dump_json
from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.errors import ConversionError, DataFileError, TensorWrapperError
from tensorwrapper.store.formats._contents import Conversion, Named, Options, leaving_out
from tensorwrapper.store.formats._npy import ONE, write_npy, write_npz
from tensorwrapper.store.formats._safetensors import check_safetensors, write_safetensors
from tensorwrapper.store.formats._write_blocks import (
    check_nulls,
    check_text,
    dense_advice,
    refused_type,
    without_layers,
)
from tensorwrapper.store.records._loss import Loss, unsaid
from tensorwrapper.tensor import Tensor, as_tensor

_ZIP_NAME_BYTES: Final = 2**16 - 1 - len(".npy")


def write_npy_file(
    path: Path, tensors: Iterator[Named], metadata: Mapping[str, Any], options: Options
) -> Conversion:
    """Write the single tensor of a ``.npy`` file.

    Raises
    ------
    ConversionError
        If there are several tensors, or it is not a dense box with origin zero.
    """
    lost = _metadata_losses(metadata)
    found = list(_dense(tensors, path, lost, options))
    if len(found) != 1:
        raise ConversionError(f"{path} can have only one tensor, not {len(found)}")
    ((name, tensor),) = found
    write_npy(path, tensor)
    lost += [] if name == ONE else [Loss(f"the name {name!r}", name, "name")]
    return Conversion((name,), tensor.nbytes, tuple(lost))


def write_npz_file(
    path: Path, tensors: Iterator[Named], metadata: Mapping[str, Any], options: Options
) -> Conversion:
    """Write dense boxes to an archive without compression.

    Raises
    ------
    ConversionError
        If a tensor is not a dense box with origin zero.
    """
    lost = _metadata_losses(metadata)
    done: list[tuple[str, int]] = []

    def noted() -> Iterator[tuple[str, Tensor[Any]]]:
        for name, tensor in _dense(tensors, path, lost, options):
            done.append((name, tensor.nbytes))
            yield name, tensor

    write_npz(path, noted())
    return Conversion(tuple([name for name, _ in done]), sum([n for _, n in done]), tuple(lost))


def write_safetensors_file(
    path: Path, tensors: Iterator[Named], metadata: Mapping[str, Any], options: Options
) -> Conversion:
    """Write dense boxes as safetensors, whose metadata values are strings.

    Raises
    ------
    ConversionError
        If a tensor is not a dense box with origin zero.
    """
    other = [key for key, value in metadata.items() if not isinstance(value, str)]
    lost = [Loss(f"the type of the metadata {key!r}, written as text", "", "kind") for key in other]
    found = list(_dense(tensors, path, lost, options))
    texts = {key: dump_json(value) if key in other else str(value) for key, value in metadata.items()}
    for text in (*texts, *texts.values()):
        check_text(text, path)
    write_safetensors(path, found, texts)
    return Conversion(tuple([name for name, _ in found]), sum([t.nbytes for _, t in found]), tuple(lost))


def _dense(
    tensors: Iterator[Named], path: Path, lost: list[Loss], options: Options
) -> Iterator[tuple[str, Tensor[Any]]]:
    """Yield the tensors as dense boxes with origin zero, the only kind that these formats support."""
    if options.chunks is not None:
        raise ConversionError(f"{path.suffix} files have no chunks")
    for name, given, said in tensors:
        options.codec_of(name, {}, path.suffix)
        read: list[Tensor[Any]] = []
        with leaving_out(name, options, lost):
            told: list[Loss] = []
            read.append(_box(name, given, path, told))
            lost += told
        for tensor in read:
            if any(tensor.shape.names):
                lost.append(unsaid(name, "the names of the modes"))
            if said:
                lost.append(unsaid(name, "the metadata"))
            yield name, tensor


def _box(name: str, given: object, path: Path, lost: list[Loss]) -> Tensor[Any]:
    """Return a tensor as a dense box with origin zero, of a dtype that the format supports."""
    check_text(name, path)
    try:
        tensor = as_tensor(given)
        if tensor.shape.flatten().is_box and not tensor.is_sparse:
            tensor = as_tensor(without_layers(name, tensor, lost))
    except DataFileError:
        raise
    except TensorWrapperError as error:
        raise ConversionError(f"cannot write {name!r} to {path}: {error}") from error
    check_nulls(tensor, name, path)
    advice = dense_advice(tensor)
    if advice:
        raise ConversionError(
            f"{name!r} has the shape {shortened(str(tensor.shape))}"
            f"{' and is sparse' * tensor.is_sparse}; "
            f"{path.suffix} stores only dense boxes with origin zero: {advice}, or use a .tens file"
        )
    if path.suffix == ".npz" and len(name.encode()) > _ZIP_NAME_BYTES:
        raise ConversionError(
            f"{shortened(repr(name))} exceeds {_ZIP_NAME_BYTES} bytes, the limit for names in .npz"
        )
    if path.suffix == ".npz" and "\0" in name:
        raise ConversionError(f"{name!r} is not a valid name in an archive, as it contains {chr(0)!r}")
    if path.suffix == ".safetensors":
        check_safetensors(name, tensor.dtype)
    # Strings have no fixed-size dtype, and NumPy's files lose dtypes of ml_dtypes.
    elif holds_strings(tensor.dtype) or tensor.dtype.type.__module__ != "numpy":
        raise ConversionError(f"{name!r}: {refused_type(tensor.dtype, path.suffix)}")
    return tensor


def _metadata_losses(metadata: Mapping[str, Any]) -> list[Loss]:
    return [Loss(f"the metadata {key!r}", "", "kind") for key in metadata]
