"""Selection of rows: keys are read once, and positions are computed once for each layout."""

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, TypeAlias, cast

import numpy as np

from tensorwrapper.buffer.lowlevel import pack_together, packed_layout
from tensorwrapper.errors import ExtentMismatchError, RankError, TooManyIndicesError
from tensorwrapper.fields._field import Field, Fields, is_plain, layout_of, over, with_layout
from tensorwrapper.fields._shared_shape import leading, shape_among, share, with_rows
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import is_basic, to_items
from tensorwrapper.selection import View
from tensorwrapper.selection.lowlevel import same_steps
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import key_of_names, names_of
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import are_points, as_computed, chosen_layout, is_ragged, make_tensor
from tensorwrapper.typing import Array

Selected: TypeAlias = "tuple[dict[str, Field], Shape[Any]]"
"""Fields, and the shape that they share."""


def select(fields: Fields, shape: Shape[Any], key: object) -> Selected:
    """Return the fields at the rows that a key selects, and the shape that these share.

    A field of fewer modes than the shape gets the parts of the key for the modes that it has.
    """
    if type(key) is int or type(key) is slice:
        _check_count(1, fields, shape)
        return _of_items(fields, shape, (key,), basic=True, whole=False)
    if isinstance(key, Mapping):
        key = key_of_names(cast("Any", key), names_of(shape), shape.rank)
    key = as_computed(key)
    if is_ragged(key):
        return _of_rows(fields, shape, cast("Tensor[Any]", key))
    basic = is_basic(key)
    # Of boxes, and of rows with several arrays, a key selects as in NumPy; else along each mode.
    whole = shape.is_box or are_points(key)
    if basic:
        items = _as_items(key)
    else:
        items = to_items(tuple(map(as_computed, _as_items(key))), shape, of_modes=not whole)
    return _of_items(fields, shape, _spread(items, fields, shape), basic=basic, whole=whole)


def _as_items(key: object) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", key) if isinstance(key, tuple) else (key,)  # type: ignore[redundant-cast]


def _width(item: object) -> int:
    """Return how many modes an item of a key uses up."""
    if item is None:
        return 0
    mask = isinstance(item, np.ndarray) and cast("Array", item).dtype.kind == "b"
    return cast("Array", item).ndim if mask else 1


def _check_count(count: int, fields: Fields, shape: Shape[Any]) -> None:
    if count > shape.rank:
        name = next((own for own, field in fields.items() if field.rank >= count), next(iter(fields)))
        raise TooManyIndicesError(
            f"{count} indices are too many for the {shape.rank} modes that the fields share: "
            f"select a field first, `r[{name!r}]`"
        )


def _spread(items: tuple[Any, ...], fields: Fields, shape: Shape[Any]) -> tuple[Any, ...]:
    """Return a key without an ellipsis; masks of one mode become positions."""
    dots = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise RankError("a key may have one ellipsis only")
    count = sum([_width(item) for item in items if item is not Ellipsis])
    _check_count(count, fields, shape)
    if dots:
        whole = (slice(None),) * (shape.rank - count)
        items = (*items[: dots[0]], *whole, *items[dots[0] + 1 :])
    return items


def _for_modes(items: tuple[Any, ...], modes: int, name: str, *, whole: bool) -> tuple[Any, ...]:
    """Return the parts of a key for the first modes, which are all that a field has.

    Raises
    ------
    ExtentMismatchError
        If the key selects points of more modes: the field has one element for several of them.
    """
    count, left = 0, modes
    while left > 0 and count < len(items):
        left -= _width(items[count])
        count += 1
    arrays = [place for place, item in enumerate(items) if isinstance(item, np.ndarray)]
    if whole and arrays and (left < 0 or not _begins(items, arrays, count)):
        raise ExtentMismatchError(
            f"the key selects points of more modes than the {modes} of the field {name!r}: "
            f"`r.drop({name!r})` has rows that it selects"
        )
    return items[:count]


def _begins(items: tuple[Any, ...], arrays: list[int], count: int) -> bool:
    """Return True if the result of a key begins with the result of its first items, by NumPy's rules."""
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
        return True  # The selection itself raises the error.


def _points(item: Array) -> tuple[int, ...]:
    return (int(np.count_nonzero(item)),) if item.dtype.kind == "b" else item.shape


_Groups: TypeAlias = "list[tuple[Layout[Any], list[str]]]"
"""Layouts, and the names of the fields that have each."""


def _groups(fields: Fields) -> tuple[_Groups, _Groups]:
    """Return the names of the tensors of each layout, and those of the views."""
    tensors: dict[int, tuple[Layout[Any], list[str]]] = {}
    views: dict[int, tuple[Layout[Any], list[str]]] = {}
    for name, field in fields.items():
        groups, layout = (tensors, field.layout) if type(field) is Tensor else (views, layout_of(field))
        group = groups.get(id(layout))
        if group is None:
            groups[id(layout)] = layout, [name]
        else:
            group[1].append(name)
    return list(tensors.values()), list(views.values())


def _see(made: dict[str, Field], names: list[str], operation: Callable[[Any], View[Any]]) -> None:
    """Apply an operation to views of one layout; new layouts are computed once."""
    first = cast("View[Any]", made[names[0]])
    after = operation(first)
    for name in names:
        view = cast("View[Any]", made[name])
        seen = after if view is first else same_steps(view, first, after)
        made[name] = operation(view) if seen is None else seen


def _of_items(
    fields: Fields, shape: Shape[Any], items: tuple[Any, ...], *, basic: bool, whole: bool
) -> Selected:
    """Return what a key with an item for each mode selects, the first ones of fields with fewer modes.

    If it selects as a `whole`, its arrays are points, and else positions along their modes.
    """
    groups, views = _groups(fields)
    made = dict(fields)
    rank = shape.rank
    for layout, names in groups:
        modes = layout.implementation.rank
        own = items if modes >= rank else _for_modes(items, modes, names[0], whole=whole)
        if basic:
            _place(made, names, layout[own])
        elif whole or layout.shape.is_box:
            for name in names:
                made[name] = made[name][own]
        else:
            _pack(made, names, chosen_layout(layout, own))
    for layout, names in views:
        modes = layout.implementation.rank
        own = items if modes >= rank else _for_modes(items, modes, names[0], whole=whole)
        _see(made, names, itemgetter(own[0] if len(own) == 1 else own))
    made, found = _with_shape(fields, shape, made, groups + views)
    return (share(with_rows(made, found)) if any(item is None for item in items) else made), found


def _of_rows(fields: Fields, shape: Shape[Any], key: Tensor[Any]) -> Selected:
    """Return what a jagged mask, or jagged positions, select: fields of fewer modes are left alone."""
    _check_count(key.rank, fields, shape)
    groups, views = _groups(fields)
    made = dict(fields)
    for layout, names in groups:
        if layout.implementation.rank >= key.rank:
            _pack(made, names, chosen_layout(layout, key))
    for layout, names in views:
        if layout.implementation.rank >= key.rank:
            _see(made, names, itemgetter(key))
    return _with_shape(fields, shape, made, groups + views)


def by_layout(
    fields: Fields,
    shape: Shape[Any],
    of_layout: Callable[[Layout[Any]], Layout[Any]],
    of_view: Callable[[Any], View[Any]],
) -> Selected:
    """Return the same elements under what an operation makes of each layout, which is done once."""
    groups, views = _groups(fields)
    made = dict(fields)
    for layout, names in groups:
        _place(made, names, of_layout(layout))
    for _, names in views:
        _see(made, names, of_view)
    return _with_shape(fields, shape, made, groups + views)


def _place(made: dict[str, Field], names: list[str], layout: Layout[Any]) -> None:
    """Give fields another layout over their buffers."""
    for name in names:
        made[name] = make_tensor(layout, cast("Tensor[Any]", made[name]).buffer)


def _pack(made: dict[str, Field], names: list[str], layout: Layout[Any]) -> None:
    """Replace fields by packed copies of the elements that a layout reaches."""
    buffers = [cast("Tensor[Any]", made[name]).buffer for name in names]
    held = layout.implementation
    if held.layers or held.tiled is not None:
        for name, buffer in zip(names, buffers, strict=True):
            made[name] = make_tensor(layout, buffer).copy()
        return
    packed = packed_layout(layout.shape)
    for name, buffer in zip(names, pack_together(buffers, held), strict=True):
        made[name] = make_tensor(packed, buffer)


def _with_shape(fields: Fields, shape: Shape[Any], made: dict[str, Field], groups: _Groups) -> Selected:
    """Return what was selected with the shape that it shares, which all fields of that shape have as one."""
    exact = [names for _, names in groups if fields[names[0]].shape is shape]
    if not exact:
        name = next(name for name, field in fields.items() if field.rank >= shape.rank)
        found = leading(made[name].shape, made[name].rank - fields[name].rank + shape.rank)
        return made, shape_among(made, found)
    found = made[exact[0][0]].shape
    for names in exact:
        if made[names[0]].shape is not found and is_plain(found):
            _move(made, names, found)
    return made, found


def _move(made: dict[str, Field], names: list[str], shape: Shape[Any]) -> None:
    """Put fields over an equal shape; those of one layout share the new one."""
    before = layout_of(made[names[0]])
    after = layout_of(over(made[names[0]], shape))
    for name in names:
        field = made[name]
        made[name] = with_layout(field, after) if layout_of(field) is before else over(field, shape)
