"""The nodes of a graph of tensors and operations: values that refer to one another by id."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast, final
from uuid import UUID, uuid4

import attrs

from tensorwrapper._integers import MAX_DIGITS
from tensorwrapper._json import Json, dump_json, has_number_over, load_json
from tensorwrapper._value_class import frozen, value_class
from tensorwrapper.errors import ConversionError
from tensorwrapper.shape import ShapeLike
from tensorwrapper.sharding._boxes import Box, as_box
from tensorwrapper.sharding._operands import Named, Sides, named_lists
from tensorwrapper.sharding._projection import Projection


def _to_box(shape: ShapeLike) -> Box:
    return as_box(shape, "a range of a graph")


def _to_box_or_none(shape: ShapeLike | None) -> Box | None:
    return None if shape is None else _to_box(shape)


def _check_id(_: object, field: "attrs.Attribute[UUID]", value: object) -> None:
    if not isinstance(value, UUID):
        raise ConversionError(f"{field.name} must be a UUID, not {value!r}")


def _check_text(_: object, field: "attrs.Attribute[str]", value: object) -> None:
    if not isinstance(value, str):
        raise ConversionError(f"{field.name} must be text, not {value!r}")


def _check_label(_: object, field: "attrs.Attribute[str | None]", value: object) -> None:
    if value is not None and not isinstance(value, str):
        raise ConversionError(f"{field.name} must be text or None, not {value!r}")


@final
@frozen
class Region:
    """A box of a tensor of the graph.

    Examples
    --------
    >>> from uuid import UUID
    >>> from tensorwrapper.sharding import Region
    >>> Region(UUID(int=1), (2, 3)).box
    Shape(2, 3)
    """

    tensor: UUID = attrs.field(validator=_check_id)
    """The id of the tensor."""
    box: Box = attrs.field(converter=_to_box)
    """The part of it."""


Regions: TypeAlias = "Mapping[str, Region | Sequence[Region]] | tuple[()]"
"""Regions by the names of operands, one or a list of each."""


def _to_regions(given: Regions) -> "Named[Region]":
    return named_lists(given or {}, Region, "regions")


def _to_projections(given: "Mapping[str, Projection | Sequence[Projection]]") -> "Named[Projection]":
    return named_lists(given, Projection, "projections")


@final
@value_class
class Signature(Sides[Projection]):
    """The projections of an operation, by the names of its operands, from which new shards are made."""

    _inputs: "Named[Projection]" = attrs.field(alias="inputs", converter=_to_projections)
    _outputs: "Named[Projection]" = attrs.field(alias="outputs", converter=_to_projections)

    if TYPE_CHECKING:

        def __init__(
            self,
            inputs: "Mapping[str, Projection | Sequence[Projection]]",
            outputs: "Mapping[str, Projection | Sequence[Projection]]",
        ) -> None: ...


def _to_texts(given: Mapping[str, Json] | tuple[()]) -> tuple[tuple[str, str], ...]:
    if isinstance(given, tuple):
        return ()
    return tuple([(key, _to_text(given[key], f"the tag {key!r}")) for key in sorted(given)])


def _to_text(value: Json, what: str) -> str:
    """Return a JSON value as text, which a reader gives back as it is."""
    try:
        text = dump_json(value)
        same = not has_number_over(text, MAX_DIGITS) and load_json(text) == value
    except (ValueError, TypeError, RecursionError) as error:
        raise ConversionError(f"{what} is not JSON: {error}") from error
    if not same:
        raise ConversionError(
            f"{what} is not JSON: keys are text, sequences lists, numbers not of over 640 digits"
        )
    return text


def _to_params(given: Mapping[str, Json] | None) -> str | None:
    return None if given is None else _to_text(dict(given), "a value of params")


@final
@value_class
class Tags:
    """Tags of a node besides its body: the index and signature of sharding, and unknown tags.

    Parameters
    ----------
    index
        The box of indices of the node.
    signature
        The projections from indices to operands.
    other
        Any other tag, by its URL, as JSON: kept as it is.
    """

    index: Box | None = attrs.field(default=None, converter=_to_box_or_none)
    """The box of indices of the node."""
    signature: Signature | None = None
    """The projections from indices to operands."""
    _other: tuple[tuple[str, str], ...] = attrs.field(default=(), alias="other", converter=_to_texts)

    if TYPE_CHECKING:

        def __init__(
            self,
            index: ShapeLike | None = None,
            signature: Signature | None = None,
            other: Mapping[str, Json] | tuple[()] = (),
        ) -> None: ...

    @property
    def other(self) -> dict[str, Json]:
        """Unknown tags, as JSON by their URLs."""
        return {key: load_json(text) for key, text in self._other}


_NO_TAGS = Tags()


@final
@frozen(kw_only=True)
class TensorNode:
    """A tensor: the box of its indices and the name of its element type.

    Examples
    --------
    >>> from tensorwrapper.sharding import TensorNode
    >>> TensorNode(dtype="float32", box=(2, 3), label="x").box
    Shape(2, 3)
    """

    dtype: str = attrs.field(validator=_check_text)
    """The name of the element type; `Graph.findings` tells whether it is one that is allowed."""
    box: Box = attrs.field(converter=_to_box)
    """The indices of the tensor."""
    label: str | None = attrs.field(default=None, validator=_check_label)
    """Name of the node for readers."""
    tags: Tags = _NO_TAGS
    """Tags of the node."""
    id: UUID = attrs.field(factory=uuid4, validator=_check_id)
    """Identity for references of other nodes; new by default."""


@final
@value_class(kw_only=True)
class OperationNode(Sides[Region]):
    """An operation on regions of tensors. Its shards are `ApplicationNode` values."""

    kernel: str = attrs.field(validator=_check_text)
    """Name of the computation."""
    _inputs: "Named[Region]" = attrs.field(default=(), alias="inputs", converter=_to_regions)
    _outputs: "Named[Region]" = attrs.field(default=(), alias="outputs", converter=_to_regions)
    _params: str | None = attrs.field(default=None, alias="params", converter=_to_params)
    label: str | None = attrs.field(default=None, validator=_check_label)
    """Name of the node for readers."""
    tags: Tags = _NO_TAGS
    """The index, the signature, and other tags."""
    id: UUID = attrs.field(factory=uuid4, validator=_check_id)
    """Identity for references of other nodes; new by default."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            kernel: str,
            inputs: Regions = (),
            outputs: Regions = (),
            params: Mapping[str, Json] | None = None,
            label: str | None = None,
            tags: Tags = _NO_TAGS,
            id: UUID = ...,  # noqa: A002 - the name of the field
        ) -> None: ...

    @property
    def params(self) -> dict[str, Json] | None:
        """Further arguments of the kernel, as JSON."""
        return None if self._params is None else cast("dict[str, Json]", load_json(self._params))


@final
@value_class(kw_only=True)
class ApplicationNode(Sides[Region]):
    """One shard of an operation: the regions that it reads and writes."""

    operation: UUID = attrs.field(validator=_check_id)
    """The id of the operation."""
    _inputs: "Named[Region]" = attrs.field(default=(), alias="inputs", converter=_to_regions)
    _outputs: "Named[Region]" = attrs.field(default=(), alias="outputs", converter=_to_regions)
    label: str | None = attrs.field(default=None, validator=_check_label)
    """Name of the node for readers."""
    tags: Tags = _NO_TAGS
    """The block of the index, and other tags."""
    id: UUID = attrs.field(factory=uuid4, validator=_check_id)
    """Identity for references of other nodes; new by default."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            operation: UUID,
            inputs: Regions = (),
            outputs: Regions = (),
            label: str | None = None,
            tags: Tags = _NO_TAGS,
            id: UUID = ...,  # noqa: A002 - the name of the field
        ) -> None: ...


@final
@frozen(kw_only=True)
class NoteNode:
    """A text for readers."""

    message: str = attrs.field(validator=_check_text)
    """The text."""
    label: str | None = attrs.field(default=None, validator=_check_label)
    """Name of the node for readers."""
    tags: Tags = _NO_TAGS
    """Tags of the node."""
    id: UUID = attrs.field(factory=uuid4, validator=_check_id)
    """Identity for references of other nodes; new by default."""


GraphNode: TypeAlias = TensorNode | OperationNode | ApplicationNode | NoteNode
"""A node of a graph, of any type."""


def regions_of(node: OperationNode | ApplicationNode) -> Iterator[tuple[str, Region]]:
    """Return an iterator over the regions of a node, each with its place in the body."""
    for side, named in (("inputs", node._inputs), ("outputs", node._outputs)):
        for name, regions in named:
            for k, region in enumerate(regions):
                yield f"{side}.{name}[{k}]", region
