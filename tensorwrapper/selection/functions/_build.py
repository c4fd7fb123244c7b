"""Make views: `as_view` of a source, and the functions that combine views."""

from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    Protocol,
    SupportsIndex,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
    overload,
)

import numpy as np
import numpy.typing as npt

from tensorwrapper._error_text import brief
from tensorwrapper._hints import answered, wrong_call
from tensorwrapper._value_class import evolve
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    JaggedModeError,
    RankError,
    StringDataError,
    TensorWrapperError,
)
from tensorwrapper.layout import Boundary, Layout
from tensorwrapper.layout.lowlevel import new_row_major, wrap_layout
from tensorwrapper.selection._view import View
from tensorwrapper.selection.expressions._expression import Expression, Node, at_zero, whole
from tensorwrapper.selection.expressions._joining import Interleaving, Joining, Stacking
from tensorwrapper.selection.expressions._source_node import reading_of
from tensorwrapper.selection.jagged._rows import joined_rows, put_together_rows, shape_of_turns
from tensorwrapper.selection.plans._nulls import check_joined_fills
from tensorwrapper.selection.sources._arrays import ArraySource, LazyArray, is_lazy
from tensorwrapper.selection.sources._read_source import is_source
from tensorwrapper.selection.sources._source import HasSource, Source, TensorSource
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.shape.lowlevel import ModeNames, OperandShapes, agreed_names, mode_of, names_of
from tensorwrapper.tensor import Tensor, as_tensor, strings
from tensorwrapper.tensor.lowlevel import TensorCommon, has_tensor, promoted
from tensorwrapper.typing import Extents, Index, Integer, Modes, UnknownRank
from tensorwrapper.typing import IndexT_co as J
from tensorwrapper.typing import ScalarT_co as S


def lie_at_zero(parts: Sequence[Expression]) -> bool:
    """Return True if all parts count from zero in every mode, and none names a mode: most do."""
    for part in parts:
        if part.layout.implementation.names is not None:
            return False
        origin = part.origin if part.is_box else origin_of_rows(part.shape)
        if origin is None or any(origin):
            return False
    return True


def given_shapes(given: Sequence[object], parts: Sequence[Expression]) -> list[OperandShapes.Given]:
    """Return the shapes of operands, as `OperandShapes.fit` takes them: lists and arrays lie nowhere."""
    if lie_at_zero(parts):
        return [part.extents if part.is_box else part.shape for part in parts]
    return [_given_shape(item, part) for item, part in zip(given, parts, strict=True)]


def _given_shape(given: object, part: Expression) -> OperandShapes.Given:
    if _is_placed(given):
        return part.shape
    if part.is_box and part.layout.implementation.names is None:
        return part.extents
    return OperandShapes.Unplaced(part.shape)


def lies_at(given: object, part: Expression) -> Index | None:
    """Return the origin of an operand; None for lists and arrays."""
    if not _is_placed(given):
        return None
    return part.origin if part.is_box else origin_of_rows(part.shape)


def _is_placed(given: object) -> bool:
    """Return True if an operand has indices, as tensors and sources do."""
    return isinstance(given, TensorCommon) or is_source(given) or hasattr(type(given), "as_source")


def joint_origin(
    extents: Extents,
    parts: Sequence[tuple[Extents, Index | None]],
    what: str,
    *,
    mode: int | None = None,
) -> Index:
    """Return the origin of a result: for each mode that of the parts that are not broadcast along it.

    Parameters
    ----------
    extents
        Of the result.
    parts
        Extents and origin of each, aligned at the last mode.
    what
        Name of the operation, for the error.
    mode
        The one along which they follow one another: the first part says where it starts.

    Raises
    ------
    ExtentMismatchError
        If a mode starts elsewhere in two parts.
    """
    rank = len(extents)
    found: list[int | None] = [None] * rank
    for number, (own, origin) in enumerate(parts):
        if origin is None:
            continue
        for m, (extent, start) in enumerate(zip(own, origin, strict=True), rank - len(own)):
            if m == mode:
                if not number:
                    found[m] = start
            elif extent == extents[m]:  # else broadcast from one index
                if found[m] not in (None, start):
                    raise ExtentMismatchError(
                        f"{what}: mode {m} starts at {cast('int', found[m])} in one operand and at {start} "
                        f"in operand {number}; v[...] of each starts at zero and combines by position"
                    )
                found[m] = start
    return tuple([start or 0 for start in found])


def origin_of_rows(shape: Shape) -> Index | None:
    """Return the first index of rows; None if a mode has no single origin."""
    try:
        origin: Index = shape.origin
    except JaggedModeError:
        return None
    return origin


def at_origin(view: Expression, origin: Index) -> Expression:
    """Return the view of a whole node, whose names it keeps, at an origin."""
    if not any(origin):
        return view
    if not view.is_box:
        return evolve(view, layout=Layout(view.shape.translate_to(origin)))
    held = view.layout.implementation
    moved = new_row_major(view.extents, origin)
    return evolve(view, layout=wrap_layout(moved, held.names))


def at_shape(view: Expression, shape: Shape) -> Expression:
    """Return the rows of a whole node at the indices of a shape that has as many, with its names."""
    origin = origin_of_rows(shape)
    if origin is not None and not any(origin) and names_of(shape) is None:
        return view
    return evolve(view, layout=Layout(shape))


_NUMBERS: Final = "biufcmM"
_S = TypeVar("_S", bound=np.generic)
_J_co = TypeVar("_J_co", covariant=True)

ViewLike: TypeAlias = "View[Any] | Tensor[Any] | Source | HasSource | LazyArray | npt.ArrayLike"
"""Argument of `as_view`: a view, a tensor, another source, or an argument of `as_tensor`."""


class HasJoin(Protocol[_J_co]):
    """Objects with a way of joining themselves, such as records of several fields."""

    def __join__(
        self, what: Literal["concat", "stack", "where"], operands: Sequence[Any], mode: int
    ) -> _J_co:
        """Return the result of `concat`, `stack` or `where` for operands of which this is one."""
        ...


def own_join(first: object) -> "Callable[..., Any] | None":
    """Return the `__join__` of an object, if it has one."""
    return cast("HasJoin[Any]", first).__join__ if hasattr(type(first), "__join__") else None


Ranked: TypeAlias = "View[S, J] | Tensor[S, J] | np.ndarray[J, np.dtype[S]]"
"""An object with elements of a known type, and a rank that may be known."""


@overload
def as_view(source: "Ranked[S, J]") -> View[S, J]:
    """Return the view of a whole source; a view as it is."""


@overload
def as_view(source: ViewLike) -> View[Any]: ...
def as_view(source: ViewLike) -> View[Any]:
    """Return the view of a whole source; a view as it is.

    Nothing is read. Lazy arrays of other libraries (datasets of h5py, arrays of Zarr, Dask and xarray, a
    TensorStore, and objects with a shape, a NumPy dtype and slices like these) become an `ArraySource`:
    `compute` reads the needed elements. An object with a method ``as_source`` is read through its result.
    Text becomes a tensor by `strings`, all other values by `as_tensor`.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> from tensorwrapper import selection as sel
    >>> sel.as_view(tw.as_tensor([1, 2, 3]))[::-1].shape
    Shape(3)
    """
    given: Any = source
    kind = type(source)
    if kind is Tensor:
        return View._make(reading_of(TensorSource(given)))
    if kind is View:
        view: View[Any] = given
        return view
    if kind is TensorSource:
        return View._make(reading_of(given))
    if not isinstance(source, np.ndarray):
        made = getattr(type(source), "as_source", None)
        if made is not None:
            found = made(source)
            if isinstance(found, Coroutine):
                found.close()
                raise ConversionError(
                    f"a {type(source).__name__} reads asynchronously: `await t.view()` is a view of it"
                )
            return View(reading_of(found))
        if is_source(source):
            return View(reading_of(source))
        if is_lazy(source):
            return View(reading_of(ArraySource(source)))
    return View(reading_of(TensorSource(_tensor_of(cast("npt.ArrayLike", source)))))


def view_of_operand(value: ViewLike) -> View[Any]:
    """Return the view of an operand.

    Bytes are one value, as for NumPy, and no buffer of numbers. What other libraries count from elsewhere
    (a column of pandas, an array of xarray) goes by position, as it does in operators.
    """
    view = as_view(strings(value) if isinstance(value, bytes) else value)
    if _is_placed(value) or isinstance(value, np.ndarray | list | tuple):
        return view
    part = view._expression
    origin = part.origin if part.is_box else origin_of_rows(part.shape)
    return view.translate_to([0] * len(origin)) if origin and any(origin) else view


def _tensor_of(given: npt.ArrayLike) -> Tensor[Any]:
    if isinstance(given, Coroutine):
        given.close()
        raise ConversionError("a coroutine has no elements: `await` it, and a remote tensor's `view()`")
    try:
        return as_tensor(given)
    except DTypeError as refused:
        try:
            # Lists may have nulls, which no array of text has.
            is_text = isinstance(given, list | tuple) or np.asarray(given).dtype.kind in "SUT"
            found = strings(given) if is_text else None
            if found is not None and found.null_count == found.size and not has_tensor(given):
                found = None  # Nulls alone have no type.
        except StringDataError:
            raise
        except Exception:  # noqa: BLE001 - whatever another library raises says less than what we say
            found = None
        if found is None:
            raise refused from None
        return found


def _of_one_type(parts: Iterable[ViewLike], what: str) -> tuple[list[Expression], list[ViewLike]]:
    """Return expressions cast to the type that NumPy promotes theirs to, and the given views."""
    try:
        found = None if isinstance(parts, str) else iter(parts)
    except TypeError:
        found = None  # such as a class, or an array without modes
    if found is None:
        raise ConversionError(f"{what} needs a list of views, not {brief(parts)}")
    given = [*found]
    views = [view_of_operand(part) for part in given]
    if not views:
        raise ConversionError(f"{what} needs at least one view")
    given_types = [view._expression.node.dtype for view in views]
    dtype = promoted(given_types, what)
    own = [
        (view if given == dtype else view.astype(dtype))._expression
        for view, given in zip(views, given_types, strict=True)
    ]
    check_joined_fills(what, own)
    return own, given


def _own_way(parts: "Iterable[Any]") -> "tuple[Callable[..., Any] | None, Iterable[Any]]":
    """Return the `__join__` of the first part, if it has one, and the parts."""
    if not isinstance(parts, list | tuple) and isinstance(parts, Iterator):
        parts = list(parts)
    first = parts[0] if isinstance(parts, list | tuple) and parts else None
    return own_join(first), parts


def _shapes_of_rows(given: Sequence[ViewLike], parts: Sequence[Expression]) -> list[Shape[Any]]:
    """Return the shapes of rows that are put together; rows of lists lie where the first others do."""
    found = given_shapes(given, parts)
    place = next((origin_of_rows(own) for own in found if isinstance(own, Shape)), None)
    return [
        part.shape
        if isinstance(own, Shape) or place is None or part.shape.rank != len(place)
        else part.shape.translate_to(place)
        for own, part in zip(found, parts, strict=True)
    ]


def _placed(node: Node, names: ModeNames | None, origin: Index) -> View[Any]:
    return View(at_origin(whole(node, names), origin))


def _names_of(parts: list[Expression], what: str) -> ModeNames | None:
    """Return the names of modes that views of one rank agree on; a name and none agree."""
    given = [part.layout.implementation.names for part in parts]
    return agreed_names(given, what) if any(given) else None


def _origin_of(given: Sequence[ViewLike], parts: Sequence[Expression], mode: int | None, what: str) -> Index:
    """Return the origin that boxes agree on; their extents must, too, but for the mode of a join."""
    extents = [part.extents for part in parts]
    places = [lies_at(item, part) for item, part in zip(given, parts, strict=True)]
    first = extents[0]
    along = "" if mode is None else f" along mode {mode}"
    for number, own in enumerate(extents):
        if len(own) != len(first):
            raise RankError(
                f"{what} needs views of one rank: operand 0 has {len(first)} modes, "
                f"operand {number} has {len(own)}"
            )
        for m, (a, b) in enumerate(zip(first, own, strict=True)):
            if a != b and m != mode:
                raise ExtentMismatchError(
                    f"{what}{along}: mode {m} has extent {a} in operand 0, {b} in operand {number}"
                )
    return joint_origin(first, list(zip(extents, places, strict=True)), what, mode=mode)


def _tensors_joined(
    kind: type[Joining | Stacking], parts: Iterable[ViewLike], mode: SupportsIndex
) -> "Joining | Stacking | None":
    """Return tensors and arrays joined, or stacked, if they are boxes at zero that fit as they are."""
    if type(mode) is not int or not isinstance(parts, list | tuple):
        return None
    given, kinds = cast("Sequence[Any]", parts), set(map(type, parts))
    if kinds != {Tensor}:
        if not kinds or not kinds <= {Tensor, np.ndarray}:
            return None
        if any(type(own) is np.ndarray and own.dtype.kind not in _NUMBERS for own in given):
            return None
        given = [as_tensor(own) if type(own) is np.ndarray else own for own in given]
    return kind.of_tensors(given, mode)


@overload
def concat(parts: "Iterable[Ranked[S, J]]", *, mode: Integer = 0) -> View[S, J]:
    """Return the views one after the other along a mode, as NumPy's concatenate, and copy nothing."""


@overload
def concat(parts: "Iterable[HasJoin[_J_co]]", *, mode: Integer = 0) -> _J_co: ...
@overload
def concat(parts: Iterable[ViewLike], *, mode: Integer = 0) -> View[Any]: ...
def concat(parts: "Iterable[Any]", *odd: object, mode: SupportsIndex = 0, **named: object) -> Any:
    """Return the views one after the other along a mode, as NumPy's concatenate, and copy nothing.

    Parameters
    ----------
    parts
        At least one; they agree in all other modes. Their types are promoted as NumPy does.
    mode
        Along which they follow one another; from the end if negative.

    Raises
    ------
    RankError
        If they have different ranks.
    ExtentMismatchError
        If another mode has other extents, or starts elsewhere: the result keeps the origin that views and
        tensors agree on, and along `mode` that of the first.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.concat([[1, 2], [3, 4, 5]])[::-2].compute().tolist()
    [5, 3, 1]
    """
    if odd or named:
        raise wrong_call("selection", "concat", *odd, **named)
    tensors = _tensors_joined(Joining, parts, mode)
    if tensors is not None:
        return View._make(whole(tensors))
    own_way, parts = _own_way(parts)
    if own_way is not None:
        return own_way("concat", parts, mode)
    own, items = _of_one_type(parts, "concat")
    as_they_are = lie_at_zero(own)
    given = own if as_they_are else [at_zero(part) for part in own]
    number = mode_of(mode, given[0].shape.rank)
    if not all(part.is_box for part in given):
        tiles = _tiles_joined(own, number)
        if tiles is not None:
            return tiles
        joined = joined_rows(number, given)
        if as_they_are:
            return View._make(joined)
        return View(at_shape(joined, Shape.concat(_shapes_of_rows(items, own), mode=number)))
    origin = _origin_of(items, own, number, "concat")
    return _placed(Joining.of(number, given), _names_of(own, "concat"), origin)


def _tiles_joined(given: Sequence[Expression], mode: int) -> View[Any] | None:
    """Return boxes in tiles, joined along a mode of their grids, as one; ``None`` if they are none.

    The boxes are joined, so that the result has their tiles, and a box underneath, as each of them.
    """
    tilings: list[Tiling[Any]] = []
    for part in given:
        seen = part.layout.implementation.tiled
        if seen is None:
            return None
        tilings.append(seen.tiling)
    if mode >= tilings[0].rank:
        return None
    if any(any(part.shape.origin) or any(part.shape.names) for part in given):
        return None
    try:
        joined = Tiling.concat(tilings, mode=mode)
    except TensorWrapperError:
        return None
    return concat([View(part).untiled() for part in given], mode=mode).tiled(joined)


@overload
def interleave(parts: "Iterable[Ranked[S, J]]", *, mode: Integer = 0) -> View[S, J]:
    """Return the views in turns along a mode: position p is position ``p div k`` of view ``p mod k``."""


@overload
def interleave(parts: Iterable[ViewLike], *, mode: Integer = 0) -> View[Any]: ...
def interleave(parts: Iterable[ViewLike], *, mode: SupportsIndex = 0) -> View[Any]:
    """Return the views in turns along a mode: position p is position ``p div k`` of view ``p mod k``.

    Parameters
    ----------
    parts
        k views that agree in all other modes. Along the mode all have one extent, or the first ones have
        one position more than the last.
    mode
        Along which they take turns.

    Raises
    ------
    ExtentMismatchError
        If the extents do not fit.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.interleave([[0, 1, 2], [10, 11]]).compute().tolist()
    [0, 10, 1, 11, 2]
    """
    own, items = _of_one_type(parts, "interleave")
    given = [at_zero(part) for part in own]
    number = mode_of(mode, given[0].shape.rank)
    if not all(part.is_box for part in given):
        turns = put_together_rows("interleave", given, number)
        if lie_at_zero(own):
            return View(turns)
        shapes = _shapes_of_rows(items, own)
        first = shapes[0].origin_at(())
        shape = shape_of_turns(shapes).translate_by((first, *[0] * (shapes[0].rank - 1)))
        return View(at_shape(turns, shape))
    origin = _origin_of(items, own, number, "interleave")
    lengths = [part.extents[number] for part in given]
    total, many = sum(lengths), len(lengths)
    wanted = [-((j - total) // many) for j in range(many)]
    if lengths != wanted:
        raise ExtentMismatchError(
            f"views of extents {lengths} along mode {number} do not take turns; {total} positions in {many} "
            f"views are {wanted}"
        )
    return _placed(Interleaving(number, tuple(given)), _names_of(own, "interleave"), origin)


@overload
def stack(parts: "Iterable[Ranked[_S, UnknownRank]]", *, mode: Integer = 0) -> View[_S]:
    """Return the views, all of one shape, under a new mode that counts them."""


@overload
def stack(
    parts: "Iterable[View[_S, tuple[*Modes]] | Tensor[_S, tuple[*Modes]]]", *, mode: Integer = 0
) -> View[_S, tuple[int, *Modes]]: ...
@overload
def stack(parts: "Iterable[HasJoin[_J_co]]", *, mode: Integer = 0) -> _J_co: ...
@overload
def stack(parts: Iterable[ViewLike], *, mode: Integer = 0) -> View[Any]: ...
def stack(parts: "Iterable[Any]", *, mode: SupportsIndex = 0) -> Any:
    """Return the views, all of one shape, under a new mode that counts them.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.stack([[1, 2], [3, 4]], mode=1).compute().tolist()
    [[1, 3], [2, 4]]
    """
    tensors = _tensors_joined(Stacking, parts, mode)
    if tensors is not None:
        return View._make(whole(tensors))
    own_way, parts = _own_way(parts)
    if own_way is not None:
        return own_way("stack", parts, mode)
    own, items = _of_one_type(parts, "stack")
    given = [at_zero(part) for part in own]
    number = mode_of(mode, given[0].shape.rank + 1)
    if not all(part.is_box for part in given):
        shapes = _shapes_of_rows(items, own)
        for shape in shapes[1:]:
            OperandShapes.check_same(shape, shapes[0], "stack")
        stacked = put_together_rows("stack", given, number)
        return View(stacked if lie_at_zero(own) else at_shape(stacked, Shape.stack(shapes, mode=number)))
    origin = _origin_of(items, own, None, "stack")
    names = _names_of(own, "stack")
    if names is not None:
        names = (*names[:number], None, *names[number:])
    return _placed(Stacking(number, tuple(given)), names, (*origin[:number], 0, *origin[number:]))


class Edge(TypedDict, total=False):
    """Elements beyond the ends of a view."""

    boundary: Literal["constant"] | Boundary
    fill_value: object


@overload
def pad(
    source: "Ranked[S, J]", widths: Iterable[tuple[Integer, Integer]], **edge: Unpack[Edge]
) -> View[S, J]:
    """Return a view that goes on beyond its ends, as NumPy's pad; its own elements keep their indices."""


@overload
def pad(source: ViewLike, widths: Iterable[tuple[Integer, Integer]], **edge: Unpack[Edge]) -> View[Any]: ...
def pad(
    source: ViewLike,
    widths: Iterable[tuple[SupportsIndex, SupportsIndex]],
    *,
    boundary: Literal["constant"] | Boundary = "constant",
    fill_value: object = 0,
) -> View[Any]:
    """Return a view that goes on beyond its ends, as NumPy's pad; its own elements keep their indices.

    As `View.pad`, for any argument of `as_view`.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> sel.pad([1, 2, 3], [(2, 1)], fill_value=9).compute().tolist()
    [9, 9, 1, 2, 3, 9]
    """
    return as_view(source).pad(cast("Any", widths), boundary=boundary, fill_value=fill_value)


@overload
def pad_rows(
    source: "Ranked[S, J]", length: Integer, *, fill_value: object = 0, mode: Integer = -1, clip: bool = False
) -> View[S, J]:
    """Return a view in which `mode` has at least `length` indices; the new elements are `fill_value`."""


@overload
def pad_rows(
    source: ViewLike, length: Integer, *, fill_value: object = 0, mode: Integer = -1, clip: bool = False
) -> View[Any]: ...
def pad_rows(
    source: ViewLike,
    length: SupportsIndex,
    *,
    fill_value: object = 0,
    mode: SupportsIndex = -1,
    clip: bool = False,
) -> View[Any]:
    """Return a view in which `mode` has at least `length` indices; the new elements are `fill_value`.

    As `View.pad_rows`, for any argument of `as_view`.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> from tensorwrapper import selection as sel
    >>> sel.pad_rows(tw.jagged([[1, 2, 3], [4]]), 2, fill_value=9).compute().tolist()
    [[1, 2, 3], [4, 9]]
    """
    return as_view(source).pad_rows(length, fill_value=fill_value, mode=mode, clip=clip)


if not TYPE_CHECKING:
    stack, pad = map(answered, (stack, pad))
