"""The packing ``nullable``: around all others, one bit for each element that tells whether it is there.

The values travel as those of a plain tensor, with zeros for nulls. A reader that does not know the packing
refuses this tensor and reads the others.
"""

from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._json import Json
from tensorwrapper._json_fields import Field
from tensorwrapper.buffer import BufferCommon, Dense, Nullable
from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor, zero_filled
from tensorwrapper.wire._protocol_errors import refuse
from tensorwrapper.wire.parts._part_reader import PartReader
from tensorwrapper.wire.parts._part_writer import PartWriter

NAME: Final = "nullable"
VERSION: Final = 1

_BYTE: Final = np.dtype(np.uint8)


def without_nulls(run: Tensor[Any], *, keep: bool) -> "tuple[Tensor[Any], npt.NDArray[np.bool_] | None]":
    """Return values with zeros for nulls, and truth values; None if all are valid and `keep` is False."""
    if run.buffer.sides is None:
        return run, None
    held = run.layout.implementation
    valid = run.buffer.valid_of(held)
    if valid.all():
        return make_tensor(run.layout, run.buffer.sides[0]), valid if keep else None
    return zero_filled(run), valid


def describe_validity(
    valid: "npt.NDArray[np.bool_]", parts: PartWriter, description: dict[str, Json]
) -> None:
    """Add the truth values to the description of a tensor."""
    bits = np.packbits(valid, bitorder="little")
    fields: dict[str, Json] = {"version": VERSION, "validity": parts.add_elements(bits)}
    if "packing" in description:
        fields["packing"] = description["packing"]
    description["packing"] = NAME
    description[NAME] = fields


def read_validity(fields: Field, buffer: BufferCommon[Any], size: int, parts: PartReader) -> Nullable[Any]:
    """Return foreign elements, and beside them which are there.

    Raises
    ------
    RemoteProtocolError
        If there is not a bit for each, or the elements tell of nulls themselves.
    """
    if holds_strings(buffer.dtype) or buffer.fill_value is not None:
        refuse("schema", f"{fields} is around elements that are strings or sparse, which go without it")
    what = fields["validity"]
    bits = parts.elements(what, (size + 7) // 8, _BYTE)
    parts.claim(size, what)
    valid: npt.NDArray[np.bool_] = np.unpackbits(cast("Any", bits), count=size, bitorder="little").view("?")
    return Nullable(buffer, Dense(cast("Any", valid)))
