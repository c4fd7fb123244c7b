"""Laws of the facts about a mode: its extents, its origin, its dependences, the bounding box."""

import pytest

from tensorwrapper.errors import JaggedModeError, LayerError, RankError
from tensorwrapper.shape import Shape
from tensorwrapper.testing._laws import Laws
from tensorwrapper.testing._tree import Node, indices_of, nodes_of, tree_of


class ModeLaws(Laws):
    """Abstract: `shapes`. The facts about a mode are true under every prefix."""

    __slots__ = ()

    def test_extents_are_bounded_by_those_under_the_prefixes(self, shape: Shape) -> None:
        """`extent_bounds`, `is_uniform`, `extent` and `extents` agree with `extent_at`."""
        tree = tree_of(shape)
        varies = False
        for mode in range(shape.rank):
            extents = [node.extent for node in nodes_of(tree, mode)]
            # A box has its extents even where no prefix leads to a mode.
            unseen = shape.extent_bounds(mode) if shape.flatten().is_box else (0, 0)
            least, greatest = bounds = (min(extents), max(extents)) if extents else unseen

            assert shape.extent_bounds(mode) == shape.extent_bounds(mode - shape.rank) == bounds
            assert shape.is_uniform(mode) == (least == greatest)
            if least == greatest:
                assert shape.extent(mode) == shape.extent(mode - shape.rank) == least
            else:
                varies = True
                with pytest.raises(JaggedModeError, match=f"from {least} to {greatest}"):
                    shape.extent(mode)
        if varies:
            with pytest.raises(JaggedModeError):
                _ = shape.extents
        else:
            assert shape.extents == tuple([shape.extent(mode) for mode in range(shape.rank)])
        for question in (shape.extent, shape.extent_bounds, shape.is_uniform, shape.dependencies):
            with pytest.raises(RankError, match=str(shape.rank)):
                question(shape.rank)

    def test_the_origin_is_one_number_per_mode_or_an_error(self, shape: Shape) -> None:
        """`origin` agrees with `origin_at` where that has one answer, and raises where it has several."""
        tree = tree_of(shape)
        starts = [{node.origin for node in nodes_of(tree, mode)} for mode in range(shape.rank)]
        if any(len(seen) > 1 for seen in starts):
            with pytest.raises(JaggedModeError, match="origin"):
                _ = shape.origin
            return

        assert len(shape.origin) == shape.rank
        assert all(seen <= {start} for seen, start in zip(starts, shape.origin, strict=True))

    def test_a_mode_depends_on_what_decides_its_range_and_on_no_more(self, shape: Shape) -> None:
        """Test that dependencies determine the extent and origin, and that none of them can be omitted."""
        tree = tree_of(shape)
        for mode in range(shape.rank):
            nodes = list(nodes_of(tree, mode))
            needs = shape.dependencies(mode)

            assert list(needs) == sorted(set(needs) & set(range(mode)))
            assert _decides(needs, nodes)
            assert not any(_decides(tuple([m for m in needs if m != one]), nodes) for one in needs)

    def test_the_bounding_box_is_the_smallest_around_all_rows(self, shape: Shape) -> None:
        """Test that `as_smooth` covers every row that is not empty and no more; `padding` counts the rest."""
        tree = tree_of(shape)
        box = shape.as_smooth()
        if not shape.has_layers:
            assert box.is_box
        if shape.flatten().is_box:
            assert (box.extents, box.origin) == (shape.extents, shape.origin)
        else:
            for mode in range(shape.rank):
                rows = [node for node in nodes_of(tree, mode) if node.extent]
                low = min([node.origin for node in rows], default=box.origin[mode])
                high = max([node.origin + node.extent for node in rows], default=low)
                assert (box.origin[mode], box.extents[mode]) == (low, high - low)

        assert shape.padding == box.size - shape.size
        assert all(index in box for index in indices_of(tree))
        assert shape.same_elements(box) == box.same_elements(shape) == (not shape.padding or not box.size)

    def test_leading_modes_are_the_prefixes(self, shape: Shape) -> None:
        """Test that `leading(m)` has every prefix of m indices, and that layers count them."""
        tree = tree_of(shape)
        prefixes = [[node.prefix for node in nodes_of(tree, mode)] for mode in range(shape.rank)]
        prefixes.append(list(indices_of(tree)))
        for modes, expected in enumerate(prefixes):
            part = shape.leading(modes)

            assert (part.rank, part.size) == (modes, len(expected))
            assert list(part.indices()) == expected
        for modes in (-1, shape.rank + 1):
            with pytest.raises(RankError):
                shape.leading(modes)
        assert sum(shape.layers) == shape.rank
        for layer in range(len(shape.layers)):
            assert shape.layer_size(layer) == len(prefixes[sum(shape.layers[: layer + 1])])
        with pytest.raises(LayerError):
            shape.layer_size(len(shape.layers))


def _decides(modes: tuple[int, ...], nodes: list[Node]) -> bool:
    """Return True if equal indices in `modes` always come with one range."""
    found: dict[tuple[int, ...], tuple[int, int]] = {}
    for node in nodes:
        known = found.setdefault(tuple([node.prefix[m] for m in modes]), (node.extent, node.origin))
        if known != (node.extent, node.origin):
            return False
    return True
