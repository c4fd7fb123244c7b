"""Create tensors of strings from other objects."""

from typing import Any, Literal, overload

import numpy as np

from tensorwrapper.buffer import Strings
from tensorwrapper.buffer.lowlevel import packed_layout
from tensorwrapper.errors import BufferSizeError
from tensorwrapper.shape import ShapeLike, as_shape
from tensorwrapper.tensor._tensor import Tensor, make_tensor
from tensorwrapper.tensor.protocols._string_values import read_strings
from tensorwrapper.typing import StringKind


@overload
def strings(
    values: object, *, kind: Literal["utf8"], shape: ShapeLike | None = None, nullable: bool | None = None
) -> Tensor[np.str_]:
    """Return a tensor of strings: text (kind utf8) or bytes (kind binary) of any length, and nulls."""


@overload
def strings(
    values: object, *, kind: Literal["binary"], shape: ShapeLike | None = None, nullable: bool | None = None
) -> Tensor[np.object_]: ...
@overload
def strings(
    values: object,
    *,
    kind: StringKind | None = None,
    shape: ShapeLike | None = None,
    nullable: bool | None = None,
) -> Tensor[Any]: ...
def strings(
    values: object,
    *,
    kind: StringKind | None = None,
    shape: ShapeLike | None = None,
    nullable: bool | None = None,
) -> Tensor[Any]:
    """Return a tensor of strings: text (kind utf8) or bytes (kind binary) of any length, and nulls.

    String data, tensors of strings and Arrow arrays are not copied, nor is an array of NumPy's S. Writing to
    the tensor does not change them.

    Parameters
    ----------
    values
        Lists of str or of bytes, nested as deep as there are modes, with None for a null: a box if all lists
        of a level are of one length, else jagged. Or an array of NumPy (S, U, StringDType, object), of Arrow
        (strings, or lists of them), string data, a tensor of strings, or one str or bytes.
    kind
        Kind of the elements; it is needed only if there are none to tell. Nothing is converted.
    shape
        Any shape of as many elements, which then come in row-major order.
    nullable
        Whether an element may be a null, now or by a later assignment. If not given, elements may be if one
        is; False refuses nulls.

    Raises
    ------
    ConversionError
        If there is something else than strings, text and bytes are mixed, or a null is refused.
    StringDataError
        If text is not UTF-8: it has a lone surrogate, or bytes of Arrow are none.
    BufferSizeError
        If there are not just the elements of the shape.

    Examples
    --------
    >>> words = strings([["a", "bc"], ["", "d"]])
    >>> words.shape, words[1].tolist(), words.permute((1, 0)).tolist()
    (Shape(2, 2), ['', 'd'], [['a', ''], ['bc', 'd']])
    >>> strings([["a", None], ["b"]]).shape
    Shape.jagged([2, 1])
    """
    data, space = read_strings(values, kind)
    if shape is not None:
        space = as_shape(shape)
        if space.size != len(data):
            raise BufferSizeError(f"{space} has {space.size} elements, but {len(data)} strings are given")
    return make_tensor(packed_layout(space), Strings(data, nullable=nullable))
