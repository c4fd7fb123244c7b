"""Convert to and from Awkward Arrays: lists are jagged modes, and elements are not copied."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, final

import numpy as np

from tensorwrapper._arguments import check_null_rows
from tensorwrapper._arrays import frozen_values, numpy_kind
from tensorwrapper._error_text import shortened, with_article
from tensorwrapper.buffer import StringData
from tensorwrapper.buffer.lowlevel import check_offsets, holds_strings
from tensorwrapper.errors import ConversionError, DTypeError, ExtentError, TensorWrapperError
from tensorwrapper.interop._operand import Marks, TensorLike, dense_of, elements_of, native
from tensorwrapper.shape import ArrowList, Shape
from tensorwrapper.tensor import Tensor, from_buffer, strings
from tensorwrapper.tensor.lowlevel import buffer_beside_valid, tensor_from_arrow
from tensorwrapper.typing import Array, IntArray, NullRows, StringKind

if TYPE_CHECKING:
    import awkward as ak

_STRINGS: Final = ("string", "bytestring")
_Found: TypeAlias = tuple[list[Array | int], Array, list[int]]


def to_awkward(value: TensorLike) -> "ak.Array":
    """Return the tensor as an Awkward Array; O(rows), without copying elements.

    Modes of one extent are regular, others lists of any length. Elements in another order than the
    row-major one are copied, as are values under nulls, which become zero. Nulls are options; strings take
    pyarrow. ``shape.losses("awkward")`` lists the losses: origins, names, layers and tiles.

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

        # Build lists as for numbers, because Awkward Array loses the number of Arrow's lists of size 0.
        strings = ak.to_layout(ak.from_arrow(pa.array(tensor.to_string_data())))
        lists = _lists_over(tensor, np.zeros(tensor.size, np.int8))
        return ak.Array(_with_leaf(ak.to_layout(lists), strings))
    if numpy_kind(tensor.dtype) == "V":
        raise DTypeError(
            f"Awkward Array has no elements of type {tensor.dtype}: astype(np.float32) holds them"
        )
    elements, valid = elements_of(tensor)
    elements = native(elements)
    if valid is None:
        return _lists_over(tensor, elements)
    leaf = ak.contents.NumpyArray(elements)
    options = ak.contents.ByteMaskedArray(ak.index.Index8(valid.view(np.int8)), leaf, valid_when=True)
    return ak.Array(_with_leaf(ak.to_layout(_lists_over(tensor, elements)), options))


def _lists_over(tensor: Tensor[Any], elements: Array) -> "ak.Array":
    """Return elements nested in lists by the shape of a tensor."""
    import awkward as ak  # noqa: PLC0415

    form, length, buffers = tensor.shape.awkward_buffers(str(elements.dtype))
    parts: dict[str, Array] = {**buffers, f"node{tensor.rank - 1}-data": elements}
    return ak.from_buffers(form, length, parts)


def from_awkward(
    array: "ak.Array", *, copy: bool | None = None, null_rows: NullRows = "refuse"
) -> Tensor[Any]:
    """Return an array of Awkward Array as a read-only tensor over the same memory; O(lists).

    Options of any kind are nulls, for which elements are copied; options without missing ones are read as
    their content.

    Parameters
    ----------
    array
        Numbers, truth values, times or strings, in lists of any depth. Lists that a slice or a gather left
        in another order than that of their elements are packed, which copies these. While the tensor
        exists, the memory of the offsets must not be changed.
    copy
        Whether elements are copied: where they must be (None), always (the tensor can be written to then),
        or never.
    null_rows
        Whether missing lists raise or become empty rows.

    Raises
    ------
    ConversionError
        If a list is missing; if there are records or unions, which are several tensors; if elements must be
        copied and `copy` is False.
    DTypeError
        If tensors have no such elements, or all elements are missing and have no type.

    Examples
    --------
    >>> import awkward as ak
    >>> import tensorwrapper as tw
    >>> tw.from_awkward(ak.Array([[1, 2], [], [3]])).shape
    Shape.jagged([2, 0, 1])
    >>> tw.from_awkward(ak.Array([[1, None], []])).tolist()
    [[1, None], []]
    """
    import awkward as ak  # noqa: PLC0415 - heavy, and not needed for the rest

    check_null_rows(null_rows)
    if (
        hasattr(array, "type")
        and hasattr(array, "__arrow_c_array__")
        and not isinstance(cast("object", array), ak.Array)
    ):
        # `ak.to_arrow` returns an Arrow array with an extension type of Awkward Array.
        return tensor_from_arrow(cast("Any", array), copy=copy, null_rows=null_rows)
    if isinstance(array, ak.ArrayBuilder):
        array = array.snapshot()
    layout = _layout_of(array)
    found = _walk(layout)
    options = _Options(null_rows)
    if found is None:
        try:
            layout = options.taken_from(layout)
        except ConversionError:
            # Lists may be missing in rows that a selection left out, which a packed array has no more.
            options = _Options(null_rows)
            layout = options.taken_from(ak.to_layout(ak.to_packed(ak.Array(layout))))
        if copy is False and options.texts is not None:
            raise ConversionError("strings of Awkward Array are copied; copy=False cannot be kept")
        packed = ak.to_layout(ak.to_packed(ak.Array(layout)))
        # Only lists and numbers in order are left.
        found = cast("_Found", _walk(packed))
        if copy is False and not np.may_share_memory(found[1], np.asarray(_leaf_of(layout).data)):
            raise ConversionError(
                "lists that do not follow one another are packed; copy=False cannot be kept"
            )
    levels, elements, inner = found
    texts = options.texts_at(elements)
    elements, valid = options.elements_at(_without_gaps(elements, copy))
    if valid is not None and copy is False:
        raise ConversionError("elements with nulls among them are copied; copy=False cannot be kept")
    count = layout.length
    if any(isinstance(level, np.ndarray) for level in levels):
        shape = _jagged_of(count, [*levels, *inner], copy=bool(copy))
    else:
        shape = Shape.smooth([count, *cast("list[int]", levels), *inner])
    if texts is not None:
        return strings(texts, shape=shape)
    tensor = from_buffer(buffer_beside_valid(frozen_values(elements), valid), shape)
    return tensor.copy() if copy else tensor


def _without_gaps(elements: Array, copy: bool | None) -> Array:  # noqa: FBT001
    """Return contiguous elements; a field of structures is not contiguous."""
    if copy is False and not elements.flags.c_contiguous:
        raise ConversionError("elements with gaps between them are copied; copy=False cannot be kept")
    return np.ascontiguousarray(elements)


def _walk(layout: "ak.contents.Content") -> "_Found | None":
    """Return the lists of each level, the elements, and their extents; None if lists are out of order.

    Copies only offsets that are not 64-bit or do not start at 0.
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
    """Return the shape of `count` lists; without `copy` their offsets must not be changed."""
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


@final
class _Options:
    """Removal of options from a layout: missing lists raise or become empty, missing elements are recorded.

    If some elements are missing, or they are strings, the layout has element positions instead, with -1 for
    missing ones. Selections then select positions.
    """

    __slots__ = ("elements", "null_rows", "texts")

    def __init__(self, null_rows: NullRows) -> None:
        self.null_rows = null_rows
        self.elements: Array | None = None
        self.texts: tuple[IntArray, IntArray, Array, StringKind] | None = None

    def texts_at(self, places: Array) -> StringData | None:
        """Return the strings at positions in a layout, in new memory; None of numbers."""
        if self.texts is None:
            return None
        starts, stops, data, kind = self.texts
        there = cast("IntArray", places) >= 0
        # A missing string has no bytes.
        low, high = (np.append(own, 0)[places] for own in (starts, stops))
        valid = None if there.all() else np.packbits(there, bitorder="little")
        return StringData.from_ranges(low, high, data, kind, validity=valid).pack()

    def elements_at(self, found: Array) -> tuple[Array, Marks | None]:
        """Return the elements at the positions in a layout, and their validity; None without options."""
        if self.elements is None:
            return found, None
        places: IntArray = found.astype(np.int64, copy=False)
        valid: Marks = places >= 0
        elements = np.zeros(len(found), self.elements.dtype)
        elements[valid] = self.elements[places[valid]]
        return elements, valid

    def taken_from(self, layout: "ak.contents.Content") -> "ak.contents.Content":
        """Return a layout with only lists and numbers, or raise."""
        import awkward as ak  # noqa: PLC0415 - heavy, and not needed for the rest

        try:
            return ak.to_layout(ak.transform(self._take, layout))
        except TensorWrapperError as error:
            # Awkward Array adds a note on its own call, which the caller did not make.
            error.__dict__.pop("__notes__", None)
            raise

    def _take(self, node: "ak.contents.Content", **_options: object) -> "ak.contents.Content | None":
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
            return self._texts(node, np.arange(node.length))
        if node.is_unknown:
            # The type of missing elements is unknown; NumPy uses float64 for an empty list.
            return node.to_NumpyArray(np.dtype(np.float64))
        if not (node.is_option or node.is_indexed):
            return None
        if not node.is_option:
            return self.taken_from(node.project())
        valid: Marks = np.asarray(node.mask_as_bool(valid_when=True))[: node.length]
        if valid.all():
            return self.taken_from(node.project())
        inner = node.to_IndexedOptionArray64()
        places: IntArray = np.asarray(inner.index)
        content = inner.content.project() if inner.content.is_indexed else inner.content
        if content.parameter("__array__") in _STRINGS:
            return self._texts(content, places)
        if content.purelist_depth > 1:
            return self.taken_from(self._rows(content, places))
        return self._numbers(content, places)

    def _rows(self, content: "ak.contents.Content", places: IntArray) -> "ak.contents.Content":
        """Return the lists at these positions, with empty lists for missing ones."""
        import awkward as ak  # noqa: PLC0415 - as above

        nulls = int(np.count_nonzero(places < 0))
        if self.null_rows == "refuse":
            raise ConversionError(
                f"{nulls} of {len(places)} lists are missing: null_rows='empty' makes empty rows of them, "
                "ak.drop_none drops them"
            )
        lists, starts, stops = _ends_of(content)
        # An empty list follows the last list.
        starts, stops = np.append(starts, 0), np.append(stops, 0)
        own, ends = ak.index.Index64(starts[places]), ak.index.Index64(stops[places])
        return ak.contents.ListArray(own, ends, lists.content)

    def _texts(self, content: "ak.contents.Content", places: IntArray) -> "ak.contents.Content":
        """Return the positions, and store where the strings lie."""
        import awkward as ak  # noqa: PLC0415 - as above

        lists, starts, stops = _ends_of(content)
        kind: StringKind = "utf8" if content.parameter("__array__") == "string" else "binary"
        self.texts = starts, stops, np.asarray(lists.content.data), kind
        return ak.contents.NumpyArray(places)

    def _numbers(self, content: "ak.contents.Content", places: IntArray) -> "ak.contents.Content":
        """Return the positions, and store the elements."""
        import awkward as ak  # noqa: PLC0415 - as above

        if content.is_unknown:
            raise DTypeError(
                "missing elements alone have no type: `tw.nullable(np.zeros(2), [False, False])` has some"
            )
        self.elements = np.asarray(content.data)
        return ak.contents.NumpyArray(places)


def _ends_of(content: "ak.contents.Content") -> "tuple[ak.contents.Content, IntArray, IntArray]":
    """Return lists, and where each of them begins and ends in their content."""
    lists = content.to_RegularArray() if hasattr(content, "data") else content
    if lists.is_regular:
        ends = np.arange(lists.length + 1) * lists.size
        return lists, ends[:-1], ends[1:]
    if hasattr(lists, "offsets"):
        offsets = np.asarray(lists.offsets)
        return lists, offsets[:-1], offsets[1:]
    stops = np.asarray(lists.stops)
    return lists, np.asarray(lists.starts)[: len(stops)], stops


def _layout_of(array: "ak.Array") -> "ak.contents.Content":
    import awkward as ak  # noqa: PLC0415

    if isinstance(cast("object", array), str | bytes):
        raise ConversionError(
            f"{with_article(type(array).__name__)} is not an array of Awkward Array: strings() takes text"
        )
    try:
        made = ak.to_layout(array)
    except (TypeError, ValueError) as error:
        raise ConversionError(
            f"{with_article(type(array).__name__)} is not an array of Awkward Array: {shortened(str(error))}"
        ) from error
    if not isinstance(cast("object", made), ak.contents.Content):
        raise ConversionError(
            f"a record of Awkward Array is one tensor for each field ({', '.join(made.fields)}): take "
            "record['field']"
        )
    return made


def _with_leaf(layout: "ak.contents.Content", leaf: "ak.contents.Content") -> "ak.contents.Content":
    """Return the lists with other elements."""
    if not hasattr(layout, "content"):
        return leaf
    return layout.copy(content=_with_leaf(layout.content, leaf))


def _leaf_of(layout: "ak.contents.Content") -> "ak.contents.Content":
    while hasattr(layout, "content"):
        layout = layout.content
    return layout
