"""The table of packings: allowed values of a label's key ``packing``, in the order in which they try tensors.

Registered packings try a tensor before the built-in ones, the latest first.
"""

import re
import threading
from typing import Final, cast, final

from tensorwrapper._error_text import brief
from tensorwrapper._json_fields import Field
from tensorwrapper.errors import ConversionError, LocalProtocolError
from tensorwrapper.wire._protocol_errors import Refusal, refuse
from tensorwrapper.wire.packings._blocks import BlocksPacking
from tensorwrapper.wire.packings._compressed import CompressedPacking
from tensorwrapper.wire.packings._jagged import JaggedPacking
from tensorwrapper.wire.packings._nullable import NAME, VERSION
from tensorwrapper.wire.packings._packing import ElementPacking, Packing, ShapePacking
from tensorwrapper.wire.packings._sparse import SparsePacking
from tensorwrapper.wire.packings._strings import StringPacking
from tensorwrapper.wire.packings._symmetric import SymmetricPacking
from tensorwrapper.wire.packings._symmetric_blocks import SymmetricBlocksPacking
from tensorwrapper.wire.packings._tiled import TiledPacking
from tensorwrapper.wire.packings._triangular import TriangularPacking

_BUILT_IN: Final[tuple[Packing, ...]] = (
    TiledPacking(),
    TriangularPacking(),
    JaggedPacking(),
    SymmetricBlocksPacking(),
    BlocksPacking(),
    SparsePacking(),
    SymmetricPacking(),
    StringPacking(),
    CompressedPacking("zlib"),
    CompressedPacking("zstd"),
    CompressedPacking("blosc2"),
)
_NAME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9_.+-]{0,63}", re.ASCII)
_KEYS: Final = frozenset(
    {
        *("ascend", "block", "dense", "dtype", "layers", "logical", "metadata", "mode_names"),
        *("nullable", "order", "origin", "packing", "part", "pointer", "shape", "word"),
    }
)
"""Keys of a tensor in a label, which name no packing."""


@final
class PackingTable:
    """Registered packings, in the order in which they try a tensor; it never changes."""

    __slots__ = ("by_name", "elements", "shapes", "strangers", "uncompressed")

    by_name: dict[str, Packing]
    elements: tuple[ElementPacking, ...]
    shapes: tuple[ShapePacking, ...]
    strangers: tuple[Packing, ...]
    uncompressed: tuple[ElementPacking, ...]
    """Packings to try without options, if no packing is registered."""

    def __init__(self, strangers: tuple[Packing, ...]) -> None:
        packings = (*strangers, *_BUILT_IN)
        self.by_name = {packing.name: packing for packing in packings}
        self.elements = tuple([packing for packing in packings if isinstance(packing, ElementPacking)])
        self.shapes = tuple([packing for packing in packings if isinstance(packing, ShapePacking)])
        self.strangers = strangers
        self.uncompressed = tuple([p for p in self.elements if not isinstance(p, CompressedPacking)])


BUILT_IN: Final = PackingTable(())
"""Packings of every reader of this library."""

_lock = threading.Lock()
_tables = [BUILT_IN]


def known_packings() -> PackingTable:
    """Return the packings that are known now."""
    return _tables[-1]


def register_packing(packing: Packing) -> None:
    """Make a packing known to this process, for all that is written and read from now on.

    It is tried before packings registered earlier. Readers of its tensors must register it, too; other
    readers refuse these tensors, and read their neighbours.

    Parameters
    ----------
    packing
        An `ElementPacking` or a `ShapePacking`; ``tensorwrapper.testing.PackingContract`` tries it.

    Raises
    ------
    ConversionError
        If it is neither.
    LocalProtocolError
        If its name is taken, or cannot be one.

    Examples
    --------
    See ``docs/design/extending.md``.
    """
    if not isinstance(cast("object", packing), ElementPacking | ShapePacking):
        raise ConversionError(
            f"a packing derives from ElementPacking or ShapePacking; {brief(packing)} is of type "
            f"{type(packing).__name__}"
        )
    with _lock:
        name, table = packing.name, known_packings()
        if not _NAME.fullmatch(name) or name in _KEYS:
            raise LocalProtocolError("schema", f"no packing can have the name {name[:80]!r}")
        if name in table.by_name:
            raise LocalProtocolError("schema", f"there is a packing {name!r} already")
        _tables[-1] = PackingTable((packing, *table.strangers))


def unregister_packing(name: str) -> None:
    """Forget a packing that was registered; tensors that were read stay as they are.

    Raises
    ------
    LocalProtocolError
        If none of that name was registered.
    """
    with _lock:
        strangers = known_packings().strangers
        left = tuple([packing for packing in strangers if packing.name != name])
        if len(left) == len(strangers):
            raise LocalProtocolError("schema", f"no packing {brief(name)} was registered")
        _tables[-1] = PackingTable(left)


def read_packings(
    description: Field, table: PackingTable
) -> tuple[ElementPacking | None, ShapePacking | None, Field | None] | Refusal:
    """Return the packings of a foreign tensor: of its elements, its shape and its nulls.

    None for dense, for a box, and for no nulls. An unknown packing is no error yet: the tensor is refused
    when it is read.
    """
    name, nulls = description["packing"], None
    if name.value == NAME:
        nulls = check_version(description[NAME], VERSION)
        name = nulls["packing"]
        if name.value == NAME:
            refuse("schema", f"{nulls} is around itself")
    found = _read_packings(name, description, table)
    return found if isinstance(found, Refusal) else (*found, nulls)


def _read_packings(
    name: Field, description: Field, table: PackingTable
) -> tuple[ElementPacking | None, ShapePacking | None] | Refusal:
    packing = _named(name, description, table)
    if packing is None:
        return None, None
    if isinstance(packing, Refusal):
        return packing
    fields = _understood(description, packing)
    if isinstance(packing, ShapePacking):
        return None, packing
    shape = _named(fields["packing"], fields, table)
    if isinstance(shape, Refusal):
        refuse(shape.reason, shape.message)
    if shape is None:
        return packing, None
    if not isinstance(shape, ShapePacking):
        refuse("unsupported", f"{fields} has the packing {shape.name!r}, which is of no shape")
    _understood(description, shape)
    return packing, shape


def _understood(description: Field, packing: Packing) -> Field:
    """Return what a label says under the name of a packing, if this reader knows all of it."""
    fields = check_version(description[packing.name], packing.version)
    unknown = packing.not_understood(fields)
    if unknown is not None:
        refuse("unsupported", f"{fields} has {unknown}")
    return fields


def _named(name: Field, owner: Field, table: PackingTable) -> Packing | Refusal | None:
    if name.value is None or name.text() == "dense":
        return None
    packing = table.by_name.get(name.text())
    return packing or Refusal("unsupported", f"{owner} has the packing {name.text()[:24]!r}")


def check_version(fields: Field, version: int = 1) -> Field:
    """Return a foreign object, if it is of the version that this reader knows."""
    given = fields.value
    if isinstance(given, dict) and type(given.get("version")) is int and given["version"] == version:
        return fields
    found = fields.object(optional=None)["version"].integer()
    if found != version:
        refuse("unsupported", f"{fields} has version {str(found)[:24]}; this reader knows {version}")
    return fields
