"""Check appended rows: they must match the tensor's kind, shape and dtype."""

from collections.abc import Sequence
from typing import Any, Self, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import unmasked_array
from tensorwrapper._value_class import evolve, frozen
from tensorwrapper.buffer.lowlevel import check_write, holds_strings, is_fill, kind_of
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    JaggedModeError,
    LayerError,
    ModeNameError,
    RankError,
)
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import ModeNames, names_of
from tensorwrapper.tensor import Tensor, as_tensor, from_buffer, jagged, nullable, strings
from tensorwrapper.tensor.lowlevel import TensorCommon, has_null, split_nulls, zero_filled
from tensorwrapper.typing import Extents, Index


def is_box(shape: Shape[Any]) -> bool:
    """Return True if a shape without its layers is a box."""
    return shape.flatten().is_box


def _refuse_blocks(tensor: Tensor[Any], name: str) -> None:
    """Raise for a block-sparse tensor, because appending rows would change its tiling."""
    if tensor.buffer.in_tiles:
        raise ConversionError(
            f"cannot extend {name!r} by a tensor in blocks; append it under another name, or "
            f"extend by its to_dense()"
        )


def _is_empty(given: object) -> bool:
    return isinstance(given, list | tuple) and not given


def _inner_origin(shape: Shape[Any]) -> Index | None:
    """Return the origins of all modes but the first; None if one of them varies."""
    try:
        return cast("Index", shape.as_smooth().origin if is_box(shape) else shape.origin)[1:]
    except JaggedModeError:
        return None


def _check_all_elements(tensor: Tensor[Any], name: str) -> None:
    if tensor.buffer.stores_orbits:
        raise ConversionError(f"cannot extend {name!r} by a symmetric tensor; use `t.to_dense()`")


@final
@frozen(eq=False)
class Pattern:
    """Properties of the rows of a tensor in a file; all of its records share one pattern."""

    name: str
    is_box: bool
    """Kind of the shape without its layers."""
    rank: int
    layers: tuple[int, ...]
    inner: Extents
    """The extents of all modes but the first, for a box."""
    origin: Index | None
    """Origin of all modes but the first; None for rows with different origins."""
    names: ModeNames | None
    dtype: "np.dtype[Any]"
    fill_value: "npt.NDArray[Any] | None" = attrs.field(repr=False)
    has_room: bool
    """True if elements may be null."""

    @classmethod
    def of(cls, tensor: Tensor[Any], name: str) -> Self:
        """Return the pattern of the tensor with this name.

        Raises
        ------
        RankError
            If it has no rows.
        ConversionError
            If it is symmetric; another row would break the symmetry.
        """
        _check_all_elements(tensor, name)
        shape = tensor.shape
        if not shape.rank:
            raise RankError(f"cannot extend the scalar {name!r}, which has no rows; stack([t]) has one row")
        _refuse_blocks(tensor, name)
        flat, box = is_box(shape), shape.as_smooth()
        return cls(
            name,
            flat,
            shape.rank,
            shape.layers,
            box.extents[1:] if flat else (),
            box.origin[1:] if flat else _inner_origin(shape),
            names_of(shape),
            tensor.dtype,
            tensor.buffer.fill_value,
            tensor.buffer.sides is not None,
        )

    def fitted(self, given: object) -> Tensor[Any] | None:
        """Return the rows with the names, dtype and origin of this pattern; None for an empty list.

        Raises
        ------
        RankError, ExtentMismatchError, LayerError, ModeNameError, ConversionError, DTypeError,
        SizeOverflowError
            If the rows have another kind or shape, or values that do not fit the dtype.
        """
        weak = isinstance(given, list | tuple)
        if _is_empty(given):
            return None  # The properties of a list without rows are unknown.
        tensor = self._read(given)
        _refuse_blocks(tensor, self.name)
        _check_all_elements(tensor, self.name)
        self._check_shape(tensor.shape)
        tensor = self._placed(tensor, is_placed=isinstance(given, TensorCommon))
        tensor = self._typed(tensor, weak=weak)
        if self.names is not None and names_of(tensor.shape) != self.names:
            tensor = tensor.named(*self.names)
        return tensor

    def _read(self, given: object) -> Tensor[Any]:
        """Return the given rows as a tensor; lists and arrays are converted to the dtype of the pattern."""
        if isinstance(given, TensorCommon):
            return as_tensor(cast("npt.ArrayLike", given))
        tensor = self._converted(given)
        if not isinstance(given, list | tuple) or tensor.shape.size:
            return tensor
        # Empty lists do not tell how deep they are.
        if self.is_box:
            extents = tensor.shape.extents if is_box(tensor.shape) else ()
            whole = (*extents[:1], *self.inner)
            return (
                tensor.reshape(whole) if extents[-1:] == (0,) and extents == whole[: len(extents)] else tensor
            )
        # A row that does is read with them.
        texts: dict[str, object] = {"utf8": "", "binary": b""}
        is_text = holds_strings(self.dtype)
        zero: Any = texts[kind_of(self.dtype)] if is_text else np.zeros((), self.dtype)[()]
        for _ in range(self.rank - 1):
            zero = [zero]
        return self._converted([*cast("Sequence[object]", given), zero])[:-1]

    def _converted(self, given: object) -> Tensor[Any]:
        if holds_strings(self.dtype):
            try:
                return strings(given, kind=kind_of(self.dtype))
            except ConversionError as error:
                raise DTypeError(
                    f"{self.name!r} has dtype {self.dtype}, which the new elements do not fit: {error}"
                ) from error
        if not isinstance(given, list | tuple):
            return self._of_times(given) if self.dtype.kind == "M" else as_tensor(given)
        rows = cast("Sequence[Any]", given)
        if self.has_room and has_null(rows):
            values, marks = split_nulls(rows, self.dtype)
            return nullable(self._read(values), evolve(self, dtype=np.dtype(np.bool_))._read(marks))
        tensor: Tensor[Any]
        is_date = self.dtype.kind == "M"
        try:
            tensor = self._of_times(rows) if is_date else as_tensor(rows)
        except ConversionError:
            tensor = jagged(rows, dtype=self.dtype if is_date else None)
        if tensor.shape.size or self.fill_value is not None:
            return tensor
        return from_buffer(np.empty(0, self.dtype), tensor.shape)

    def _of_times(self, given: object) -> Tensor[Any]:
        """Return dates as a tensor; NaT without a unit takes on that of the pattern."""
        try:
            return as_tensor(given)
        except DTypeError:
            return as_tensor(check_write(unmasked_array(given), self.dtype))

    def _check_shape(self, shape: Shape[Any]) -> None:
        if shape.rank != self.rank:
            raise RankError(f"rows of {self.name!r} have rank {self.rank}, unlike {shape}")
        if self.is_box and not is_box(shape):
            raise ConversionError(
                f"{self.name!r} is a box with rows of {self.inner}, but {shape} is jagged; use to_padded()"
            )
        if shape.layers != self.layers:
            raise LayerError(f"{self.name!r} has the layers {self.layers}, but {shape} has {shape.layers}")
        names = names_of(shape)
        if names is not None:
            own = self.names or (None,) * self.rank
            for mode, (mine, theirs) in enumerate(zip(own, names, strict=True)):
                if theirs not in (None, mine):
                    raise ModeNameError(
                        f"mode {mode} of {self.name!r} is named {mine!r}, but {theirs!r} in {shape}"
                    )

    def _placed(self, tensor: Tensor[Any], *, is_placed: bool) -> Tensor[Any]:
        """Return rows with the inner origin of this pattern, which lists and arrays adopt."""
        if self.is_box:
            self._check_extents(tensor)
        own = _inner_origin(tensor.shape)
        if self.origin is None or own in (None, self.origin):
            return tensor
        if is_placed or any(own):
            raise ExtentMismatchError(
                f"{self.name!r} starts at {self.origin} in the modes from 1 on, but "
                f"{tensor.shape} starts at {own}; t[...] starts at zero"
            )
        shape = tensor.shape.translate_to((0, *self.origin))
        return from_buffer(tensor.buffer.pack(tensor.layout.implementation, own=False), shape)

    def _check_extents(self, tensor: Tensor[Any]) -> None:
        box = tensor.shape.as_smooth()
        for mode, (mine, theirs) in enumerate(zip(self.inner, box.extents[1:], strict=True), 1):
            if mine != theirs:
                raise ExtentMismatchError(
                    f"mode {mode} of {self.name!r} has extent {mine}, but {theirs} in "
                    f"{tensor.shape}; only the first mode can grow"
                )

    def _typed(self, tensor: Tensor[Any], *, weak: bool) -> Tensor[Any]:
        fill, dtype = tensor.buffer.fill_value, tensor.dtype
        if (fill is None) != (self.fill_value is None):
            how = "sparse, and these rows are dense" if fill is None else "dense: to_dense() of these rows"
            raise ConversionError(f"{self.name!r} is {how}")
        if holds_strings(dtype) or holds_strings(self.dtype):
            # A pattern does not include nulls, because only some records may have them.
            if holds_strings(dtype) != holds_strings(self.dtype) or kind_of(dtype) != kind_of(self.dtype):
                raise DTypeError(
                    f"{self.name!r} has dtype {self.dtype}, which elements of {dtype} do not fit"
                )
            return tensor
        if fill is not None and self.fill_value is not None:
            # Files have a fixed byte order, independent of the order in memory.
            if dtype.newbyteorder("<") != self.dtype.newbyteorder("<"):
                raise DTypeError(f"{self.name!r} has dtype {self.dtype}, not {dtype}; use astype()")
            if not bool(is_fill(fill, self.fill_value)):
                raise ConversionError(f"{self.name!r} is sparse with the fill {self.fill_value}, not {fill}")
            return tensor
        if tensor.buffer.sides is not None:
            return self._typed_with_nulls(tensor, weak=weak)
        if dtype == self.dtype:
            return tensor
        try:
            flat = tensor.elements()
            fitted = check_write(flat.tolist() if weak and dtype.kind not in "mM" else flat, self.dtype)
        except DTypeError as error:
            raise DTypeError(f"cannot append these rows to {self.name!r}: {error}") from error
        return from_buffer(np.asarray(fitted, self.dtype), tensor.shape)

    def _typed_with_nulls(self, tensor: Tensor[Any], *, weak: bool) -> Tensor[Any]:
        count = tensor.null_count
        if count and not self.has_room:
            raise ConversionError(
                f"{self.name!r} cannot store nulls ({count} here); use `t.fill_null(0)`, or "
                f"start the tensor as `tw.nullable(t)`"
            )
        plain = self._typed(zero_filled(tensor), weak=weak)
        return nullable(plain, tensor.is_valid()) if self.has_room else plain
