"""Rows of records: a key is read once, and where its rows lie is found once for each layout."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from tensorwrapper.buffer.lowlevel import pack_together, packed_layout
from tensorwrapper.errors import ExtentMismatchError, RankError, TooManyIndicesError
from tensorwrapper.fields._field import Field, Fields, is_plain, over
from tensorwrapper.fields._shared_shape import leading, shape_among
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import is_basic, to_items
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import key_of_names, names_of
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import as_computed, chosen_layout, is_ragged, make_tensor
from tensorwrapper.typing import Array

__all__ = ["select"]

_Selected = tuple[dict[str, Field], Shape[Any]]


def select(fields: Fields, shape: Shape[Any], key: object) -> _Selected:
    """Return the fields at the rows that a key selects, and the shape that these share.

    A field of fewer modes than the shape gets the parts of the key for the modes that it has.
    """
    if type(key) is int or type(key) is slice:
        _check_count(1, shape)
        return _of_items(fields, shape, (key,), basic=True)
    if isinstance(key, Mapping):
        key = key_of_names(cast("Any", key), names_of(shape), shape.rank)
    key = as_computed(key)
    if is_ragged(key):
        return _of_rows(fields, shape, cast("Tensor[Any]", key))
    basic = is_basic(key)
    if basic:
        given: Any = key
        items: tuple[Any, ...] = given if type(given) is tuple else (given,)
    else:
        items = to_items(_computed_items(key), shape, of_modes=not shape.is_box)
    return _of_items(fields, shape, _spread(items, shape), basic=basic)


def _computed_items(key: object) -> object:
    return tuple(map(as_computed, cast("tuple[object, ...]", key))) if type(key) is tuple else key


def _width(item: object) -> int:
    """Return how many modes an item of a key uses up."""
    if item is None:
        return 0
    mask = isinstance(item, np.ndarray) and cast("Array", item).dtype.kind == "b"
    return cast("Array", item).ndim if mask else 1


def _check_count(count: int, shape: Shape[Any]) -> None:
    if count > shape.rank:
        raise TooManyIndicesError(
            f"{count} indices are too many for the {shape.rank} modes that the fields share: "
            'select a field first, `r["name"][...]`'
        )


def _spread(items: tuple[Any, ...], shape: Shape[Any]) -> tuple[Any, ...]:
    """Return a key without an ellipsis; masks of one mode become positions."""
    dots = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise RankError("a key may have one ellipsis only")
    count = sum([_width(item) for item in items if item is not Ellipsis])
    _check_count(count, shape)
    if dots:
        whole = (slice(None),) * (shape.rank - count)
        items = (*items[: dots[0]], *whole, *items[dots[0] + 1 :])
    return items


def _for_modes(items: tuple[Any, ...], modes: int, name: str, *, box: bool) -> tuple[Any, ...]:
    """Return the parts of a key for the first modes, which are all that a field has.

    Raises
    ------
    ExtentMismatchError
        If what the whole key selects would not begin with what these parts do, as of points of all modes.
    """
    count, left = 0, modes
    while left > 0 and count < len(items):
        left -= _width(items[count])
        count += 1
    arrays = [place for place, item in enumerate(items) if isinstance(item, np.ndarray)]
    if box and arrays and (left < 0 or not _begins(items, arrays, count)):
        raise ExtentMismatchError(
            f"the key selects points of more modes than the {modes} of the field {name!r}: "
            f"`r.drop({name!r})` has rows that it selects"
        )
    return items[:count]


def _begins(items: tuple[Any, ...], arrays: list[int], count: int) -> bool:
    """Tell whether a key selects what begins with what its first items select, by NumPy's rules."""
    fixed = [place for place, item in enumerate(items) if not isinstance(item, slice | None)]
    if fixed[-1] < count:
        return True
    if fixed[-1] - fixed[0] >= len(fixed):
        return False  # The modes of the points come first.
    points = [_points(items[place]) for place in arrays]
    own = points[: sum([place < count for place in arrays])]
    try:
        return not own or np.broadcast_shapes(*own) == np.broadcast_shapes(*points)
    except ValueError:
        return True  # Whoever selects with them says what does not fit.


def _points(item: Array) -> tuple[int, ...]:
    return (int(np.count_nonzero(item)),) if item.dtype.kind == "b" else item.shape


def _of_items(fields: Fields, shape: Shape[Any], items: tuple[Any, ...], *, basic: bool) -> _Selected:
    """Return what a key with an item for each mode selects, the first ones of fields with fewer modes."""
    rank = shape.rank
    made: dict[str, Field] = {}
    known: dict[int, Any] = {}
    for name, field in fields.items():
        own = items if field.rank >= rank else _for_modes(items, field.rank, name, box=shape.is_box)
        if type(field) is not Tensor:
            made[name] = field[own]
        elif basic:
            layout = field.layout
            found = known.get(id(layout))
            if found is None:
                known[id(layout)] = found = layout[own]
            made[name] = make_tensor(found, field.buffer)
        elif field.shape.is_box:
            made[name] = field[own]
        else:
            known.setdefault(id(field.layout), (chosen_layout(field.layout, own), []))[1].append(name)
            made[name] = field
    if not basic:
        _pack(made, known)
    return _with_shape(fields, shape, made)


def _of_rows(fields: Fields, shape: Shape[Any], key: Tensor[Any]) -> _Selected:
    """Return what a jagged mask, or jagged positions, select: fields of fewer modes are left alone."""
    _check_count(key.rank, shape)
    made: dict[str, Field] = {}
    known: dict[int, tuple[Layout[Any], list[str]]] = {}
    for name, field in fields.items():
        made[name] = field
        if field.rank < key.rank:
            continue
        if type(field) is not Tensor:
            made[name] = field[key]
            continue
        layout = field.layout
        if id(layout) not in known:
            known[id(layout)] = chosen_layout(layout, key), []
        known[id(layout)][1].append(name)
    _pack(made, known)
    return _with_shape(fields, shape, made)


def _pack(made: dict[str, Field], chosen: "dict[int, tuple[Layout[Any], list[str]]]") -> None:
    """Put the elements that layouts choose in the place of the fields that have these layouts."""
    for layout, names in chosen.values():
        buffers = [cast("Tensor[Any]", made[name]).buffer for name in names]
        packed = packed_layout(layout.shape)
        for name, buffer in zip(names, pack_together(buffers, layout.implementation), strict=True):
            made[name] = make_tensor(packed, buffer)


def _with_shape(fields: Fields, shape: Shape[Any], made: dict[str, Field]) -> _Selected:
    """Return what was selected with the shape that it shares, which all fields of that shape have as one."""
    name = next(name for name, field in fields.items() if field.rank >= shape.rank)
    exact = next((name for name, field in fields.items() if field.shape is shape), None)
    name = name if exact is None else exact
    modes = made[name].rank - fields[name].rank + shape.rank
    found = leading(made[name].shape, modes)
    for other, field in made.items():
        own = field.shape
        if own is not found and fields[other].shape is shape and is_plain(own):
            made[other] = over(field, found)
    return made, found if exact is not None else shape_among(made, found)
