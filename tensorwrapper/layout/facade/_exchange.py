"""Conversion of layouts to and from the formats of other systems.

Each export is a value that lists the properties that the format lacks; if it would describe another layout,
an error is raised. These methods do not access memory: they read untrusted descriptions of it.
"""

from abc import ABC
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Self, SupportsIndex, assert_never

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import to_count
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._strided import Strided, row_major
from tensorwrapper.layout.facade._layout_base import LayoutBase
from tensorwrapper.shape import ShapeLike
from tensorwrapper.shape.lowlevel import unnamed_shape
from tensorwrapper.typing import Index, IndexT_co

if TYPE_CHECKING:
    from tensorwrapper.layout.interchange._array_interface import ArrayInterface
    from tensorwrapper.layout.interchange._dlpack import DLTensor
    from tensorwrapper.layout.interchange._losses import ExchangeFormat
    from tensorwrapper.layout.interchange._mdspan import MdspanKind, MdspanMapping
    from tensorwrapper.layout.interchange._memory import MemoryLayout
    from tensorwrapper.layout.interchange._pep3118 import BufferInfo
    from tensorwrapper.layout.interchange._storage_order import HalideBuffer, StorageOrder
    from tensorwrapper.layout.interchange._tensorstore import IndexTransform
    from tensorwrapper.shape import LossReport


class LayoutExchange(LayoutBase[IndexT_co], ABC, Generic[IndexT_co]):
    """Abstract: as `LayoutBase`."""

    __slots__ = ()

    def losses(self, form: "ExchangeFormat") -> "LossReport":
        """Return the properties of this layout that a format omits or cannot store, without raising an error.

        Parameters
        ----------
        form
            "array_interface", "buffer", "dlpack", "mdspan", "storage_order" (Boost, TENS), "halide",
            "tensorstore", "cute" (the text of `str`) or "array_api" (which has a shape and no strides).

        Raises
        ------
        SizeOverflowError
            If a number does not fit the format.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> row = Layout(Shape(2, 3))
        >>> row.losses("mdspan").is_exact, row.reverse(0).losses("mdspan").refused
        (True, ('negative_strides',))
        >>> print(row.reverse(0).losses("mdspan"))
        mdspan cannot say: negative_strides (a mode goes down in memory)
        """
        return _losses(form, self.implementation)

    def to_array_interface(
        self, dtype: npt.DTypeLike, *, nbytes: SupportsIndex | None = None
    ) -> "ArrayInterface":
        """Return the layout as fields of ``__array_interface__``, version 3; strides in bytes.

        Parameters
        ----------
        dtype
            The element type.
        nbytes
            The size of the memory, which must contain the layout; not checked if None.

        Raises
        ------
        LayoutError
            If the layout is not strided.
        BufferSizeError
            If it leaves the memory.
        SizeOverflowError
            If a number of bytes does not fit into 64 bits.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> fields = Layout(Shape(2, 3)).permute((1, 0)).to_array_interface("<f8", nbytes=48)
        >>> fields.shape, fields.typestr, fields.strides, fields.offset, fields.lost.is_exact
        ((3, 2), '<f8', (8, 24), 0, True)
        """
        from tensorwrapper.layout.interchange._array_interface import array_interface_of  # noqa: PLC0415
        from tensorwrapper.layout.interchange._memory import to_dtype  # noqa: PLC0415

        return array_interface_of(self.implementation, to_dtype(dtype), _size(nbytes))

    @classmethod
    def from_array_interface(
        cls,
        source: object,
        *,
        within: tuple[SupportsIndex, SupportsIndex] | None = None,
    ) -> "MemoryLayout[Self]":
        """Return the layout of an array interface, without reading memory.

        Parameters
        ----------
        source
            An object with ``__array_interface__``, or the mapping of its fields. Its data is an address or a
            buffer.
        within
            The address and the number of the allowed bytes; any if None. A buffer has its own limits.

        Raises
        ------
        ConversionError
            If a field is missing or of the wrong type, or there is a mask.
        LayoutError
            If a stride in bytes is not a multiple of the element size.
        BufferSizeError
            If an element is outside of the buffer, or of `within`.
        SizeOverflowError
            If strides and extents exceed 64 bits.

        Examples
        --------
        >>> from tensorwrapper import Layout
        >>> fields = {"shape": (3,), "typestr": "<i2", "strides": (-4,), "data": bytes(12), "offset": 9}
        >>> found = Layout.from_array_interface(fields)
        >>> found.layout, found.byte_offset
        (Layout(Shape(3), strides=(-2,), offset=4), 1)
        """
        from tensorwrapper.layout.interchange._array_interface import read_array_interface  # noqa: PLC0415
        from tensorwrapper.layout.interchange._memory import to_range  # noqa: PLC0415

        return cls._with_layout(read_array_interface(source, to_range(within)))

    def to_buffer_info(self, dtype: npt.DTypeLike, *, nbytes: SupportsIndex | None = None) -> "BufferInfo":
        """Return the layout as fields of a buffer (PEP 3118); strides in bytes.

        Parameters and errors are those of `to_array_interface`, and datetimes have no format.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> info = Layout(Shape(4)).reverse().to_buffer_info("<u2")
        >>> info.format, info.itemsize, info.shape, info.strides, info.offset
        ('H', 2, (4,), (-2,), 6)
        """
        from tensorwrapper.layout.interchange._memory import to_dtype  # noqa: PLC0415
        from tensorwrapper.layout.interchange._pep3118 import buffer_info_of  # noqa: PLC0415

        return buffer_info_of(self.implementation, to_dtype(dtype), _size(nbytes))

    @classmethod
    def from_memoryview(cls, view: memoryview) -> "MemoryLayout[Self]":
        """Return the layout of a memoryview, without reading its elements.

        Raises
        ------
        ConversionError
            If it is not a memoryview, or has pointers (suboffsets).
        DTypeError
            If its elements are not single numbers or texts.
        LayoutError
            If a stride is not a multiple of the element size.

        Examples
        --------
        >>> from tensorwrapper import Layout
        >>> found = Layout.from_memoryview(memoryview(bytes(6))[4::-2])
        >>> found.layout, found.byte_offset, found.is_readonly
        (Layout(Shape(3), strides=(-2,), offset=4), -4, True)
        """
        from tensorwrapper.layout.interchange._pep3118 import read_memoryview  # noqa: PLC0415

        return cls._with_layout(read_memoryview(view))

    def to_dltensor(self, dtype: npt.DTypeLike, *, nbytes: SupportsIndex | None = None) -> "DLTensor":
        """Return the layout as fields of a ``DLTensor``; strides in elements.

        Parameters and errors are those of `to_array_interface`; DLPack has bools, integers, floats and
        complex numbers, in the byte order of the machine.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> fields = Layout(Shape(4, 6))[1:, ::2].to_dltensor("f4", nbytes=96)
        >>> fields.shape, fields.strides, fields.byte_offset, (fields.code, fields.bits, fields.lanes)
        ((3, 3), (6, 2), 24, (2, 32, 1))
        """
        from tensorwrapper.layout.interchange._dlpack import dltensor_of  # noqa: PLC0415
        from tensorwrapper.layout.interchange._memory import to_dtype  # noqa: PLC0415

        return dltensor_of(self.implementation, to_dtype(dtype), _size(nbytes))

    @classmethod
    def from_dlpack(cls, source: object) -> "MemoryLayout[Self]":
        """Return the layout of a DLPack capsule, without consuming it or reading memory.

        Parameters
        ----------
        source
            A capsule of either kind, or an object with ``__dlpack__``.

        Raises
        ------
        ConversionError
            If it is not a capsule, or has an unknown version.
        DTypeError
            If elements do not fill whole bytes, are vectors, or have a type that NumPy lacks.

        Examples
        --------
        >>> import numpy as np
        >>> from tensorwrapper import Layout
        >>> found = Layout.from_dlpack(np.zeros((4, 6), dtype=np.float32)[::2].T)
        >>> found.layout.strides, found.dtype, found.device, found.is_readonly
        ((1, 12), dtype('float32'), (1, 0), False)
        """
        from tensorwrapper.layout.interchange._dlpack import read_dlpack  # noqa: PLC0415

        return cls._with_layout(read_dlpack(source))

    def to_mdspan(self) -> "MdspanMapping":
        """Return the layout as a mapping of C++'s ``std::mdspan``, the narrowest kind that it is.

        Raises
        ------
        LayoutError
            If a mode repeats or goes down, or steps less far than the stride of a finer one times its
            extent: C++ forbids it. Say ``reverse(mode)`` first where a mode goes down.
        SizeOverflowError
            If it needs more places than 64 bits can count.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> [part.to_mdspan().kind for part in (Layout(Shape(4, 6)), Layout(Shape(4, 6))[:, :5])]
        ['right', 'right_padded']
        >>> Layout(Shape(4, 6))[1:, ::2].to_mdspan().offset
        6
        """
        from tensorwrapper.layout.interchange._mdspan import mdspan_of  # noqa: PLC0415

        return mdspan_of(self.implementation)

    @classmethod
    def from_mdspan(
        cls,
        extents: Iterable[SupportsIndex],
        kind: "MdspanKind" = "right",
        *,
        strides: Iterable[SupportsIndex] | None = None,
        padding: SupportsIndex | None = None,
        offset: SupportsIndex = 0,
    ) -> Self:
        """Return the layout of a mapping of C++'s ``std::mdspan``.

        Parameters
        ----------
        extents
            One per mode.
        kind
            The kind of the mapping.
        strides
            For the kind "stride".
        padding
            For the padded kinds: the stride of the second-fastest mode is a multiple of this.
        offset
            The offset of the first element.

        Raises
        ------
        LayoutError
            If strides or padding do not fit the kind, or break the rules of C++.

        Examples
        --------
        >>> from tensorwrapper import Layout
        >>> Layout.from_mdspan((3, 5), "left_padded", padding=4)
        Layout(Shape(3, 5), strides=(1, 4), offset=0)
        """
        from tensorwrapper.layout.interchange._mdspan import from_mdspan  # noqa: PLC0415

        return cls._wrap(from_mdspan(extents, kind, strides, padding, offset))

    def storage_order(self) -> "StorageOrder":
        """Return order and direction of the modes, as Boost.MultiArray and TENS say a layout without gaps.

        ``Layout(shape, order=..., ascend=...)`` is the way back.

        Raises
        ------
        LayoutError
            If a mode repeats, or there are gaps between the elements.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> found = Layout(Shape(2, 3, 4)).permute((1, 0, 2)).reverse(2).storage_order()
        >>> found.order, found.ascend, found.origin_offset, found.lost.is_exact
        ((2, 0, 1), (True, True, False), 3, True)
        """
        from tensorwrapper.layout.interchange._storage_order import storage_order_of  # noqa: PLC0415

        return storage_order_of(self.implementation)

    def to_halide(self) -> "HalideBuffer":
        """Return the layout as the dimensions of a Halide buffer, the last mode first; origins are kept.

        Raises
        ------
        LayoutError
            If the layout is not strided.
        SizeOverflowError
            If a number does not fit into Halide's 32 bits.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(2, 3, origin=(5, 0))).to_halide().dims
        ((0, 3, 1), (5, 2, 3))
        """
        from tensorwrapper.layout.interchange._storage_order import halide_of  # noqa: PLC0415

        return halide_of(self.implementation)

    @classmethod
    def from_halide(cls, dims: Sequence[Sequence[SupportsIndex]], *, offset: SupportsIndex = 0) -> Self:
        """Return the layout of Halide's dimensions, ``(min, extent, stride)`` each, the last of them mode 0.

        Examples
        --------
        >>> from tensorwrapper import Layout
        >>> Layout.from_halide([(0, 3, 1), (5, 2, 3)])
        Layout(Shape(2, 3, origin=(5, 0)), strides=(3, 1), offset=0)
        """
        from tensorwrapper.layout.interchange._storage_order import from_halide  # noqa: PLC0415

        return cls._wrap(from_halide(dims, offset))

    def to_tensorstore(
        self, base: "LayoutExchange[Index] | ShapeLike", *, labels: Iterable[str] | None = None
    ) -> "IndexTransform":
        """Return the index transform from this layout's indices to those of its base.

        A transform selects elements of a base, and has no addresses. Slices, permutations, diagonals and
        gathers of a base all have one. An index of the base that depends on several modes (`sliding_window`)
        is written as an array with all its values.

        Parameters
        ----------
        base
            The layout of the whole, or its shape if it is packed in row-major order from 0 on.
        labels
            Labels for the modes; their names by default.

        Raises
        ------
        LayoutError
            If there is no transform: an index of the base is not a sum over the modes, or the layout is not
            over a box.
        OutOfBoundsError
            If an element does not belong to the base.
        RankError
            If there are more than 32 modes.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> whole = Layout(Shape(4, 6), order="F")
        >>> row, column = whole[2, ::-2].to_tensorstore(whole).output
        >>> row.offset, row.input_dimension, column.offset, column.stride, column.input_dimension
        (2, None, 5, -2, 0)
        """
        from tensorwrapper.layout.interchange._transforms import transform_of  # noqa: PLC0415

        below = base.implementation if isinstance(base, LayoutBase) else row_major(unnamed_shape(base), 0)
        return transform_of(self.implementation, below, labels)

    @classmethod
    def from_tensorstore(
        cls,
        transform: "IndexTransform | str | Mapping[str, object]",
        base: "LayoutExchange[Index] | ShapeLike",
    ) -> Self:
        """Return the layout that has, at each index of a transform, the place of the index that is meant.

        Parameters
        ----------
        transform
            A transform, its JSON, or the object in that. Labels are not kept: `IndexTransform` has them.
        base
            The layout that the transform leads to, or its shape if it is in row-major order from 0 on.

        Raises
        ------
        ParseError
            If the JSON is not that of a transform.
        ConversionError
            If its domain is infinite or implicit.
        OutOfBoundsError
            If it leads out of the base.
        LayoutError
            If index arrays choose single points, which no layout over a box can say.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> text = '{"input_shape":[3],"output":[{"input_dimension":0},{"input_dimension":0,"stride":2}]}'
        >>> Layout.from_tensorstore(text, Shape(4, 6))
        Layout(Shape(3), strides=(8,), offset=0)
        """
        from tensorwrapper.layout.interchange._tensorstore import IndexTransform  # noqa: PLC0415
        from tensorwrapper.layout.interchange._transforms import compose_transform  # noqa: PLC0415

        below = base.implementation if isinstance(base, LayoutBase) else row_major(unnamed_shape(base), 0)
        given = transform if isinstance(transform, IndexTransform) else IndexTransform.from_json(transform)
        return cls._wrap(compose_transform(given, below))

    @classmethod
    def _with_layout(cls, memory: "MemoryLayout[Strided]") -> "MemoryLayout[Self]":
        from tensorwrapper.layout.interchange._memory import with_layout  # noqa: PLC0415

        return with_layout(memory, cls._wrap(memory.layout))


def _size(nbytes: SupportsIndex | None) -> int | None:
    return None if nbytes is None else to_count(nbytes, "a number of bytes")


def _losses(form: "ExchangeFormat", layout: LayoutCommon) -> "LossReport":
    from tensorwrapper.layout.interchange._losses import check_form, loss_report  # noqa: PLC0415
    from tensorwrapper.layout.interchange._mdspan import mdspan_of  # noqa: PLC0415
    from tensorwrapper.layout.interchange._memory import byte_form  # noqa: PLC0415
    from tensorwrapper.layout.interchange._storage_order import halide_of, storage_order_of  # noqa: PLC0415
    from tensorwrapper.layout.interchange._transforms import tensorstore_read  # noqa: PLC0415

    check_form(form)
    report = loss_report(form, layout)
    if report.refused:
        return report
    match form:
        case "array_interface" | "buffer" | "dlpack":
            return byte_form(form, layout, np.dtype(np.int8), None).lost
        case "mdspan":
            return mdspan_of(layout).lost
        case "storage_order":
            return storage_order_of(layout).lost
        case "halide":
            return halide_of(layout).lost
        case "tensorstore":
            return loss_report(form, layout, tensorstore_read(layout))
        case "cute" | "array_api":
            return report
        case _:
            assert_never(form)
