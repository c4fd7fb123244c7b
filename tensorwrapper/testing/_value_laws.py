"""Laws of a value: equality whatever the representation, hash, copies, pickles, threads, text."""

import copy
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from tensorwrapper.shape import Shape
from tensorwrapper.testing._laws import Laws, rarely
from tensorwrapper.testing._strategies import shapes
from tensorwrapper.testing._tree import Tree, rows_of, tree_of

_THREADS = 4
_ANY = shapes(max_rank=3)
_WAYS = ["rebuilt", "cells", "window", "moved", "pickle", "copy"]
_EXACT = ["pickle", "copy"]


class ValueLaws(Laws):
    """Abstract: `shapes`. A shape is a value: its storage and the order of calls make no difference."""

    __slots__ = ()

    def test_a_shape_equals_itself_however_it_is_stored(self, shape: Shape) -> None:
        """The same shape as a copy, as a view of another and as rows is equal, both ways, with one hash."""
        for way in _WAYS:
            same = _again(shape, way)
            assert same.is_congruent(shape)
            assert shape.is_congruent(same)
            assert shape.same_elements(same)
            # Rows cannot represent values stored behind an empty mode.
            if way in _EXACT or _is_full(shape):
                assert same == shape
                assert shape == same
                assert hash(same) == hash(shape)
                assert same.implementation == shape.implementation
                assert hash(same.implementation) == hash(shape.implementation)
        strangers: list[object] = [None, 0, "text", shape.implementation]
        for other in strangers:
            assert shape != other
            assert other != shape
        for extents in ((), (0,) * shape.rank):
            # A tuple of extents equals that box, but no shape with an origin, names or rows.
            assert (shape == extents) == (extents == shape) == (shape == Shape(*extents))
            assert shape != extents or hash(shape) == hash(extents)

    def test_two_shapes_are_equal_if_they_agree_at_every_prefix(
        self, shape: Shape, other: Shape, data: DataObject
    ) -> None:
        """Test that kind, layers, extents, origins at every prefix, and values behind empty modes decide."""
        choice = data.draw(st.integers(0, 3))
        if choice == 1:
            other = _near(shape, data.draw(st.integers(0, 8)))
        elif choice == 2:
            other = _again(shape, data.draw(st.sampled_from(_WAYS)))
        elif choice == 3:
            other = data.draw(_ANY)
        agree = _facts(shape) == _facts(other)

        equal = shape == other
        assert equal == (other == shape)
        assert (shape != other) == (other != shape) == (not equal)
        # Shapes with empty modes may agree at every prefix, but differ in values stored behind those modes.
        assert equal == agree or (agree and not _is_full(shape))
        assert not equal or hash(shape) == hash(other)
        assert len({shape, other}) == (1 if equal else 2)
        congruent = _facts(shape, origins=False) == _facts(other, origins=False)
        assert shape.is_congruent(other) == other.is_congruent(shape) == congruent
        elements = shape.rank == other.rank and set(shape.indices()) == set(other.indices())
        assert shape.same_elements(other) == other.same_elements(shape) == elements

    def test_copies_and_pickles_are_equal_and_carry_no_caches(self, shape: Shape) -> None:
        """Test that every copy is of the same class and equal, and has no cached values."""
        before = pickle.dumps(shape)
        _use(shape)

        assert pickle.dumps(shape) == before
        twins = [pickle.loads(pickle.dumps(shape, k)) for k in range(2, pickle.HIGHEST_PROTOCOL + 1)]
        for twin in (*twins, copy.copy(shape), copy.deepcopy(shape)):
            assert twin == shape
            assert hash(twin) == hash(shape)
            assert type(twin.implementation) is type(shape.implementation)
            assert tree_of(twin) == tree_of(shape)
        value = shape.copy()
        assert value == shape
        assert value.copy() is value

    @rarely
    def test_threads_that_ask_first_get_one_answer(self, shape: Shape) -> None:
        """Test that cached values may be computed by several threads at once."""
        expected, fresh = _use(shape), pickle.loads(pickle.dumps(shape))
        ready = threading.Barrier(_THREADS)

        def ask(_number: int) -> object:
            ready.wait()
            return _use(fresh)

        with ThreadPoolExecutor(_THREADS) as pool:
            assert all(answer == expected for answer in pool.map(ask, range(_THREADS)))

    @rarely
    def test_nothing_can_be_set(self, shape: Shape) -> None:
        """Test that no attribute, existing or new, can be set or deleted."""
        for value in (shape, shape.implementation):
            slots = [name for base in type(value).__mro__ for name in vars(base).get("__slots__", ())]
            for name in {*dir(value), *slots, "another"} - set(dir(object)) - {"__weakref__"}:
                with pytest.raises(AttributeError):
                    setattr(value, name, None)
                with pytest.raises(AttributeError):
                    delattr(value, name)

    @rarely
    def test_dask_has_one_token_for_a_value(self, shape: Shape) -> None:
        """Test that equal new values have one token, before and after use; skipped without Dask."""
        tokenize = cast("Callable[[object], str]", pytest.importorskip("dask.base").tokenize)
        fresh = pickle.dumps(shape)
        token = tokenize(pickle.loads(fresh))
        _use(shape)

        assert tokenize(shape) == token
        assert tokenize(shape.implementation) == tokenize(pickle.loads(fresh).implementation)

    def test_text_makes_the_shape_again(self, shape: Shape) -> None:
        """Test that `parse` and `from_json` read written text; `repr` is a call, unless it is cut short."""
        assert Shape.parse(format(shape, "full")) == shape
        assert Shape.from_json(shape.to_json()) == shape
        if "..." not in str(shape):
            assert Shape.parse(str(shape)) == shape
        if "..." not in repr(shape):
            # The evaluated text was created here, from integers.
            assert eval(repr(shape), {"Shape": Shape}) == shape  # noqa: S307


def _is_full(shape: Shape) -> bool:
    """Return True if no mode is empty under any prefix. Only behind an empty mode can shapes store more."""
    return all(shape.extent_bounds(mode)[0] for mode in range(shape.rank))


def _again(shape: Shape, way: str) -> Shape:
    """Return the same shape stored in another way."""
    flat = shape.flatten()
    if way == "rebuilt":
        if flat.is_box:
            twin = Shape.smooth(flat.extents, origin=flat.origin)
        else:
            tree = tree_of(flat)
            twin = flat if tree is None else rows_of(tree, flat.rank)
    elif way == "cells" and not flat.is_box:
        table = flat.cell_table()
        twin = Shape.from_cells(flat.outer(), table.extents, origins=table.origins)
    elif way == "window" and flat.rank:
        # A view of a larger parent.
        twin = Shape.jagged([flat, flat])[1]
    elif way == "moved":
        twin = flat.translate_by([1] * flat.rank).translate_by([-1] * flat.rank)
    elif way == "pickle":
        twin = pickle.loads(pickle.dumps(flat))
    else:
        twin = flat[...].copy()
    return twin if not shape.has_layers else Shape.nested(twin, layers=shape.layers)


def _near(shape: Shape, k: int) -> Shape:
    """Return a shape that differs slightly from this one, or only in its kind."""
    if k == 0:
        return shape.as_smooth()
    if k == 1:
        return shape.flatten()
    if k < 4:
        return Shape.nested(shape, layers=(shape.rank, *[0] * (k - 2)))
    if k < 8:
        return shape.translate_by([int(mode == k - 4) for mode in range(shape.rank)])
    if not shape.rank:
        return shape
    start, extent = shape.origin_at(()), shape.extent_at(())
    return shape.slice_outer(start, start + max(extent - 1, 0))


def _facts(shape: Shape, *, origins: bool = True) -> object:
    """Return the values that equality compares; for a box also extents that no prefix reaches."""
    flat = shape.flatten()
    if flat.is_box:
        index_function: object = (flat.extents, flat.origin if origins else None)
    else:
        index_function = _form(tree_of(flat), origins=origins)
    return shape.kind, shape.layers, flat.kind, index_function


def _form(tree: Tree | None, *, origins: bool) -> object:
    if tree is None:
        return None
    children = tuple([_form(child, origins=origins) for child in tree.children])
    return (tree.origin if origins else None, children)


def _use(shape: Shape) -> object:
    """Access every cached property, and return the values."""
    everything = np.arange(shape.size, dtype=np.int64)
    return (
        hash(shape),
        str(shape),
        shape.size,
        [shape.dependencies(mode) for mode in range(shape.rank)],
        shape.as_smooth().extents,
        shape.indices_at(everything).tolist(),
        list(shape.indices(order="F")),
        [shape.ordinal(index) for index in shape.indices()],
    )
