"""Arrays of Awkward Array, both ways: lists are jagged modes, and elements stay in their memory."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from tensorwrapper._arrays import frozen_values
from tensorwrapper._wording import shortened
from tensorwrapper.buffer.lowlevel import check_offsets, holds_strings
from tensorwrapper.errors import ConversionError, DTypeError, ExtentError
from tensorwrapper.interop._operand import TensorLike, dense_of, native
from tensorwrapper.shape import ArrowList, Shape
from tensorwrapper.tensor import Tensor, as_tensor, from_buffer
from tensorwrapper.tensor.lowlevel import tensor_from_arrow
from tensorwrapper.typing import Array, IntArray

if TYPE_CHECKING:
    import awkward as ak

__all__ = ["from_awkward", "to_awkward"]

_STRINGS: Final = ("string", "bytestring")
_Found: TypeAlias = tuple[list[Array | int], Array, list[int]]


def to_awkward(value: TensorLike) -> "ak.Array":
    """Return the tensor as an array of Awkward Array; O(rows), and no element is copied.

    Modes of one extent are regular, others lists of any length. Elements are copied if they do not lie in
    row-major order. Strings keep their nulls, as options, and take pyarrow. Origins, names, layers and tiles
    are not said: ``shape.losses("awkward")`` lists what is left out.

    Raises
    ------
    ConversionError
        If the tensor is sparse (``to_dense()`` has all its elements) or of rank 0.
    DTypeError
        If Awkward Array has no such elements: those of ml_dtypes.
    ModuleNotFoundError
        If awkward is not installed; for strings also if pyarrow is not.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> tw.jagged([[1, 2, 3], [], [5, 6]]).to_awkward().to_list()
    [[1, 2, 3], [], [5, 6]]
    """
    import awkward as ak  # noqa: PLC0415 - heavy, and not needed for the rest

    tensor = dense_of(value, "Awkward Array")
    if not tensor.rank:
        raise ConversionError(
            "an array of Awkward Array has a mode, and this tensor none: item() is its element"
        )
    if holds_strings(tensor.dtype):
        import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy

        # Lists are made as those of numbers are: Awkward Array loses the number of Arrow's lists of size 0.
        strings = ak.to_layout(ak.from_arrow(pa.array(tensor.to_string_data())))
        lists = _lists_over(tensor, np.zeros(tensor.size, np.int8))
        return ak.Array(_with_leaf(ak.to_layout(lists), strings))
    if tensor.dtype.kind == "V":
        raise DTypeError(
            f"Awkward Array has no elements of type {tensor.dtype}: astype(np.float32) holds them"
        )
    return _lists_over(tensor, native(tensor.elements()))


def _lists_over(tensor: Tensor[Any], elements: Array) -> "ak.Array":
    """Return elements in the lists that a tensor's shape makes of them."""
    import awkward as ak  # noqa: PLC0415

    form, length, buffers = tensor.shape.awkward_buffers(str(elements.dtype))
    parts: dict[str, Array] = {**buffers, f"node{tensor.rank - 1}-data": elements}
    return ak.from_buffers(form, length, parts)


def from_awkward(array: "ak.Array", *, copy: bool | None = None) -> Tensor[Any]:
    """Return an array of Awkward Array as a read-only tensor over the same memory; O(lists).

    Parameters
    ----------
    array
        Numbers, truth values, times or strings, in lists of any depth. Lists that a slice or a gather left
        in another order than that of their elements are packed, which copies these. As long as the tensor
        lives, nobody may write to memory that the offsets were made of.
    copy
        Whether elements are copied: where they must be (None), always (the tensor can be written to then),
        or never.

    Raises
    ------
    ConversionError
        If there are nulls, except among strings; if there are records or unions, which are several tensors;
        if elements must be copied and `copy` is False.
    DTypeError
        If tensors have no such elements.

    Examples
    --------
    >>> import awkward as ak
    >>> import tensorwrapper as tw
    >>> tw.from_awkward(ak.Array([[1, 2], [], [3]])).shape
    Shape.jagged([2, 0, 1])
    """
    import awkward as ak  # noqa: PLC0415 - heavy, and not needed for the rest

    if (
        hasattr(array, "type")
        and hasattr(array, "__arrow_c_array__")
        and not isinstance(cast("object", array), ak.Array)
    ):
        # What `ak.to_arrow` gives is an array of Arrow, of a class of Awkward Array.
        return tensor_from_arrow(cast("Any", array), copy=copy)
    if isinstance(array, ak.ArrayBuilder):
        array = array.snapshot()
    if isinstance(array, ak.Record):
        raise ConversionError(
            f"a record of Awkward Array is one tensor for each field ({', '.join(array.fields)}): take "
            "record['field']"
        )
    layout = _layout_of(array)
    found = _walk(layout)
    if found is None:
        given, layout = layout, _without_options(layout)
        if _leaf_of(layout).parameter("__array__") in _STRINGS:
            if copy is False:
                raise ConversionError("strings of Awkward Array are copied; copy=False cannot be kept")
            return as_tensor(ak.to_arrow(ak.Array(given), extensionarray=False, list_to32=False), copy=copy)
        packed = ak.to_layout(ak.to_packed(ak.Array(layout)))
        # Nothing but lists and numbers, in order, is left.
        found = cast("_Found", _walk(packed))
        if copy is False and not np.may_share_memory(found[1], np.asarray(_leaf_of(layout).data)):
            raise ConversionError(
                "lists that do not follow one another are packed; copy=False cannot be kept"
            )
    levels, elements, inner = found
    elements = _without_gaps(elements, copy)
    count = layout.length
    if any(isinstance(level, np.ndarray) for level in levels):
        shape = _jagged_of(count, [*levels, *inner], copy=bool(copy))
    else:
        shape = Shape.smooth([count, *cast("list[int]", levels), *inner])
    tensor = from_buffer(frozen_values(elements), shape)
    return tensor.copy() if copy else tensor


def _without_gaps(elements: Array, copy: bool | None) -> Array:  # noqa: FBT001
    """Return elements that follow one another: those of a field of structures do not."""
    if copy is False and not elements.flags.c_contiguous:
        raise ConversionError("elements with gaps between them are copied; copy=False cannot be kept")
    return np.ascontiguousarray(elements)


def _walk(layout: "ak.contents.Content") -> "_Found | None":
    """Return the lists of each level, the elements, and the extents of each; None if not all are in order.

    Nothing is copied but offsets that are not of 64 bits or do not start at 0.
    """
    levels: list[Array | int] = []
    first, count = 0, layout.length
    while not hasattr(layout, "data"):
        if layout.parameter("__array__") is not None:
            return None
        if layout.is_regular:
            levels.append(layout.size)
            first, count = first * layout.size, count * layout.size
        elif layout.is_list and hasattr(layout, "offsets"):
            given: Array = np.asarray(layout.offsets)[first : first + count + 1]
            if len(given) != count + 1:
                return None
            offsets: IntArray = given.astype(np.int64, copy=False)
            check_offsets(offsets, layout.content.length, error=ExtentError, what="elements")
            first, last = int(offsets[0]), int(offsets[-1])
            levels.append(offsets - first if first else offsets)
            count = last - first
        else:
            return None
        layout = layout.content
    if layout.parameter("__array__") is not None:
        return None
    data: Array = np.asarray(layout.data)
    part = data[first : first + count]
    return (levels, part.reshape(-1), list(data.shape[1:])) if len(part) == count else None


def _jagged_of(count: int, levels: list[Array | int], *, copy: bool) -> Shape[Any]:
    """Return the shape of `count` lists; without `copy` nobody may write to their offsets."""
    offsets = [level for level in levels if isinstance(level, np.ndarray)]
    if len(offsets) == len(levels):
        return Shape.from_offsets(*offsets, validate=False, copy=copy)
    lists = [
        ArrowList("fixed_size_list", list_size=level)
        if isinstance(level, int)
        else ArrowList("large_list", level)
        for level in levels
    ]
    return Shape.from_arrow(lists, count)


def _without_options(layout: "ak.contents.Content") -> "ak.contents.Content":
    """Return lists and numbers, once it is known that there is no null and nothing else among them."""
    import awkward as ak  # noqa: PLC0415 - heavy, and not needed for the rest

    def check(node: "ak.contents.Content", **_options: object) -> "ak.contents.Content | None":
        if node.is_record:
            raise ConversionError(
                f"records of Awkward Array are one tensor for each field ({', '.join(node.fields)}): take "
                "array['field']"
            )
        if node.is_union:
            raise ConversionError(
                "a union of Awkward Array has elements of several types, and a tensor of one"
            )
        if node.parameter("__array__") in _STRINGS:
            return node
        if node.is_unknown:
            # Nobody said what is not there; NumPy says float64 of an empty list.
            return node.to_NumpyArray(np.dtype(np.float64))
        if not (node.is_option or node.is_indexed):
            return None
        if node.is_option and node.content.parameter("__array__") in _STRINGS:
            return node.content
        missing = int(np.count_nonzero(node.mask_as_bool(valid_when=False))) if node.is_option else 0
        if missing:
            raise ConversionError(
                f"{missing} of {node.length} elements or lists are missing, which only strings can be: "
                "ak.fill_none or ak.drop_none first"
            )
        return _without_options(node.project())

    return ak.to_layout(ak.transform(check, layout))


def _layout_of(array: "ak.Array") -> "ak.contents.Content":
    import awkward as ak  # noqa: PLC0415

    if isinstance(cast("object", array), str | bytes):
        raise ConversionError(f"a {type(array).__name__} is no array of Awkward Array: strings() takes text")
    try:
        return ak.to_layout(array)
    except (TypeError, ValueError) as error:
        raise ConversionError(
            f"a {type(array).__name__} is no array of Awkward Array: {shortened(str(error))}"
        ) from error


def _with_leaf(layout: "ak.contents.Content", leaf: "ak.contents.Content") -> "ak.contents.Content":
    """Return the lists over other elements."""
    if not hasattr(layout, "content"):
        return leaf
    return layout.copy(content=_with_leaf(layout.content, leaf))


def _leaf_of(layout: "ak.contents.Content") -> "ak.contents.Content":
    while layout.parameter("__array__") not in _STRINGS and hasattr(layout, "content"):
        layout = layout.content
    return layout
