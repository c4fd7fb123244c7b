"""Parse TensorStore index domains and transforms from untrusted JSON."""

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64
from tensorwrapper._json import load_json
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, OutOfBoundsError, ParseError
from tensorwrapper.shape.lowlevel import integer_array
from tensorwrapper.typing import Extents, Index, IntArray

MAX_RANK = 32
"""As many modes as TensorStore allows."""

_BOUNDS = ("exclusive_max", "inclusive_max", "shape")
_BOX = ("rank", "inclusive_min", *_BOUNDS, "labels")
_OUTPUT = ("offset", "stride", "input_dimension", "index_array", "index_array_bounds")


@frozen
class Box:
    """The parsed JSON of a domain."""

    origin: Index
    extents: Extents
    labels: tuple[str, ...]


@frozen(eq=False)
class Output:
    """The parsed JSON of an output map."""

    offset: int
    stride: int
    input_dimension: int | None
    index_array: IntArray | None


def to_fields(document: object) -> Mapping[str, object]:
    """Return the object of a JSON text, or one that is there already."""
    if isinstance(document, str):
        try:
            document = load_json(document)
        except RecursionError as error:
            raise ParseError("the JSON of a transform nests too deeply") from error
    if not isinstance(document, Mapping):
        raise ParseError(f"the JSON of a domain or transform is an object, not a {type(document).__name__}")
    return cast("Mapping[str, object]", document)


def check_keys(fields: Mapping[str, object], prefix: str, more: tuple[str, ...] = ()) -> None:
    """Raise at a key that a domain, or a transform with keys that begin with `prefix`, does not have."""
    _check_known(fields, [*[prefix + key for key in _BOX], *more])


def _check_known(fields: Mapping[str, object], known: Sequence[str]) -> None:
    unknown = [key for key in fields if key not in known]
    if unknown:
        raise ParseError(f"there is no key {unknown[0]!r}: allowed are {', '.join(known)}")


def to_list(value: object, key: str) -> Sequence[object]:
    """Return what must be a JSON array."""
    if isinstance(value, list | tuple):
        return cast("Sequence[object]", value)
    raise ParseError(f"{key} must be a list, not {value!r}")


def _integer(value: object, key: str) -> int:
    if type(value) is not int or not -MAX_INT64 <= value <= MAX_INT64:
        raise ParseError(f"{key} must be an integer of 64 bits, not {value!r}")
    return value


def _bounds(value: object, key: str) -> Index:
    """Return one bound per mode, all of which must be known and final."""
    found: list[int] = []
    for bound in to_list(value, key):
        if isinstance(bound, list):
            raise ConversionError(f"{key} has the implicit bound {bound}: a layout needs bounds that stay")
        if bound in ("-inf", "+inf", "inf"):
            raise ConversionError(f"{key} has the bound {bound!r}: a layout has a place for each index")
        found.append(_integer(bound, key))
    return tuple(found)


def read_box(fields: Mapping[str, object], prefix: str) -> Box:
    """Return the domain that the keys with a prefix describe.

    Raises
    ------
    ParseError
        If they do not describe one.
    ConversionError
        If a bound is infinite or implicit.
    """
    given = [prefix + key for key in _BOUNDS if prefix + key in fields]
    if len(given) > 1:
        raise ParseError(f"at most one of {', '.join(given)} can be given")
    lengths = {key: len(to_list(fields[key], key)) for key in fields if key[len(prefix) :] in _BOX[1:]}
    if prefix + "rank" in fields:
        lengths[prefix + "rank"] = _integer(fields[prefix + "rank"], prefix + "rank")
    ranks = set(lengths.values())
    if len(ranks) != 1 or not 0 <= (rank := ranks.pop()) <= MAX_RANK:
        raise ParseError(f"one rank from 0 to {MAX_RANK} is needed, not {lengths}")
    low_key, high_key = prefix + "inclusive_min", given[0] if given else prefix + "shape"
    if rank and (high_key not in fields or (low_key not in fields and not high_key.endswith("shape"))):
        missing = high_key if high_key not in fields else low_key
        raise ConversionError(
            f"without {missing} the domain is infinite: a layout has a place for each index"
        )
    low = _bounds(fields.get(low_key, [0] * rank), low_key)
    high = _bounds(fields.get(high_key, []), high_key)
    if high_key.endswith("shape"):
        extents = high
    else:
        extra = int(high_key.endswith("inclusive_max"))
        extents = tuple([stop + extra - start for start, stop in zip(low, high, strict=True)])
    if any(extent < 0 for extent in extents):
        raise ParseError(f"{high_key} {high} lies below {low_key} {low}")
    labels = to_list(fields.get(prefix + "labels", [""] * rank), prefix + "labels")
    return Box(low, extents, tuple(cast("Sequence[str]", labels)))


def read_output(row: object, number: int) -> Output:
    """Return the output map of a JSON object.

    Raises
    ------
    ParseError
        If it describes none.
    OutOfBoundsError
        If an index array leaves the bounds that it is given.
    """
    where = f"output map {number}"
    fields = to_fields(row)
    _check_known(fields, _OUTPUT)
    offset = _integer(fields.get("offset", 0), f"the offset of {where}")
    if "input_dimension" not in fields and "index_array" not in fields:
        if len(fields) > ("offset" in fields):
            raise ParseError(f"{where} has neither input_dimension nor index_array, but {sorted(fields)}")
        return Output(offset, 1, None, None)
    stride = _integer(fields.get("stride", 1), f"the stride of {where}")
    if "index_array" in fields:
        if "input_dimension" in fields:
            raise ParseError(f"{where} has both input_dimension and index_array")
        return Output(offset, stride, None, _read_array(fields, where))
    mode = _integer(fields["input_dimension"], f"the input_dimension of {where}")
    if "index_array_bounds" in fields:
        raise ParseError(f"{where} has index_array_bounds but no index_array")
    return Output(offset, stride, mode, None)


def _read_array(fields: Mapping[str, object], where: str) -> IntArray:
    array = integer_array(cast("npt.ArrayLike", fields["index_array"]), f"the index array of {where}")
    if array.dtype.kind == "u" and array.size and int(array.max()) > MAX_INT64:
        raise ParseError(f"the index array of {where} leaves 64 bits")
    numbers = array.astype(np.int64)
    if "index_array_bounds" in fields:
        pair = _bounds(fields["index_array_bounds"], f"index_array_bounds of {where}")
        if len(pair) != 2:
            raise ParseError(
                f"index_array_bounds of {where} are the least and the greatest value, not {pair}"
            )
        if numbers.size and not pair[0] <= int(numbers.min()) <= int(numbers.max()) <= pair[1]:
            raise OutOfBoundsError(f"the index array of {where} leaves its bounds {pair[0]} to {pair[1]}")
    return numbers
