"""Making records: of mappings, and of what other libraries have."""

from collections.abc import Mapping

from tensorwrapper.errors import ConversionError
from tensorwrapper.fields._field import as_fields
from tensorwrapper.fields._records import Records
from tensorwrapper.fields._shared_shape import common_shape
from tensorwrapper.shape import ShapeLike, as_shape

__all__ = ["records"]


def records(data: "Mapping[str, object] | Records", *, shape: ShapeLike | None = None) -> Records:
    """Return named tensors, or views, that share their leading modes, as one value; nothing is copied.

    Parameters
    ----------
    data
        A mapping from names to tensors, views, or whatever `as_view` takes.
    shape
        The shape that all fields start with, or have leading modes of. If not given: the longest leading
        shape of all jagged fields, if that is jagged and every box has leading modes of it; else the longest
        that all fields share.

    Raises
    ------
    ConversionError
        If there is no field.
    TensorNameError
        If a name cannot be one of a tensor in a file.
    RankError
        If a field is a single element.
    ExtentMismatchError
        If fields differ in the first mode, or in a mode of the shape; the text names the field.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> tw.records({"t": tw.jagged([[5, 1, 7], [], [2, 9]]), "run": [10, 20, 30]}).shape
    Shape.jagged([3, 0, 2])
    >>> tw.records({"energy": [1.0, 2.0], "xyz": np.zeros((2, 3))}).shape
    Shape(2)
    """
    if isinstance(data, Records):
        return data if shape is None else Records(dict(data.items()), as_shape(shape))
    fields = as_fields(data)
    if not fields:
        raise ConversionError("records have at least one field")
    return Records(fields, common_shape(fields) if shape is None else as_shape(shape))
