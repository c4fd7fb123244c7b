"""The contract of nodes: guarantees for views of any node."""

import pickle
from abc import ABC, abstractmethod
from itertools import islice, product
from types import EllipsisType
from typing import Any

import numpy as np

from tensorwrapper.selection import Node, View, as_view, concat, from_json, sources, to_json
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array

_ROUTED = 200  # cells whose routes are checked


class NodeContract(ABC):
    """Abstract: `node`, one node with a few elements, and `expected`, its elements.

    Derive a class that pytest collects; every method is one law. A law that cannot hold is switched off by
    name: ``test_... = None``. Register a node that is written to JSON before the tests run.

    Examples
    --------
    >>> import numpy as np
    >>> from tensorwrapper import selection as sel
    >>> class TestConcat(NodeContract):
    ...     def node(self):
    ...         return sel.concat([[1, 2], [3]]).expression.node
    ...     def expected(self):
    ...         return np.array([1, 2, 3])
    >>> TestConcat().test_every_part_has_the_elements_of_the_whole()
    """

    __slots__ = ()

    @abstractmethod
    def node(self) -> Node:
        """Return the node: the same one, or an equal one, each time."""

    @abstractmethod
    def expected(self) -> Array:
        """Return all elements, as an array of the extents."""

    def view(self) -> View[Any]:
        """Return the view of all elements, from index zero on."""
        return View(self.node().all())[...]

    def test_extents_and_type_are_those_of_the_elements(self) -> None:
        """Test that ``extents`` and ``dtype`` are those of the computed elements."""
        node, expected = self.node(), self.expected()
        assert self.view().shape.extents == expected.shape
        assert node.dtype == expected.dtype
        assert node.all().dtype == expected.dtype

    def test_values_are_of_its_type_and_fill_the_places(self) -> None:
        """Test that ``values`` has the dtype and one element per position, for a box and for single cells."""
        node, expected = self.node(), self.expected()
        own = [part.extents for part in node.operands]
        if type(node).values is Node.values or any(extents != node.extents for extents in own):
            return
        given = [np.asarray(View(part).compute()[...]) for part in node.operands]
        box = np.meshgrid(*map(np.arange, expected.shape), indexing="ij", sparse=True)
        cells = [own.reshape(-1) for own in np.indices(expected.shape)]
        flat = expected.reshape(-1) if expected.ndim else expected
        for places, there, wanted in [
            (box, given, expected),
            (cells, [own.reshape(flat.shape) for own in given], flat),
        ]:
            found = np.asarray(node.values(places, there))
            assert found.dtype == node.dtype
            pairs = zip(found.shape[::-1], wanted.shape[::-1], strict=False)
            assert found.ndim <= wanted.ndim, found.shape
            assert all(own in {1, extent} for own, extent in pairs), found.shape
            _agree_arrays(np.broadcast_to(found, wanted.shape), wanted)

    def test_the_whole_is_computed(self) -> None:
        """Test that ``compute`` returns the elements, and that normalizing twice changes nothing."""
        view = self.view()
        _agree(view.compute(), self.expected())
        _agree(View(view.normal_form()).compute(), self.expected())

    def test_every_part_has_the_elements_of_the_whole(self) -> None:
        """Test slices, chips, reversals, permutations, repetitions and gathers."""
        for view, array in _parts(self.view(), self.expected()):
            _agree(view.compute(), array)

    def test_parts_of_parts_join_with_others(self) -> None:
        """Test that it joins with other views, and with an array."""
        view, array = self.view(), self.expected()
        if not view.rank:
            return
        both = concat([view, view[::-1], array])
        expected = np.concatenate([array, array[::-1], array])
        for part, wanted in _parts(both, expected):
            _agree(part.compute(), wanted)

    def test_blocks_make_up_the_whole(self) -> None:
        """Test that ``blocks`` of a few elements each cover all elements."""
        view, array = self.view(), self.expected()
        for region, block in view.blocks(max(3 * array.itemsize, 1)):
            pairs = zip(region.origin, region.extents, strict=True)
            window: tuple[slice | EllipsisType, ...] = (*[slice(a, a + n) for a, n in pairs], ...)
            _agree(block, array[window])

    def test_routes_lead_to_the_elements(self) -> None:
        """Test that the sources named by ``route_many`` have the elements, also for parts."""
        for view, array in islice(_parts(self.view(), self.expected()), 12):
            if not 0 < array.size <= _ROUTED:
                continue
            indices = np.array(list(product(*map(range, array.shape))), dtype=np.int64)
            found: Any = np.empty(array.size, array.dtype)
            seen = np.zeros(array.size, dtype=np.int64)
            origin = np.array(view.shape.origin, dtype=np.int64)
            for group in view.route_many(indices.reshape(array.size, array.ndim) + origin):
                found[group.rows] = group.read()
                seen[group.rows] += 1
            assert (seen == 1).all()
            _agree_arrays(found, array.reshape(-1))

    def test_other_operands_that_are_the_same_make_an_equal_node(self) -> None:
        """Test that ``with_operands`` of the same operands and an identity ``mapped`` return equal nodes."""
        node = self.node()
        assert node.with_operands(node.operands) == node
        assert node.mapped(lambda own: own) == node
        assert hash(node.with_operands(node.operands)) == hash(node)

    def test_explanations_name_it(self) -> None:
        """Test that ``explain`` has the title and ``repr`` the name, and that pictures are drawn."""
        node, view = self.node(), self.view()
        assert node.title in view.explain()
        assert node.name in repr(view)
        assert view.to_svg().startswith("<svg")
        assert node.title.split("(")[0] in view._repr_html_().replace("&#x27;", "'")

    def test_a_plan_writes_every_byte_once(self) -> None:
        """Test that the steps of a plan cover the box, and that their bytes add up to those of the view."""
        view, array = self.view(), self.expected()
        plan = view.plan()
        assert plan.nbytes == sum([step.nbytes for step in plan.steps]) == array.nbytes
        met = np.zeros(array.shape, dtype=np.int64)
        for step in plan.steps:
            key: tuple[slice | EllipsisType, ...] = (
                *[slice(own.start, own.stop, own.step) for own in step.window],
                ...,
            )
            met[key] += 1
        assert (met == 1).all()
        assert plan.bytes_read >= 0

    def test_copies_and_pickles_are_the_same(self) -> None:
        """Test that a pickled view has the same elements and, up to its memory, the same normal form."""
        view = self.view()
        again = pickle.loads(pickle.dumps(view))
        _agree(again.compute(), self.expected())
        assert again.normal_form().node.name == view.normal_form().node.name

    def test_json_gives_it_back(self) -> None:
        """Test JSON of the steps, and of normal forms where supported, there and back."""
        view = self.view()
        if not self.node().json_names:
            return
        for own in (view, view[..., ::-1] if view.rank else view):
            text = to_json(own)
            read = from_json(text, sources=sources(own))
            assert to_json(read) == text
            _agree(read.compute(), np.asarray(own.compute()))

    def test_it_is_read_only_where_it_stores_nothing(self) -> None:
        """Test ``is_readonly``, and that a writable view accepts values."""
        view = self.view()
        assert isinstance(view.is_readonly, bool)
        assert as_view(view) is view


def _parts(view: View[Any], array: Array) -> "list[tuple[View[Any], Array]]":
    """Return parts of a view, and the same parts of its elements by NumPy."""
    found: list[tuple[View[Any], Array]] = [(view, array)]
    for mode, extent in enumerate(array.shape):
        before = (slice(None),) * mode
        found += [(view[(*before, key)], array[(*before, key)]) for key in _keys(extent)]
        if extent:
            picked = [0, extent - 1, extent // 2, 0]
            found.append((view.gather(mode, picked), np.take(array, picked, axis=mode)))
    if array.ndim:
        axes = tuple(range(array.ndim))
        order, ones, twice = axes[::-1], (1,) * array.ndim, (2,) * array.ndim
        found += [
            (view.permute(order), array.transpose(order)),
            (view.reshape((array.size,)), array.reshape(-1)),
            (view.repeat(twice), np.tile(array, twice)),
            (view.rotate(ones), np.roll(array, ones, axes)),
            (view[::2, ...].reverse(), np.flip(array[::2, ...])),
        ]
    return found


def _keys(extent: int) -> "list[int | slice]":
    keys: list[int | slice] = [slice(None, None, -1), slice(1, None), slice(None, -1, 2), slice(0, 0)]
    return [*keys, 0, extent - 1] if extent else keys


def _agree(tensor: Tensor[Any], array: Array) -> None:
    assert tensor.dtype == array.dtype
    assert tensor.shape.extents == array.shape
    _agree_arrays(np.asarray(tensor.to_numpy() if array.dtype.kind not in "TO" else tensor.elements()), array)


def _agree_arrays(found: Array, array: Array) -> None:
    flat, wanted = found.reshape(-1), array.reshape(-1)
    same = (flat == wanted) | ((flat != flat) & (wanted != wanted))  # noqa: PLR0124 - not-a-number
    assert same.all(), (found.tolist(), array.tolist())
