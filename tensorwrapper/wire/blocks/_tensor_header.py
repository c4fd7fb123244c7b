"""Blocks of tensors that are not boxes of numbers: the description, and how a receiver makes the tensor.

Such a tensor is described as in a message of it alone: one entry of the label, and payload parts. Blocks are
pieces of these parts, so every tensor of a message can also be sent in blocks, with the same packings and
checks.
"""

from collections.abc import Sequence
from typing import Any, cast, final

import attrs
import numpy as np

from tensorwrapper._json import Json
from tensorwrapper._json_fields import Field
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import BufferCommon, Dense, Nullable
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, Extents
from tensorwrapper.wire._limits import DEFAULT_LIMITS, Limits
from tensorwrapper.wire._protocol_errors import Refusal, refuse, refuse_field, refuse_over
from tensorwrapper.wire.codec._plan import TensorPlan, plan_label, read_extents
from tensorwrapper.wire.codec._read import Reader
from tensorwrapper.wire.frames._label import dump_label

PARTS = 1024
"""Payload parts that a tensor in blocks may have; the packings here make fewer than thrice its rank."""

_BYTE = np.dtype(np.uint8)


@final
@frozen
class TensorHeader:
    """A tensor that is not a box of numbers, as its blocks describe it; equal if they say the same."""

    label: str
    """The label of a message of this tensor alone."""
    sizes: tuple[int, ...]
    """The bytes of each of its payload parts."""
    _limits: Limits = attrs.field(eq=False, repr=False)
    _allow_longdouble: bool = attrs.field(eq=False, repr=False)
    entry: dict[str, Json] = attrs.field(eq=False, repr=False)
    """Entry of the tensor in its label."""

    @property
    def plan(self) -> TensorPlan:
        """The checked and cached plan of the label.

        Raises
        ------
        RemoteProtocolError
            If anything is wrong with it, or not understood.
        """
        plans = plan_label(
            self.label, self._limits, strict=True, allow_longdouble=self._allow_longdouble
        ).tensors
        (plan,) = plans
        if isinstance(plan, Refusal):
            raise plan.error()
        return plan

    @property
    def elements(self) -> int:
        """The number of the part with the elements."""
        return self.plan.part

    @property
    def described(self) -> Field:
        """Description for `read_skeleton`."""
        return Field({"bytes": list(self.sizes), "entry": self.entry}, "", refuse_field)

    @property
    def item_sizes(self) -> tuple[int, ...]:
        """Bytes per item of each part: of elements, or 1."""
        plan = self.plan
        plain = plan.elements is None or not plan.elements.replaces_elements
        return tuple([plan.dtype.itemsize if plain and k == plan.part else 1 for k in range(len(self.sizes))])

    def part(self, number: int) -> "tuple[Extents, np.dtype[Any]]":
        """Return extents and type of the items of a part: elements, or bytes."""
        plan = self.plan
        if number != plan.part or (plan.elements is not None and plan.elements.replaces_elements):
            return (self.sizes[number],), _BYTE
        return read_extents(plan.field["shape"], self._limits), plan.logical or plan.dtype

    def assemble(self, parts: Sequence[Array | None]) -> Tensor[Any]:
        """Return the tensor of parts that are there; an empty one may be None. It can be written to.

        Raises
        ------
        RemoteProtocolError
            If they do not match the label.
        """
        plan = self.plan
        flat = [np.empty(0, _BYTE) if part is None else part.reshape(-1).view(_BYTE) for part in parts]
        tensor = Reader([part.data for part in flat], self._limits).read(plan)
        layout = tensor.layout
        if plan.elements is None:
            # This library allocated the part; it was checked as an untrusted one.
            own: BufferCommon[Any] = Dense(cast("Any", flat[plan.part].view(plan.logical or plan.dtype)))
            sides = tensor.buffer.sides
            return make_tensor(layout, own if sides is None else Nullable(own, sides[1]))
        if plan.elements.replaces_elements:
            return tensor
        return make_tensor(layout, tensor.buffer.pack(layout.implementation, own=False))


def make_skeleton(
    entry: dict[str, Json],
    sizes: tuple[int, ...],
    limits: Limits = DEFAULT_LIMITS,
    *,
    allow_longdouble: bool = True,
) -> TensorHeader:
    """Return the blocks' description of the tensor of one label entry, whose parts have these sizes."""
    label = dump_label({"TENS": {"tensors": [entry]}})
    return TensorHeader(label, sizes, limits, allow_longdouble, entry)


def read_skeleton(fields: Field, limits: Limits, *, allow_longdouble: bool) -> TensorHeader:
    """Return the description of a tensor in a foreign block.

    Raises
    ------
    RemoteProtocolError
        If that is wrong, over a limit, or not understood.
    """
    fields = fields.object(optional=None)
    entry = fields["entry"].mapping()
    sizes = fields["bytes"].counts(limits.total_bytes, most_items=PARTS)
    if sum(sizes) > limits.total_bytes:
        refuse_over("total_bytes", f"{fields} has {sum(sizes)} bytes; {limits.total_bytes} are allowed")
    whole = make_skeleton(entry, sizes, limits, allow_longdouble=allow_longdouble)
    plan = whole.plan
    if not 0 <= plan.part < len(sizes):
        refuse("layout", f"{fields} has its elements in part {str(plan.part)[:24]} of {len(sizes)}")
    if not plan.dtype.itemsize:
        refuse("unsupported", f"{fields} has no elements")
    if (plan.elements is None or not plan.elements.replaces_elements) and sizes[plan.part] != plan.nbytes:
        refuse("size", f"{fields} has {sizes[plan.part]} bytes of elements instead of {plan.nbytes}")
    return whole
