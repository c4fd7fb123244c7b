"""How the elements of a tensor are held, and what shape they have: the two things that ``packing`` says.

``jagged`` and ``tiled`` are shapes of a run of elements. Compressed, sparse and string elements are ways to
hold such a run; the objects of these packings name under ``packing`` the shape that the run has.
"""

from collections.abc import Mapping
from typing import cast

from tensorwrapper._json import Json
from tensorwrapper.wire._compress import CODECS
from tensorwrapper.wire._packing import read_object
from tensorwrapper.wire._refusal import Refusal, refuse

__all__ = ["packing_fields", "read_storage"]

_SHAPES = ("dense", "jagged", "tiled")
_STORAGES = ("sparse", "string", *CODECS)


def read_storage(description: dict[str, Json], where: str) -> tuple[str, str, Mapping[str, object]] | Refusal:
    """Return how a foreign tensor is held, the packing of its shape, and what is said of the former.

    A packing that is not known is no error yet: the tensor is refused when it is asked for.
    """
    name = _name(description.get("packing"), where)
    if name in _SHAPES:
        return "dense", name, {}
    if name not in _STORAGES:
        return Refusal("unsupported", f"{where} has the packing {name[:24]!r}")
    what = f"{name} of {where}"
    fields = read_object(description.get(name), what)
    shape = _name(fields.get("packing"), what)
    if shape not in _SHAPES:
        refuse("unsupported", f"{what} has the packing {shape[:24]!r}")
    return name, shape, fields


def _name(packing: object, where: str) -> str:
    if packing is None:
        return "dense"
    if not isinstance(packing, str):
        refuse("schema", f"packing of {where} must be text")
    return packing


def packing_fields(description: dict[str, Json], storage: str) -> Mapping[str, object]:
    """Return what a description that was read before says of how its elements are held."""
    return cast("Mapping[str, object]", description[storage])
