"""Names of modes in a label: the key ``mode_names`` of a tensor, one text or null per mode."""

from typing import Any, Final

from tensorwrapper._json import Json
from tensorwrapper._json_fields import Field
from tensorwrapper.errors import LocalProtocolError, TensorWrapperError
from tensorwrapper.layout import Layout
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire._protocol_errors import refuse, refuse_over

_LONGEST: Final = 255
"""Characters of a name, on every machine."""

_Names = tuple[str | None, ...]


def describe_names(tensor: Tensor[Any], description: dict[str, Json], where: str) -> Tensor[Any]:
    """Say which names the modes of a tensor have, if any, and return it without them."""
    names = tensor.shape.names
    if not any(names):
        return tensor
    longest = max([len(name or "") for name in names])
    if longest > _LONGEST:
        raise LocalProtocolError(
            "limit", f"{where} has a mode with a name of {longest} characters; at most {_LONGEST} are allowed"
        )
    description["mode_names"] = list(names)
    return tensor.named(*[None] * len(names))


def read_names(names: Field, limits: Limits) -> _Names | None:
    """Return foreign names, which may not yet be valid names of modes; None without names."""
    if names.value is None:
        return None
    given = names.items(of="a list of one name or null per mode")
    if len(given) > limits.rank:
        refuse_over("rank", f"{names} has {len(given)} entries; a tensor has at most {limits.rank} modes")
    found: list[str | None] = [None if name.value is None else name.text() for name in given]
    if max([len(name or "") for name in found], default=0) > _LONGEST:
        refuse("limit", f"{names} has a name of over {_LONGEST} characters")
    return tuple(found)


def named_by_label(layout: Layout[Any], names: _Names | None, field: Field) -> Layout[Any]:
    """Return a layout with foreign names of its modes; as it is if there are none."""
    if names is None:
        return layout
    try:
        return layout.named(*names)
    except TensorWrapperError as error:
        refuse("schema", f"mode_names of {field}: {error}")
