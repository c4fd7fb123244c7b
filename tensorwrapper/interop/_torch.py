"""Convert to and from PyTorch tensors: strided, nested (both layouts) and sparse."""

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tensorwrapper._arrays import concatenated_ranges, splits_of
from tensorwrapper._error_text import with_article
from tensorwrapper.buffer.lowlevel import copy_elements, holds_strings
from tensorwrapper.errors import ConversionError, DTypeError, JaggedModeError
from tensorwrapper.interop._operand import TensorLike, native, tensor_of
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor, as_tensor, from_buffer, sparse
from tensorwrapper.typing import Array

if TYPE_CHECKING:
    import torch

_ADDED: Final = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
"""PyTorch dtypes that NumPy supports only by ml_dtypes, with the same names."""


def to_torch(value: TensorLike) -> "torch.Tensor":
    """Return the tensor as a strided, nested or sparse PyTorch tensor on the CPU.

    A box shares its memory, as NumPy's arrays do; it is copied if it cannot be written to, if it runs
    backwards, or if its byte order is not the machine's. Rows whose lengths differ in mode 1 are a nested
    tensor of layout ``jagged`` over the same memory; cells that differ in other modes one of layout
    ``strided``, which copies. Sparse tensors are COO. Origins, names, layers and tiles are lost.

    Raises
    ------
    ConversionError
        If rows are nested more than one level deep (`flatten` takes one away), or a sparse tensor has
        another fill than 0.
    DTypeError
        If PyTorch has no such elements: strings and times.
    ModuleNotFoundError
        If PyTorch is not installed.
    """
    import torch  # noqa: PLC0415 - heavy, and not needed for the rest

    tensor = tensor_of(value)
    if holds_strings(tensor.dtype) or tensor.dtype.kind in "mM":
        raise DTypeError(
            f"PyTorch has no elements of type {tensor.dtype}: astype('i8') has the numbers of times, "
            "to_arrow() strings"
        )
    if tensor.is_sparse:
        if tensor.fill_value:
            raise ConversionError(
                f"sparse tensors of PyTorch are filled with 0, and this with {tensor.fill_value}"
            )
        places = torch.from_numpy(np.ascontiguousarray(tensor.coords().T))
        return torch.sparse_coo_tensor(places, _torch_of(tensor.values()), tensor.shape.extents)
    if tensor.shape.is_box:
        return _torch_of(np.asarray(tensor))
    elements = _torch_of(tensor.elements())
    try:
        sizes = tensor.shape.cell_extents()
    except JaggedModeError as error:
        raise ConversionError(
            f"nested tensors of PyTorch have one level of rows: {error}; flatten() drops one"
        ) from error
    inner = sizes[0, 1:] if len(sizes) else sizes.sum(axis=0)[1:]
    if (sizes[:, 1:] == inner).all():
        rows = elements.reshape(int(sizes[:, 0].sum()), *inner.tolist())
        return torch.nested.nested_tensor_from_jagged(rows, torch.from_numpy(splits_of(sizes[:, 0]).copy()))
    starts = splits_of(sizes.prod(axis=1)).tolist()
    # PyTorch creates such a tensor only from a list of tensors.
    cells = [
        elements[first:last].reshape(size)
        for first, last, size in zip(starts, starts[1:], sizes.tolist(), strict=False)
    ]
    try:
        return torch.nested.as_nested_tensor(cells, layout=torch.strided)
    except RuntimeError as error:
        raise ConversionError(
            f"PyTorch makes no nested tensor of {tensor.dtype} with cells of many sizes: astype() of another "
            "type has one"
        ) from error


def _torch_of(array: Array) -> "torch.Tensor":
    """Return a tensor over an array, or a copy if PyTorch does not support the memory layout."""
    import torch  # noqa: PLC0415 - heavy, and not needed for the rest

    name = array.dtype.name
    found = native(array)
    if not found.flags.writeable or any(step < 0 for step in found.strides):
        found = copy_elements(found)
    if name in _ADDED:
        return torch.from_numpy(found.view(f"i{found.itemsize}")).view(getattr(torch, name))
    try:
        return torch.from_numpy(found)
    except TypeError as error:
        raise DTypeError(f"PyTorch has no elements of type {array.dtype}") from error


def from_torch(given: "torch.Tensor", *, copy: bool | None = None) -> Tensor[Any]:
    """Return a PyTorch tensor as a `Tensor`, over the same memory if contiguous.

    Parameters
    ----------
    given
        On the CPU, of any strides, nested (both layouts) or sparse (any layout), with elements that NumPy or
        ml_dtypes knows.
    copy
        Whether elements are copied: where they must be (None), always, or never.

    Raises
    ------
    ConversionError
        If it is on another device, or has a gradient or a pending conjugation; if elements must be copied
        and `copy` is False.
    DTypeError
        If the elements are quantised, or their dtype requires ml_dtypes, which is not installed.
    """
    import torch  # noqa: PLC0415 - heavy, and not needed for the rest

    if not isinstance(cast("object", given), torch.Tensor):
        raise ConversionError(
            f"{with_article(type(given).__name__)} is not a tensor of PyTorch: torch.tensor() makes a tensor"
        )
    if given.device.type != "cpu":
        raise ConversionError(f"a tensor on the device {given.device} has no memory here: cpu() brings it")
    if given.requires_grad:
        raise ConversionError("a tensor that needs a gradient would lose it: detach() first")
    if given.is_nested:
        found = _from_nested(given)
    elif given.layout is torch.strided:
        found = as_tensor(_array_of(given))
    elif copy is False:
        raise ConversionError("sparse tensors of PyTorch are copied; copy=False cannot be kept")
    else:
        try:
            coo = given.to_sparse_coo().coalesce()
        except RuntimeError as error:
            raise ConversionError(
                f"a tensor of PyTorch of layout {given.layout} is not read: to_dense() has all elements"
            ) from error
        if coo.dense_dim():
            raise ConversionError(
                f"{coo.dense_dim()} modes of this sparse tensor of PyTorch are dense: to_dense().to_sparse() "
                "has elements alone"
            )
        extents = cast("tuple[int, ...]", coo.shape)
        found = sparse(_array_of(coo.indices()).T, _array_of(coo.values()), Shape.smooth(extents))
    return found.copy() if copy else found


def _from_nested(given: "torch.Tensor") -> Tensor[Any]:
    import torch  # noqa: PLC0415 - heavy, and not needed for the rest

    if given.layout is not torch.jagged:
        # Cells of any extents, concatenated.
        packed = given.contiguous()
        if not given.size(0):
            raise ConversionError("a nested tensor of PyTorch without cells does not tell their rank")
        sizes = _array_of(packed._nested_tensor_size())
        return from_buffer(_array_of(packed.values()), Shape.from_cells((len(sizes),), sizes))
    # The varying extent is a symbolic integer of PyTorch.
    extents = tuple([extent if type(extent) is int else None for extent in given.shape])
    ragged = extents.index(None)
    if ragged != 1:
        turned = _from_nested(given.transpose(1, ragged))
        modes = list(range(turned.rank))
        modes[1], modes[ragged] = modes[ragged], modes[1]
        return turned.permute(modes)
    values, lengths = _array_of(given.values()), given.lengths()
    offsets = _array_of(given.offsets()).astype(np.int64)
    if lengths is None:
        counts = np.diff(offsets)
        elements = values[offsets[0] : offsets[-1]]
    else:
        # Rows with gaps, as `torch.nested.narrow` creates them.
        counts = _array_of(lengths).astype(np.int64)
        elements = values[concatenated_ranges(offsets[:-1], counts)]
    return from_buffer(elements.reshape(-1), Shape.from_torch_jagged(splits_of(counts), extents))


def _array_of(given: "torch.Tensor") -> Array:
    """Return an array over the memory of a strided tensor."""
    import torch  # noqa: PLC0415 - heavy, and not needed for the rest

    name = str(given.dtype).removeprefix("torch.")
    if name in _ADDED:
        try:
            import ml_dtypes  # noqa: PLC0415 - needed for these types alone
        except ModuleNotFoundError as error:
            raise DTypeError(f"elements of type {name} take ml_dtypes, which is not installed") from error
        whole = torch.int16 if name == "bfloat16" else torch.int8
        return given.view(whole).numpy().view(getattr(ml_dtypes, name))
    try:
        return given.numpy()
    except TypeError as error:
        raise DTypeError(f"NumPy has no elements of type {name}: {error}") from error
    except RuntimeError as error:
        raise ConversionError(f"a tensor of PyTorch gives no array: {error}") from error
