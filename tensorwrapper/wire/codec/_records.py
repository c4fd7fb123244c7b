"""The key ``records`` of a label: which tensors of a message are the fields of one `Records`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast, final

import numpy as np

from tensorwrapper._json import Json
from tensorwrapper._json_fields import Field
from tensorwrapper._tensor_names import check_name
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import RemoteProtocolError, TensorNameError, TensorWrapperError
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire._protocol_errors import Refusal, refuse, refuse_over

if TYPE_CHECKING:
    from tensorwrapper.fields import Records

_VERSION: Final = 1

_NEVER: Final = frozenset({np.ndarray, Tensor, list, tuple, dict, int, float})
"""Usual types of tensors, and of sets of them: they are not records, and need no import to check that."""


@final
@frozen(eq=False)
class RecordsPlan:
    """The description of one `Records` in a label."""

    field: Field
    fields: tuple[tuple[str, int], ...]
    """Names, and numbers of tensors."""
    rank: int
    """Number of modes that the fields share."""


def is_records(given: object) -> "TypeGuard[Records]":
    """Return True if something is a `Records`."""
    if type(given) in _NEVER:
        return False
    from tensorwrapper.fields import Records  # noqa: PLC0415 - few messages have records

    return isinstance(given, Records)


def describe_records(names: Sequence[str], rank: int, first: int = 0) -> dict[str, Json]:
    """Return the label entry of fields that share so many modes: the tensors from `first` on, in order."""
    fields: list[Json] = [[name, first + k] for k, name in enumerate(names)]
    return {"fields": fields, "rank": rank, "version": _VERSION}


def plan_records(tens: Field, n_tensors: int, limits: Limits) -> tuple[RecordsPlan | Refusal, ...]:
    """Return plans of the records in a foreign label, and a refusal for each that is not understood."""
    given = tens["records"]
    if given.value is None:
        return ()
    described = given.items(of="a list of records")
    if len(described) > limits.tensors:
        refuse_over("tensors", f"{len(described)} records are over the {limits.tensors} allowed")
    return tuple([_plan(item, n_tensors, limits) for item in described])


def _plan(field: Field, n_tensors: int, limits: Limits) -> RecordsPlan | Refusal:
    version = field.object(optional=None)["version"].integer()
    if version != _VERSION:
        return Refusal(
            "unsupported", f"{field} has version {str(version)[:24]}; this reader knows {_VERSION}"
        )
    if field["name"].value is not None:
        _name(field["name"])
    pairs = [item.items(length=2) for item in field["fields"].items(of="a list of fields")]
    if not pairs:
        field["fields"].refuse("must have one field at least")
    fields = tuple([(_name(name), number.integer()) for name, number in pairs])
    if len({name for name, _ in fields}) < len(fields):
        field["fields"].refuse("has a name twice")
    for name, number in fields:
        if not 0 <= number < n_tensors:
            text = f"the field {name[:40]!r} of {field} is tensor {str(number)[:24]}"
            refuse("layout", f"{text}, but there are {n_tensors} tensors")
    return RecordsPlan(field, fields, field["rank"].count(limits.rank))


def _name(field: Field) -> str:
    try:
        return check_name(field.text())
    except TensorNameError as error:
        refuse("schema", f"{field} is not a name: {error}")


def read_records(
    plan: RecordsPlan | Refusal, tensors: Sequence[Tensor[Any] | Refusal]
) -> "Records | Refusal":
    """Return the records that a plan names among tensors; a refusal if one of these is not understood.

    Raises
    ------
    RemoteProtocolError
        ``layout`` if the fields do not have the same leading modes.
    """
    if isinstance(plan, Refusal):
        return plan
    from tensorwrapper.fields import records  # noqa: PLC0415 - few messages have records

    fields: dict[str, Tensor[Any]] = {}
    for name, number in plan.fields:
        tensor = tensors[number]
        if isinstance(tensor, Refusal):
            return Refusal(tensor.reason, f"the field {name[:40]!r} of {plan.field}: {tensor.message}")
        fields[name] = tensor
    whole = next((tensor for tensor in fields.values() if tensor.rank >= plan.rank), None)
    if whole is None:
        refuse("layout", f"no field of {plan.field} has the {plan.rank} modes that all are to share")
    shape = whole.shape
    try:
        return records(
            fields, shape=shape if shape.rank == plan.rank else cast("Any", shape).leading(plan.rank)
        )
    except TensorWrapperError as error:
        raise RemoteProtocolError(
            "layout", f"{plan.field} has fields that do not go together: {error}"
        ) from error
