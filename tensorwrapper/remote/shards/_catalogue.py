"""`Catalogue`: the tensors, their partitions, and the holders of the parts; as a JSON file."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn, SupportsIndex, cast, final

import attrs
import numpy as np

from tensorwrapper._error_text import counted
from tensorwrapper._integers import MAX_DIGITS, MAX_INT64, to_count
from tensorwrapper._json import dump_json, parse_json
from tensorwrapper._json_fields import Field, FieldReason
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import (
    ConversionError,
    DataFileError,
    DataFileNotFoundError,
    ParseError,
    RemoteProtocolError,
    TensorNameError,
    TensorWrapperError,
)
from tensorwrapper.remote.protocol._elements import NULLABLE, dtype_of, dtype_text, fill_of, may_be_null
from tensorwrapper.remote.shards._sharding import MAX_HOLDERS, MAX_TILES, Holder, Sharding, check_name
from tensorwrapper.shape import Tiling
from tensorwrapper.typing import IntArray

_VERSION: Final = 1
_BYTES: Final = 2**26
_DEPTH: Final = 6
_MODES: Final = 32
_TENSORS: Final = 2**16


def _checked(given: Mapping[str, Sharding]) -> dict[str, Sharding]:
    if not isinstance(cast("object", given), Mapping):
        raise ConversionError(f"a catalogue needs a mapping from names to shardings, not {given!r:.80}")
    found: dict[str, Sharding] = {}
    for name, own in given.items():
        if not isinstance(cast("object", own), Sharding):
            raise ConversionError(f"the tensor {name!r:.80} needs a Sharding, not {own!r:.80}")
        found[check_name(name)] = own
    return dict(sorted(found.items()))


@final
@frozen(eq=False, repr=False, getstate_setstate=False)
class Catalogue(Mapping[str, Sharding]):
    """Tensors by name, each with its partition and the holders of its parts.

    Its file is JSON (`docs/guide/remote-shards.md` describes it), and may be untrusted: it is checked against
    limits before it is used. Opening it connects to the addresses in it.

    Examples
    --------
    >>> from tensorwrapper import Tiling
    >>> s = Sharding(Tiling([1, 2], [3]), "i8", ["tcp://a:5555", "tcp://b:5555"])
    >>> text = Catalogue({"x": s}).to_json()
    >>> Catalogue.from_json(text)["x"] == s
    True
    """

    _tensors: dict[str, Sharding] = attrs.field(converter=_checked, alias="tensors")

    @classmethod
    def from_json(cls, text: str | bytes, *, max_bytes: SupportsIndex = _BYTES) -> "Catalogue":
        """Parse a catalogue from JSON.

        Raises
        ------
        ParseError
            If the JSON is not a catalogue, or exceeds a limit; the message has the position.
        """
        most = to_count(max_bytes, "max_bytes")
        value = parse_json(
            text, "the JSON of a catalogue", depth=_DEPTH, digits=MAX_DIGITS, items=most, max_bytes=most
        )
        return _read(Field(value, "$", _refuse))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Catalogue":
        """Load a catalogue from a file.

        Raises
        ------
        DataFileError
            If it cannot be read.
        ParseError
            If it is not a catalogue.
        """
        place = Path(path)
        try:
            with place.open("rb") as file:
                return cls.from_json(file.read(_BYTES + 1))
        except FileNotFoundError as error:
            raise DataFileNotFoundError(error.errno, f"{place} does not exist") from error
        except OSError as error:
            raise DataFileError(f"cannot read {place}: {error}") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the catalogue to a file, replacing an existing one.

        Raises
        ------
        DataFileError
            If it cannot be written.
        """
        place = Path(path)
        beside = place.with_name(f".{place.name}.{os.getpid()}")
        try:
            beside.write_text(self.to_json(), encoding="utf-8")
            beside.replace(place)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise DataFileError(f"cannot write {place}: {error}") from error

    def to_json(self) -> str:
        """Return its canonical text, which `from_json` reads."""
        return dump_json(
            {"catalogue": _VERSION, "tensors": {name: _written(own) for name, own in self._tensors.items()}}
        )

    def __getitem__(self, name: str) -> Sharding:
        found = self._tensors.get(name)
        if found is None:
            raise TensorNameError(f"the catalogue has no tensor {name!r:.80}")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Catalogue) and self._tensors == other._tensors

    def __hash__(self) -> int:
        return hash(tuple(self._tensors.items()))

    def __repr__(self) -> str:
        return f"<Catalogue of {counted(len(self._tensors), 'tensor')}>"

    def __reduce__(self) -> "tuple[Callable[..., Catalogue], tuple[dict[str, Sharding]]]":
        return Catalogue, (self._tensors,)


def _refuse(path: str, _reason: FieldReason, text: str) -> NoReturn:
    raise ParseError(f"the JSON of a catalogue: {path} {text}")


# Written.


def _written(own: Sharding) -> dict[str, object]:
    document: dict[str, object] = {
        "dtype": f"{NULLABLE if own.nullable else ''}{dtype_text(own.dtype)}",
        "holders": [{"address": h.address, "key": h.key} if h.key else h.address for h in own.holders],
        "placements": [list(place) for place in own.placements],
        "tiles": own.tiles.tolist(),
    }
    if own.fill is not None:
        document["fill"] = own.fill.hex()
    if own.layers is not None:
        document["layers"] = list(own.layers)
    sizes = [np.diff(marks).tolist() for marks in own.tiling.marks]
    if own.rows is None:
        return {**document, "tiling": sizes}
    return {**document, "rows": own.rows.tolist(), "sizes": sizes[0]}


# Read.


def _read(field: Field) -> Catalogue:
    field.object({"catalogue", "tensors"})
    field["catalogue"].integer(_VERSION, _VERSION)
    tensors = field["tensors"]
    if len(tensors.mapping()) > _TENSORS:
        tensors.refuse(f"has {len(tensors.mapping())} tensors; at most {_TENSORS} are allowed", "limit")
    found: dict[str, Sharding] = {}
    for name, own in tensors.entries():
        try:
            check_name(name)
            found[name] = _sharding(own)
        except (ParseError, MemoryError):
            raise
        except TensorWrapperError as error:
            own.refuse(str(error))
    return Catalogue(found)


def _sharding(field: Field) -> Sharding:
    is_rows = "rows" in field.object({"dtype", "holders", "placements", "tiles"}, None)
    known = {"rows", "sizes"} if is_rows else {"tiling"}
    field.object({"dtype", "holders", "placements", "tiles", *known}, {"fill", "layers"})
    try:
        said = field["dtype"].text(most=32)
        dtype = dtype_of(said)
    except RemoteProtocolError:
        field["dtype"].must_be("a type of elements that travel")
    holders = [_holder(own) for own in field["holders"].items(of="a list of holders", most=MAX_HOLDERS)]
    places = field["placements"].items(of="a list of placements", most=MAX_TILES)
    placements = [own.integers(0, len(holders) - 1, most_items=MAX_HOLDERS) for own in places]
    modes = (
        [_sizes(field["sizes"])]
        if is_rows
        else [_sizes(own) for own in field["tiling"].items(of="a list for each mode", most=_MODES)]
    )
    tiles = field["tiles"].array(0, len(placements) - 1, most_items=MAX_TILES)
    # Check before creating a tiling, which may have more tiles than fit in memory.
    count = 1
    for own in modes:
        count *= len(own)
    if count != len(tiles):
        field["tiles"].refuse(f"has {len(tiles)} entries for {count} tiles")
    size = 1
    for own in modes:
        size *= sum(own.tolist())
    if size * max(dtype.itemsize, 1) > MAX_INT64:
        field.refuse(f"has {size} elements, which is more than 64 bits count the bytes of", "limit")
    rows = field["rows"].array(0, MAX_INT64, most_items=MAX_TILES) if is_rows else None
    if rows is not None and sum(rows.tolist()) > MAX_INT64:
        field["rows"].refuse("has more rows than 64 bits count", "limit")
    fill_value = _fill(field["fill"], dtype) if "fill" in field else None
    layers = field["layers"].integers(0, _MODES, most_items=_MODES) if "layers" in field else None
    return Sharding(
        Tiling(*modes),
        dtype,
        holders,
        tiles,
        placements=placements,
        rows=rows,
        fill_value=fill_value,
        layers=layers,
        nullable=may_be_null(said),
    )


def _fill(field: Field, dtype: "np.dtype[Any]") -> object:
    try:
        raw = bytes.fromhex(field.text(most=64))
    except ValueError:
        field.must_be("the bytes of an element in hexadecimal digits")
    try:
        return fill_of(raw, dtype)[()]
    except RemoteProtocolError:
        field.must_be(f"the bytes of an element {dtype}")


def _sizes(field: Field) -> IntArray:
    return field.array(0, MAX_INT64, most_items=MAX_TILES)


def _holder(field: Field) -> Holder:
    if isinstance(field.value, str):
        return Holder(field.value)
    own: Any = field.object({"address", "key"})
    return Holder(own["address"].text(), own["key"].text())
