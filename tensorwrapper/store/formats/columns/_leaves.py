"""Columns of structs: each field becomes a tensor, within any lists around the structs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, cast, final

import attrs

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError
from tensorwrapper.store.formats.columns._arrow_types import list_of, plain_array, plain_type

if TYPE_CHECKING:
    import pyarrow as pa

_VIEWS: Final = ("list_view", "large_list_view")


@final
@frozen(eq=False)
class Leaf:
    """A column, or a field of structs in a column."""

    kind: "pa.DataType"
    """Type of the field, within the lists around the structs."""
    path: tuple[int, ...] = ()
    """Number of the field in each struct on the path; empty for a column without structs."""
    names: tuple[str, ...] = ()
    """Names of these fields."""
    parts: range = range(1)
    """Parquet parts of the column that it uses."""
    is_all: bool = True
    """True if it is the whole column."""


@final
@frozen(eq=False)
class Column:
    """A column of a table, or a field of a column, to read as a tensor."""

    number: int
    """Number of the column in the table."""
    field: "pa.Field"
    """The column."""
    leaf: Leaf
    name: str
    """Name of the tensor."""


def leaves_of(kind: "pa.DataType") -> Iterator[Leaf]:
    """Yield the leaves of a column: the column itself, or all nested fields of its structs.

    A struct without fields is a leaf.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if not kind.num_fields and not isinstance(kind, pa.BaseExtensionType):
        yield Leaf(kind)
        return
    own: Any = plain_type(kind)
    lists = list_of(own)
    if lists is not None:
        for leaf in leaves_of(own.value_type):
            yield attrs.evolve(leaf, kind=lists(leaf.kind) if leaf.path else own)
    elif isinstance(own, pa.BaseExtensionType) or not (pa.types.is_struct(own) and own.num_fields):
        yield Leaf(own, parts=range(_count(own)))
    else:
        first = 0
        for number in range(own.num_fields):
            field = own.field(number)
            for leaf in leaves_of(field.type):
                parts = range(first + leaf.parts.start, first + leaf.parts.stop)
                yield Leaf(leaf.kind, (number, *leaf.path), (field.name, *leaf.names), parts, is_all=False)
            first += _count(field.type)


def _count(kind: "pa.DataType") -> int:
    """Return the number of Parquet parts of a column, one per leaf type."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    own: Any = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    return sum([_count(own.field(k).type) for k in range(own.num_fields)]) if own.num_fields else 1


def leaf_array(array: "pa.Array", path: tuple[int, ...]) -> "pa.Array":
    """Return a field of the structs in an array, within the lists around them, without copying lists.

    The field of a null struct is null.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.compute as pc  # noqa: PLC0415 - an extra

    own: Any = plain_array(array)
    if not path:
        return cast("pa.Array", own)
    if pa.types.is_struct(own.type):
        return leaf_array(pc.struct_field(own, [path[0]]), path[1:])
    inner, lists = leaf_array(own.values, path), list_of(own.type)
    if lists is None:
        raise ConversionError(f"{own.type} has no fields")
    # Buffers of lists: validity and offsets; for list views also sizes.
    n_buffers = 1 if pa.types.is_fixed_size_list(own.type) else 3 if str(own.type).startswith(_VIEWS) else 2
    return pa.Array.from_buffers(
        lists(inner.type), len(own), own.buffers()[:n_buffers], -1, own.offset, [inner]
    )
