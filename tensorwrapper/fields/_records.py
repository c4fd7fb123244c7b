"""`Records`: an ordered mapping from names to tensors or views, and the shape that they share."""

from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeVar, cast, final, overload

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import check_kind_of, to_dtype
from tensorwrapper._error_text import brief
from tensorwrapper._hints import hint
from tensorwrapper._no_array import NoArray
from tensorwrapper._tensor_names import check_name
from tensorwrapper._value_class import slot_setters, token_of, value_class
from tensorwrapper.buffer.lowlevel import assign_elements
from tensorwrapper.errors import ConversionError, DTypeError, RankError, TensorNameError
from tensorwrapper.fields._field import Field, Fields, as_fields, as_tensor_of
from tensorwrapper.fields._joining import chosen, joined
from tensorwrapper.fields._libraries import RecordsLibraries
from tensorwrapper.fields._plan import RecordsPlan
from tensorwrapper.fields._refusals import two_keys
from tensorwrapper.fields._selecting import select
from tensorwrapper.fields._shared_shape import check_field, leading, shape_among, share, with_rows
from tensorwrapper.fields._unpacking import arguments_of
from tensorwrapper.fields._within import flattened, grouped, key_field, taken
from tensorwrapper.selection import Cancel, Expression, View, as_view
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import ArrayKey, DType, NamedKey

_S = TypeVar("_S", bound=np.generic)
_T = TypeVar("_T")


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Records(NoArray, RecordsLibraries):
    """Named tensors, or views, over one shape: fields of the same events, hits or rows.

    Made by `records`. It groups and does not copy: writing to a field writes to the tensor that was given. A
    string selects a field, a list of strings several; any other key selects rows of all fields, as it does
    of a tensor. A field may have more modes than the shape, or be a *prefix field* of its leading modes.

    Parameters
    ----------
    fields
        Tensors or views by name.
    shape
        What all fields start with, or have the leading modes of.

    Raises
    ------
    TensorNameError
        If a name cannot be one of a tensor in a file.
    ExtentMismatchError
        If a field has another shape.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> e = tw.records({"t": tw.jagged([[5, 1, 7], [], [2, 9]]), "run": [10, 20, 30]})
    >>> e.shape, e.names, len(e)
    (Shape.jagged([3, 0, 2]), ('t', 'run'), 3)
    >>> e[e["t"] > 4].to_dict()
    {'t': [[5, 7], [], [9]], 'run': [10, 20, 30]}
    """

    _fields: Fields = attrs.field(alias="fields")
    _shape: Shape = attrs.field(alias="shape")

    if TYPE_CHECKING:

        def __init__(self, fields: Mapping[str, "Tensor[Any] | View[Any]"], shape: Shape) -> None: ...

    def __attrs_post_init__(self) -> None:
        check_kind_of(self._fields, Mapping, "fields are a mapping from names to tensors")
        check_kind_of(self._shape, Shape, "fields share a Shape")
        if not self._fields:
            raise ConversionError("records have at least one field")
        for name, field in self._fields.items():
            check_name(name)
            check_kind_of(field, (Tensor, View), f"the field {name!r} is a tensor or a view")
            check_field(name, field, self._shape)
        if all(field.rank < self._shape.rank for field in self._fields.values()):
            raise RankError(f"at least one field has all {self._shape.rank} modes of {self._shape!r}")
        fields = share(self._fields)
        _set_fields(self, fields)
        _set_shape(self, shape_among(fields, self._shape))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return tuple(self._fields)

    @property
    def shape(self) -> Shape:
        """The shape that all fields start with, or have leading modes of."""
        return self._shape

    @property
    def rank(self) -> int:
        """The number of modes that the fields share."""
        return self._shape.rank

    @property
    def size(self) -> int:
        """The number of indices of the shape."""
        return self._shape.size

    @property
    def nbytes(self) -> int:
        """The number of bytes of the elements of all fields, as if they were packed."""
        return sum([field.nbytes for field in self._fields.values()])

    @property
    def dtypes(self) -> "dict[str, np.dtype[Any]]":
        """The type of the elements of each field."""
        return {name: field.dtype for name, field in self._fields.items()}

    @property
    def is_lazy(self) -> bool:
        """True if a field is a view; `compute` makes it a tensor."""
        return any(type(field) is not Tensor for field in self._fields.values())

    def __len__(self) -> int:
        if not self.rank:
            raise ConversionError("records of rank 0 are one row, and have no len")
        return self._shape.extent(0)

    # Fields.

    @overload
    def __getitem__(self, key: str) -> "Tensor[Any] | View[Any]": ...
    @overload
    def __getitem__(self, key: "list[str] | ArrayKey | NamedKey") -> "Records": ...
    def __getitem__(
        self, key: "str | list[str] | ArrayKey | NamedKey"
    ) -> "Tensor[Any] | View[Any] | Records":
        """Return a field, or several of a list of names, or the rows that any other key selects.

        The positions of rows are computed once for all fields of one shape. A field of fewer modes than the
        shape gets the parts of the key for its own modes; a jagged mask, or jagged positions, leave it as it
        is.

        Raises
        ------
        TensorNameError
            If there is no such field, or a name comes twice.
        TooManyIndicesError
            If there are more indices than the fields share modes.
        IndexTypeError
            If names are among indices.
        OutOfBoundsError, ExtentMismatchError
            As keys of tensors raise them.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> e = tw.records({"t": tw.jagged([[5, 1, 7], [], [2, 9]]), "run": [10, 20, 30]})
        >>> e[::-2].to_dict(), e[["run"]].shape, e["run"].tolist()
        ({'t': [[2, 9], [5, 1, 7]], 'run': [30, 10]}, Shape(3), [10, 20, 30])
        """
        if isinstance(key, str):
            return self._field(key)
        given: Any = key  # a list may hold anything
        if type(given) is list and given and isinstance(given[0], str):
            return self._some(cast("list[str]", given))
        if isinstance(key, tuple) and any(isinstance(part, str) for part in cast("tuple[Any, ...]", key)):
            raise two_keys(key)
        return _made(*select(self._fields, self._shape, key))

    def _field(self, name: str) -> Field:
        try:
            return self._fields[name]
        except (KeyError, TypeError):
            text = f"no field is named {brief(name)}; there are {brief(list(self._fields))}"
            raise TensorNameError(text) from None

    def _some(self, names: list[str]) -> "Records":
        """Return the records of some fields; their shape keeps the modes that one of them has."""
        fields = {name: self._field(name) for name in names}
        if len(fields) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise TensorNameError(f"the field {twice!r} is selected twice, and two fields have two names")
        modes = min(max([field.rank for field in fields.values()]), self.rank)
        return _made(fields, shape_among(fields, leading(self._shape, modes)))

    @overload
    def field(self, name: str) -> "Tensor[Any] | View[Any]": ...
    @overload
    def field(self, name: str, dtype: DType[_S]) -> Tensor[_S]: ...
    def field(self, name: str, dtype: "npt.DTypeLike | None" = None) -> "Tensor[Any] | View[Any]":
        """Return a field; with a type, the tensor of a field that has it.

        Raises
        ------
        TensorNameError
            If there is no such field.
        DTypeError
            If its elements are of another type.
        ConversionError
            If a type is given, and the field is a view that is still to be computed.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> tw.records({"q": [0.5, 1.5]}).field("q", np.float64).tolist()
        [0.5, 1.5]
        """
        found = self._field(name)
        if dtype is None:
            return found
        if found.dtype != to_dtype(dtype):
            raise DTypeError(f"the field {name!r} has elements of type {found.dtype}, not {to_dtype(dtype)}")
        if type(found) is not Tensor:
            raise ConversionError(f"the field {name!r} is a view: `r.compute().field({name!r})` is a tensor")
        return found

    def keys(self) -> KeysView[str]:
        """Return the names, so that ``dict(r)`` and ``{**r}`` have the fields."""
        return self._fields.keys()

    def values(self) -> "ValuesView[Tensor[Any] | View[Any]]":
        """Return the fields."""
        return self._fields.values()

    def items(self) -> "ItemsView[str, Tensor[Any] | View[Any]]":
        """Return pairs of names and fields."""
        return self._fields.items()

    def get(self, name: str, default: _T | None = None) -> "Tensor[Any] | View[Any] | _T | None":
        """Return the field of this name, or the default."""
        check_kind_of(name, str, "a field has a text for a name")
        return self._fields.get(name, default)

    def __contains__(self, name: object) -> bool:
        raise ConversionError(
            f"`in` does not tell names from rows: {brief(name)} in r.names tells whether it is a field"
        )

    def __iter__(self) -> "Iterator[Records]":
        return (self[number] for number in range(len(self)))

    # Other groups of fields.

    def with_field(self, name: str, field: object) -> "Records":
        """Return the records with one more field, or with another one of that name; the shape stays.

        Raises
        ------
        ExtentMismatchError
            If the field neither starts with the shape nor has the shape of its leading modes.
        """
        return self.with_fields({check_name(name): field})

    def with_fields(self, fields: Mapping[str, object]) -> "Records":
        """Return the records with more fields, or with others of these names; the shape stays.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> e = tw.records({"x": [1, 2]}).with_fields({"y": [3, 4], "z": tw.jagged([[5], []])})
        >>> e.names, e.shape
        (('x', 'y', 'z'), Shape(2))
        """
        return Records({**self._fields, **as_fields(fields)}, self._shape)

    def rename(self, names: Mapping[str, str]) -> "Records":
        """Return the records with other names for some fields; their order stays.

        Raises
        ------
        TensorNameError
            If there is no such field, or another one has the new name.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.records({"x": [1], "y": [2]}).rename({"x": "y", "y": "x"}).to_dict()
        {'y': [1], 'x': [2]}
        """
        check_kind_of(names, Mapping, "new names are a mapping from the old ones")
        for name in names:
            self._field(name)
        fields: dict[str, Field] = {}
        for name, field in self._fields.items():
            new = check_name(names.get(name, name))
            if new in fields:
                raise TensorNameError(f"two fields would have the name {new!r}")
            fields[new] = field
        return _made(fields, self._shape)

    def drop(self, *names: str) -> "Records":
        """Return the records without some fields; the shape keeps the modes that one of the others has.

        Raises
        ------
        TensorNameError
            If there is no such field.
        ConversionError
            If no field is left.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.records({"x": [1], "y": [2]}).drop("x").names
        ('y',)
        """
        for name in names:
            check_kind_of(name, str, f"names are given one by one, as in `r.drop({self.names[-1]!r})`")
            self._field(name)
        left = [name for name in self._fields if name not in names]
        if not left:
            raise ConversionError("records have at least one field, and all would be dropped")
        return self._some(left)

    # Rows in another order.

    def sort_by(self, name: str, *, descending: bool = False) -> "Records":
        """Return the records with each row in the order of a field, which has no more modes than these share.

        Equal elements keep their order, and NaN come last, as `rows().argsort` has them. Fields of fewer
        modes than that field stay as they are.

        Raises
        ------
        RankError
            If the field has more modes.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> e = tw.records({"t": tw.jagged([[5, 1, 7], [], [2, 9]]), "run": [10, 20, 30]})
        >>> e.sort_by("t", descending=True).to_dict()
        {'t': [[7, 5, 1], [], [9, 2]], 'run': [10, 20, 30]}
        >>> e.sort_by("run", descending=True)["t"].tolist()
        [[2, 9], [], [5, 1, 7]]
        """
        rows = as_tensor_of(key_field({name: self._field(name)}, self._shape, name)).rows()
        return _made(*taken(self._fields, self._shape, rows.argsort(descending=descending)))

    def top_k(self, name: str, k: SupportsIndex, *, largest: bool = True) -> "Records":
        """Return the records with the k entries of each row where a field is largest, the best one first.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> e = tw.records({"t": tw.jagged([[5, 1, 7], [], [2, 9]]), "run": [10, 20, 30]})
        >>> e.top_k("t", 2).to_dict()
        {'t': [[7, 5], [], [9, 2]], 'run': [10, 20, 30]}
        """
        rows = as_tensor_of(key_field({name: self._field(name)}, self._shape, name)).rows()
        return _made(*taken(self._fields, self._shape, rows.top_k(k, largest=largest)))

    def group_by(self, name: str) -> "Records":
        """Return a row for each distinct element of a field, ascending; that field has one of each.

        The entries of a row keep their order. O(n log n).

        Raises
        ------
        RankError
            If the fields share more than one mode, or that field has more.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> hits = tw.records({"event": [7, 7, 3, 7, 3], "adc": [1, 2, 3, 4, 5]})
        >>> hits.group_by("event").to_dict()
        {'event': [3, 7], 'adc': [[3, 5], [1, 2, 4]]}
        """
        self._field(name)
        made = grouped(self._fields, self._shape, name)
        return _shared(made, 1 if len(made) == 1 else 2)

    def flatten(self) -> "Records":
        """Return the entries of all rows in one mode, which takes the place of the first two.

        Prefix fields are repeated, and an empty row disappears.

        Raises
        ------
        RankError
            If the fields share one mode only.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> e = tw.records({"t": tw.jagged([[5, 1, 7], [], [2, 9]]), "run": [10, 20, 30]})
        >>> e.flatten().to_dict()
        {'t': [5, 1, 7, 2, 9], 'run': [10, 10, 10, 30, 30]}
        """
        return _made(*flattened(self._fields, self._shape))

    def __join__(
        self, what: Literal["concat", "stack", "where"], operands: Sequence[Any], mode: int
    ) -> "Records":
        """Return what `tw.concat`, `tw.stack` or `tw.where` make of records, field by field: views."""
        mask, parts = (operands[0], operands[1:]) if what == "where" else (None, operands)
        seen = [as_records(part) for part in parts]
        for part in seen:
            check_kind_of(part, Records, f"{what} puts records together with records")
        given = [(part._fields, part._shape) for part in seen]
        if what == "where":
            return _shared(chosen(mask, given), self.rank)
        if what == "concat":
            return _shared(joined(what, given, mode), self.rank)
        made = _shared(joined(what, given, mode), self.rank + 1)
        return _shared(with_rows(made._fields, made._shape), made.rank)

    def __fields__(self) -> "tuple[dict[str, View[Any]], int]":
        """Return views of all fields, and how many modes they share, for `selection.to_json`."""
        return {name: as_view(own) for name, own in self._fields.items()}, self.rank

    # Elements.

    def compute(
        self, *, threads: SupportsIndex | None = None, cancel: Cancel | None = None, scheduler: object = None
    ) -> "Records":
        """Return the records with views computed, as `View.compute` does it; tensors stay as they are.

        Views of the same elements are computed once.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> e = tw.records({"x": [1, 2], "y": [3, 4]})
        >>> tw.concat([e, e[:1]]).compute().to_dict()
        {'x': [1, 2, 1], 'y': [3, 4, 3]}
        """
        known: dict[Expression, Tensor[Any]] = {}
        made: dict[str, Field] = {}
        for name, own in self._fields.items():
            if type(own) is Tensor:
                made[name] = own
            elif (same := known.get(own.expression)) is not None:
                made[name] = same.copy()
            else:
                computed = own.compute(threads=threads, cancel=cancel, scheduler=scheduler)
                made[name] = known[own.expression] = computed
        return _shared(made, self.rank)

    def plan(self) -> RecordsPlan:
        """Return what computing the views writes and reads; nothing is read for it.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> e = tw.records({"x": [1, 2], "y": [3, 4]})
        >>> plan = tw.concat([e, e])[1:3].plan()
        >>> plan.nbytes, plan.names
        (32, ('x', 'y'))
        """
        plans = {name: own.plan() for name, own in self._fields.items() if type(own) is not Tensor}
        return RecordsPlan(tuple(plans), tuple(plans.values()))

    def unpack(self, kind: type[_T]) -> _T:
        """Return an object of a class of attrs, or of a dataclass, whose attributes are the fields.

        Other fields are left out. Types in annotations, ``Tensor[np.float64]``, are checked.

        Raises
        ------
        TensorNameError
            If there is no field for an attribute that has no default.
        DTypeError
            If a field has elements of another type than its attribute says.

        Examples
        --------
        >>> import attrs
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> @attrs.frozen
        ... class Hits:
        ...     adc: tw.Tensor[np.int64]
        >>> tw.records({"adc": [1, 2], "run": [0, 0]}).unpack(Hits).adc.tolist()
        [1, 2]
        """
        return kind(**arguments_of(self._fields, kind))

    def copy(self) -> "Records":
        """Return a copy of the records and all their elements; views are computed."""
        return _shared({name: own.copy() for name, own in self._fields.items()}, self.rank)

    def to_dict(self, *, arrays: bool = False) -> dict[str, Any]:
        """Return the elements of each field in nested lists, by name; with `arrays`, as arrays of NumPy.

        Raises
        ------
        ConversionError
            If `arrays` is true, and a field has rows.
        """
        if arrays:
            return {name: _array_of(name, field) for name, field in self._fields.items()}
        return {name: field.tolist() for name, field in self._fields.items()}

    def to_structured(self) -> "npt.NDArray[np.void]":
        """Return the records as an array of structures, over the shape that all fields start with; a copy.

        Text has a fixed length there, that of the longest element. Bytes are objects.

        Raises
        ------
        ConversionError
            If the shape, or a field, has rows; if a field has fewer modes than the shape; if text has nulls
            or ends with a NUL.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> found = tw.records({"e": [1.0, 2.0], "xyz": np.zeros((2, 3))}).to_structured()
        >>> found.dtype.names, found["xyz"].shape
        (('e', 'xyz'), (2, 3))
        """
        short = next((name for name, field in self._fields.items() if field.rank < self.rank), None)
        if short is not None:
            raise ConversionError(f"structures of {self._shape!r} cannot store the field {short!r}")
        arrays = {name: _fixed(own) for name, own in self.to_dict(arrays=True).items()}
        kinds = [(name, own.dtype, own.shape[self.rank :]) for name, own in arrays.items()]
        found = np.empty(self._shape.extents, kinds)
        for name, own in arrays.items():
            assign_elements(found[name], own)
        return found

    def tolist(self) -> Any:  # noqa: ANN401 - a dict of what the fields have
        """Return a dict for each row; of one row, a dict.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.records({"x": [1, 2], "y": tw.jagged([[3], []])}).tolist()
        [{'x': 1, 'y': [3]}, {'x': 2, 'y': []}]
        """
        if not self.rank:
            return self.to_dict()
        columns = [own.tolist() if own.rank else repeat(own.item(), len(self)) for own in self.values()]
        return [dict(zip(self._fields, row, strict=True)) for row in zip(*columns, strict=True)]

    def array_equal(self, other: "Records", *, equal_nan: bool = False) -> bool:
        """Return True if names, their order, shapes and elements are equal.

        Raises
        ------
        ConversionError
            If `other` is not `Records`.
        """
        check_kind_of(other, Records, "records are compared with records")
        return (
            self.names == other.names
            and self._shape == other._shape
            and all(
                one.array_equal(two, equal_nan=equal_nan)
                for one, two in zip(self.values(), other.values(), strict=True)
            )
        )

    def __copy__(self) -> "Records":
        return _made(self._fields, self._shape)

    def __deepcopy__(self, memo: object) -> "Records":
        return self.copy()

    def __reduce__(self) -> "tuple[Callable[..., Records], tuple[dict[str, Field], int]]":
        return _shared, (dict(self._fields), self.rank)

    def __dask_tokenize__(self) -> object:
        return token_of("Records", self.rank, *[part for item in self._fields.items() for part in item])

    def __sizeof__(self) -> int:
        # Dask asks for this before it moves data.
        return object.__sizeof__(self) + self.nbytes

    def __repr__(self) -> str:
        from tensorwrapper.fields._printing import records_text  # noqa: PLC0415 - few are shown

        return records_text(self._fields, self._shape, self.nbytes)

    def _repr_html_(self) -> str:
        """Return what notebooks show: a line for each field, and a few facts."""
        from tensorwrapper.fields._printing import records_html  # noqa: PLC0415 - few are shown

        return records_html(self._fields, self._shape, self.nbytes)


hint(Records, "Records")
_set_fields, _set_shape = slot_setters(Records, "_fields", "_shape")


def _made(fields: Fields, shape: Shape[Any]) -> Records:
    """Return records of fields that share a shape, without a check."""
    made: Records = object.__new__(Records)
    _set_fields(made, fields)
    _set_shape(made, shape)
    return made


def as_records(value: object) -> Any:  # noqa: ANN401 - whatever is given
    """Return records of views for records at a server; any other value as it is."""
    if type(value) is Records or not hasattr(type(value), "__fields__"):
        return value
    return _shared(*cast("Any", value).__fields__())


def _array_of(name: str, field: Field) -> "npt.NDArray[Any]":
    try:
        return np.asarray(field)
    except Exception as error:
        error.add_note(f"in the field {name!r}")
        raise


def _fixed(array: "npt.NDArray[Any]") -> "npt.NDArray[Any]":
    """Return an array that structures can have: StringDType is not supported there."""
    if array.dtype.kind != "T":
        return array
    from tensorwrapper.buffer import strings_from_numpy, strings_to_numpy  # noqa: PLC0415 - for strings alone

    return strings_to_numpy(strings_from_numpy(array), "U").reshape(array.shape)


def _shared(fields: Fields, rank: int) -> Records:
    """Return records of fields that agree in so many modes; equal shapes become one."""
    fields = share(fields)
    longest = next(own for own in fields.values() if own.rank >= rank)
    return _made(fields, shape_among(fields, leading(longest.shape, rank)))
