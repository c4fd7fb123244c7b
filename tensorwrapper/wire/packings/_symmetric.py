"""The packing ``symmetric``: the elements at canonical indices of a box, and generators of its symmetry.

Symmetries are loaded on first use, because few messages have one.
"""
# ruff: noqa: PLC0415 - see above

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, final

from tensorwrapper._json_fields import Field
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import RemoteProtocolError, SizeOverflowError, TensorWrapperError
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire._protocol_errors import refuse
from tensorwrapper.wire.packings._packing import ElementPacking, Packed, Received, WriteOptions
from tensorwrapper.wire.parts._part_writer import PartWriter

if TYPE_CHECKING:
    from tensorwrapper.buffer import Symmetric
    from tensorwrapper.shape import Symmetry

_RANK = 8
_OPERATION = 1024
"""Bytes that one operation counts as: to close a group takes as long as to decompress so many."""


@final
@frozen
class SymmetricPacking(ElementPacking):
    """Takes symmetric boxes, also parts of them that have a symmetry; they are never compressed."""

    @property
    def name(self) -> str:
        return "symmetric"

    def pack(self, tensor: Tensor[Any], parts: PartWriter, options: WriteOptions) -> Packed | None:  # noqa: ARG002
        if not tensor.buffer.stores_orbits or tensor.buffer.in_tiles:
            return None
        from tensorwrapper.buffer import Symmetric
        from tensorwrapper.shape.lowlevel import plain_generators

        packed = tensor.buffer.pack(tensor.layout.implementation, own=False)
        # A part without symmetry has all its elements. Readers refuse the label of a part that is zero.
        if not isinstance(packed, Symmetric) or packed.symmetry.is_trivial or packed.symmetry.is_zero:
            return None
        return Packed(packed.values, {"generators": plain_generators(packed.symmetry.generators)})

    def unpack(self, received: Received) -> "Symmetric[Any]":
        from tensorwrapper.buffer import Symmetric
        from tensorwrapper.shape.lowlevel import closed_form

        fields, values = received.fields, received.values
        extents = fields["shape"].counts(received.parts.limits.extent, most_items=_RANK)
        with refusing(fields):
            symmetry = read_symmetry(received, len(extents))
            if closed_form(symmetry) is None:
                # Its elements are found by a table, for which all indices are gone through.
                received.parts.claim(8 * received.size, fields)
            count = symmetry.count(extents)
            if count != len(values):
                refuse("size", f"{fields} has {count} packed elements, but {len(values)} came")
            return Symmetric(values, symmetry, extents)


@contextmanager
def refusing(fields: Field) -> Generator[None]:
    """Turn errors of symmetries and shapes into refusals."""
    try:
        yield
    except RemoteProtocolError:
        raise
    except SizeOverflowError as error:
        refuse("limit", f"{fields}: {error}")
    except TensorWrapperError as error:
        refuse("layout", f"{fields}: {error}")


def read_symmetry(received: Received, rank: int) -> "Symmetry":
    """Return the symmetry of foreign generators; to close the group counts against the limits."""
    from tensorwrapper.shape import Symmetry
    from tensorwrapper.shape.lowlevel import read_generators

    fields = received.fields
    symmetry = Symmetry(rank, read_generators(fields["generators"], rank))
    received.parts.claim(_OPERATION * symmetry.order, fields)
    return symmetry
