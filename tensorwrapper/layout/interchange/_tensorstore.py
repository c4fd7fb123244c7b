"""TensorStore's index domains and index transforms, and their JSON.

A transform maps each index of its domain to an index of its base. It has one output map per mode of the base:
a constant, ``offset + stride * index[mode]``, or an index array. Only finite domains are accepted, since a
layout has an offset for each index.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, SupportsIndex, cast, final

from tensorwrapper._json import Json, dump_json
from tensorwrapper._value_class import frozen, value_class
from tensorwrapper.errors import ConversionError, OutOfBoundsError, ParseError, RankError, SizeOverflowError
from tensorwrapper.layout.interchange._index_json import (
    MAX_RANK,
    Box,
    check_keys,
    read_box,
    read_output,
    to_fields,
    to_list,
)
from tensorwrapper.layout.interchange._memory import box
from tensorwrapper.shape import LossReport, Shape, ShapeLike, as_shape
from tensorwrapper.shape.lowlevel import to_index, unnamed_shape
from tensorwrapper.typing import Index, IntArray

MAX_INDEX = 2**62 - 2
"""The greatest index; TensorStore keeps the next number for infinity."""

_EXACT = LossReport("tensorstore")


@final
@value_class
class IndexDomain:
    """A box with a label per mode, as TensorStore's domains are.

    Parameters
    ----------
    shape
        The box.
    labels
        One per mode, all different; the empty text stands for none. Not given, they are the names of the
        modes of the shape.

    Raises
    ------
    RankError
        If there are over 32 modes, or another number of labels.
    SizeOverflowError
        If a bound is beyond 2**62 - 2.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> from tensorwrapper.layout import IndexDomain
    >>> IndexDomain(Shape(2, 3, origin=(5, 0)), ["x", ""]).to_json()
    '{"exclusive_max":[7,3],"inclusive_min":[5,0],"labels":["x",""]}'
    """

    shape: Shape
    labels: tuple[str, ...]

    def __init__(self, shape: ShapeLike, labels: Iterable[str] | None = None) -> None:
        given_shape = as_shape(shape)
        space = unnamed_shape(given_shape)
        if not space.is_box:
            raise ConversionError(f"an index domain is a box, not the {space.kind} shape {space}")
        if space.rank > MAX_RANK:
            raise RankError(f"an index domain has at most {MAX_RANK} modes, not {space.rank}")
        own = [name or "" for name in given_shape.names]
        names = tuple(own) if labels is None else _names(labels)
        if len(names) != space.rank:
            raise RankError(f"{len(names)} labels do not fit {space.rank} modes")
        given = [name for name in names if name]
        if len(set(given)) != len(given):
            raise ConversionError(f"labels are different from each other, unlike {names}")
        for start, extent in zip(space.origin, space.extents, strict=True):
            if max(-start, start, start + extent - 1) > MAX_INDEX:
                raise SizeOverflowError(
                    f"an index of a domain is at most 2**62 - 2 either way, not {start} to {start + extent}"
                )
        object.__setattr__(self, "shape", space)
        object.__setattr__(self, "labels", names)

    def to_dict(self) -> dict[str, object]:
        """Return the JSON object that TensorStore writes."""
        return cast("dict[str, object]", _domain_json(self, ""))

    def to_json(self) -> str:
        """Return the JSON text of `to_dict`, with sorted keys."""
        return dump_json(self.to_dict())

    @classmethod
    def from_json(cls, document: str | Mapping[str, object]) -> "IndexDomain":
        """Return the domain that a JSON text, or the object in it, describes.

        Raises
        ------
        ParseError
            If it is not the JSON of a domain.
        ConversionError
            If a bound is infinite or implicit, that is, may still change.
        """
        fields = to_fields(document)
        check_keys(fields, "")
        return _domain_of(read_box(fields, ""))

    def __reduce__(self) -> "tuple[type[IndexDomain], tuple[Shape[Any], tuple[str, ...]]]":
        return IndexDomain, (self.shape, self.labels)


@final
@frozen(eq=False, getstate_setstate=False)
class OutputMap:
    """One index of the output of a transform.

    Without an input dimension and an array it is `offset` itself.

    Attributes
    ----------
    offset
        What is added.
    stride
        What the input index, or the entry of the array, is multiplied by.
    input_dimension
        The mode of the input whose index counts.
    index_array
        An array with one axis per mode of the domain, of extent 1 where it does not vary.
    """

    offset: int = 0
    stride: int = 1
    input_dimension: int | None = None
    index_array: IntArray | None = None

    def __attrs_post_init__(self) -> None:
        if self.index_array is not None and self.index_array.flags.writeable:
            array = self.index_array.view()
            array.flags.writeable = False
            object.__setattr__(self, "index_array", array)

    def _key(self) -> tuple[object, ...]:
        array = self.index_array
        table = None if array is None else (array.shape, array.tobytes())
        return self.offset, self.stride, self.input_dimension, table

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, OutputMap) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> "tuple[Callable[..., OutputMap], tuple[int, int, int | None, IntArray | None]]":
        return OutputMap, (self.offset, self.stride, self.input_dimension, self.index_array)


@final
@frozen
class IndexTransform:
    """A function from the indices of a domain to those of a base.

    Attributes
    ----------
    domain
        The domain of the function.
    output
        One map per mode of the result.
    lost
        Properties of the original layout that it lacks.

    Examples
    --------
    >>> from tensorwrapper import Layout, Shape
    >>> part = Layout(Shape(4, 6))[1, ::-2].to_tensorstore(Shape(4, 6))
    >>> part.to_json()
    '{"input_exclusive_max":[3],"input_inclusive_min":[0],"output":[{"offset":1},{"input_dimension":0,"offset":5,"stride":-2}]}'
    >>> part.index_of((2,))
    (1, 1)
    """

    domain: IndexDomain
    output: tuple[OutputMap, ...]
    lost: LossReport = _EXACT

    def __attrs_post_init__(self) -> None:
        extents = self.domain.shape.extents
        for number, output in enumerate(self.output):
            mode, array = output.input_dimension, output.index_array
            if mode is not None and not 0 <= mode < len(extents):
                raise RankError(
                    f"output map {number} reads mode {mode} of a domain with {len(extents)} modes"
                )
            if array is not None and (
                array.ndim != len(extents)
                or any(n not in (1, extent) for n, extent in zip(array.shape, extents, strict=True))
            ):
                raise RankError(
                    f"the index array of output map {number} has extents {array.shape}; over a domain of "
                    f"{extents} each is 1 or as long"
                )

    def index_of(self, index: Iterable[SupportsIndex]) -> Index:
        """Return the index that is meant by one of the domain.

        Raises
        ------
        OutOfBoundsError
            If it is not in the domain.
        """
        shape = self.domain.shape
        numbers = to_index(index, shape.rank)
        if numbers not in shape:
            raise OutOfBoundsError(f"index {numbers} is not in {shape}")
        found: list[int] = []
        for output in self.output:
            value = 0
            if output.input_dimension is not None:
                value = numbers[output.input_dimension]
            elif output.index_array is not None:
                sizes = output.index_array.shape
                places = zip(numbers, shape.origin, sizes, strict=True)
                value = int(output.index_array[tuple([i - o if n > 1 else 0 for i, o, n in places])])
            found.append(output.offset + output.stride * value)
        return tuple(found)

    def to_dict(self) -> dict[str, object]:
        """Return the JSON object that TensorStore writes."""
        fields = _domain_json(self.domain, "input_")
        if self.output != _identity(self.domain.shape.rank):
            fields["output"] = [_output_json(output) for output in self.output]
        return cast("dict[str, object]", fields)

    def to_json(self) -> str:
        """Return the JSON text of `to_dict`, with sorted keys."""
        return dump_json(self.to_dict())

    @classmethod
    def from_json(cls, document: str | Mapping[str, object]) -> "IndexTransform":
        """Return the transform that a JSON text, or the object in it, describes.

        Numbers are integers here: TensorStore also takes 2.0 and "2".

        Raises
        ------
        ParseError
            If it is not the JSON of a transform.
        ConversionError
            If a bound is infinite or implicit, that is, may still change.
        OutOfBoundsError
            If an index array leaves its own bounds.
        """
        fields = to_fields(document)
        check_keys(fields, "input_", ("output",))
        domain = _domain_of(read_box(fields, "input_"))
        if "output" not in fields:
            return cls(domain, _identity(domain.shape.rank))
        rows = to_list(fields["output"], "output")
        if len(rows) > MAX_RANK:
            raise ParseError(f"a transform has at most {MAX_RANK} output maps, not {len(rows)}")
        read = [read_output(row, number) for number, row in enumerate(rows)]
        maps = [OutputMap(one.offset, one.stride, one.input_dimension, one.index_array) for one in read]
        return cls(domain, tuple(maps))


def _names(labels: object) -> tuple[str, ...]:
    """Return labels that may come from anywhere as a tuple of texts."""
    refusal = f"labels are texts, one per mode, not {labels!r}"
    try:
        names = () if isinstance(labels, str) else tuple(cast("Iterable[object]", labels))
    except TypeError as error:
        raise ConversionError(refusal) from error
    if isinstance(labels, str) or not all(isinstance(name, str) for name in names):
        raise ConversionError(refusal)
    return cast("tuple[str, ...]", names)


def _identity(rank: int) -> tuple[OutputMap, ...]:
    return tuple([OutputMap(0, 1, mode) for mode in range(rank)])


def _domain_of(found: Box) -> IndexDomain:
    return IndexDomain(box(found.extents, found.origin), found.labels)


def _domain_json(domain: IndexDomain, prefix: str) -> dict[str, Json]:
    shape = domain.shape
    if not shape.rank:
        return {f"{prefix}rank": 0}
    fields: dict[str, Json] = {
        f"{prefix}inclusive_min": list(shape.origin),
        f"{prefix}exclusive_max": [start + n for start, n in zip(shape.origin, shape.extents, strict=True)],
    }
    if any(domain.labels):
        fields[f"{prefix}labels"] = list(domain.labels)
    return fields


def _output_json(output: OutputMap) -> dict[str, Json]:
    fields: dict[str, Json] = {"offset": output.offset} if output.offset else {}
    if output.input_dimension is None and output.index_array is None:
        return fields
    if output.stride != 1:
        fields["stride"] = output.stride
    if output.input_dimension is not None:
        fields["input_dimension"] = output.input_dimension
    elif output.index_array is not None:
        fields["index_array"] = cast("Json", output.index_array.tolist())
    return fields
