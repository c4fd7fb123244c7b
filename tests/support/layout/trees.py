"""A model of layouts over jagged shapes: nested lists of the offsets of cells, which are NumPy arrays."""

import numpy as np


def tree_of(layout):
    """The offsets of a layout over a jagged shape, asked for one by one."""
    shape = layout.shape

    def descend(prefix):
        if len(prefix) == shape.outer_rank:
            cell = shape.chip(*prefix)
            places = [layout.offset_of(prefix + index) for index in cell.indices()]
            return np.array(places, dtype=np.int64).reshape(cell.extents)
        start = shape.origin_at(prefix)
        return [descend((*prefix, start + k)) for k in range(shape.extent_at(prefix))]

    return descend(())


def expanded(key, rank):
    """One item per mode and per new mode."""
    items = list(key) if isinstance(key, tuple) else [key]
    given = sum(item is not None and item is not Ellipsis for item in items)
    if given > rank:
        raise IndexError("too many indices")
    place = items.index(Ellipsis) if Ellipsis in items else len(items)
    return items[:place] + [slice(None)] * (rank - given) + items[place + 1 :]


def select(tree, items):
    """What the items of a key select of a tree, row by row."""
    if not isinstance(tree, list):
        return tree[tuple(items)]
    head, *rest = items
    if head is None:
        return [select(tree, rest)]
    if isinstance(head, slice):
        return [select(child, rest) for child in tree[head]]
    return select(tree[head], rest)


def places_in(tree, prefix=()):
    """Position to offset, in row-major order."""
    if isinstance(tree, list):
        found = {}
        for k, child in enumerate(tree):
            found |= places_in(child, (*prefix, k))
        return found
    tree = np.asarray(tree)
    return {prefix + index: int(tree[index]) for index in np.ndindex(tree.shape)}


def assert_extents(tree, shape, prefix=()):
    """Check the extent under every position: also where there is no element."""
    if isinstance(tree, list):
        assert shape.extent_at(prefix) == len(tree)
        for k, child in enumerate(tree):
            assert_extents(child, shape, (*prefix, k))
        return
    for extent in np.shape(tree):
        assert shape.extent_at(prefix) == extent
        if not extent:
            return
        prefix = (*prefix, 0)


def check_layout(layout, expected):
    """Check all answers of a layout against index to offset, in row-major order."""
    shape, places = layout.shape, list(expected.values())
    assert list(shape.indices()) == list(expected)
    assert [layout.offset_of(index) for index in expected] == places
    assert layout.to_numpy().ravel().tolist() == places
    table = np.array(list(expected), dtype=np.int64).reshape(len(places), shape.rank)
    assert layout.offsets_of(table).tolist() == places
    assert layout.bounds() == ((min(places), max(places)) if places else (0, -1))
    assert layout.span == (max(places) - min(places) + 1 if places else 0)
    assert layout.is_injective == (len(set(places)) == len(places))
    if places:
        assert layout.offset == places[0]
        assert layout.is_contiguous == (places == list(range(places[0], places[0] + len(places))))
    homes = {}
    for index, place in expected.items():
        homes.setdefault(place, []).append(index)
    assert {place: layout.index_of(place) for place in homes} == {p: found[0] for p, found in homes.items()}
    return homes
