"""Random trees of selections, each as a view and as the array that NumPy makes of the same steps at once.

Everything is chosen by a `random.Random`, so that a tree is its seed; Hypothesis gives one that shrinks.
"""

import random
from dataclasses import dataclass, field

import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tests.support.selection.trees.steps import STEPS, StepError, conform

__all__ = ["Grower", "Tree", "tree_of"]

TYPES = ["i1", "i2", "i4", "i8", "u1", "f4", "f8", "?", "c8"]
MOST = 1200  # elements of a step


@dataclass
class Tree:
    """A view, the array that it must be equal to, and the steps that made both."""

    view: object
    array: np.ndarray
    steps: list[str] = field(default_factory=list)


def tree_of(seed, operations=None, *, texts=False):
    """Return the tree of a seed."""
    rng = random.Random(seed)
    return Grower(rng, texts=texts).grow(rng.randint(1, 8) if operations is None else operations)


class Grower:
    """Grows one tree; tensors that were made are taken again, so that pieces of one buffer meet."""

    def __init__(self, rng, *, texts=False):
        self.rng = rng
        self.texts = texts
        self.tensors = []
        self.steps = []

    def grow(self, operations):
        """Return a tree of so many steps."""
        view, array = self._grow(operations)
        return Tree(view, array, self.steps)

    def _grow(self, operations):
        if not operations:
            return self.leaf()
        if operations > 1 and self.rng.random() < 0.3:
            left = self.rng.randint(0, operations - 1)
            return self._joined(self._grow(left), operations - 1 - left)
        view, array = self._grow(operations - 1)
        return self.step(view, array)

    def step(self, view, array):
        """Return a view and its array after one more step, or as they are if none was found that fits."""
        for _ in range(20):
            name = self.rng.choice(sorted(STEPS))
            try:
                found = STEPS[name](self.rng, view, array)
            except StepError:
                continue
            # An element of an array is none: text loses its type.
            after = np.asarray(found[1], dtype=getattr(found[1], "dtype", array.dtype))
            found = found[0], after
            if after.size > MOST or after.ndim > 5:
                continue
            self.steps.append(f"{name}: {array.shape} -> {found[1].shape}")
            return found
        return view, array

    def _joined(self, first, operations):
        rng = self.rng
        array = first[1]
        how = rng.choice(["concat", "interleave", "stack", "where", "minimum", "maximum"])
        if self.texts and how not in ("concat", "interleave", "stack"):
            how = "concat"
        if not array.ndim and how in ("concat", "interleave"):
            how = "stack"
        parts = [first]
        for number in range(rng.randint(1, 2)):
            other = first if rng.random() < 0.2 else self._grow(operations if not number else 0)
            mode = rng.randrange(array.ndim) if array.ndim else 0
            parts.append(conform(rng, other, array.shape, self.blank))
        if rng.random() < 0.5:
            parts.reverse()
        found = self._put(how, parts, mode)
        if found is None or found[1].size > MOST or found[1].ndim > 5:
            return first
        self.steps.append(f"{how} of {[part[1].shape for part in parts]} -> {found[1].shape}")
        return found

    def _put(self, how, parts, mode):
        rng = self.rng
        views, arrays = [list(own) for own in zip(*parts, strict=True)]
        # NumPy knows no origins: these trees are put together by position.
        views = [view[...] if any(view.shape.origin) else view for view in views]
        if how == "concat":
            for k in range(len(parts)):
                n = arrays[k].shape[mode]
                key = (slice(None),) * mode + (slice(*sorted((rng.randint(0, n), rng.randint(0, n)))),)
                if rng.random() < 0.5:
                    views[k], arrays[k] = views[k][key], arrays[k][key]
            return sel.concat(views, mode=mode), np.concatenate(arrays, mode)
        if how == "interleave":
            return sel.interleave(views, mode=mode), interleaved(arrays, mode)
        if how == "stack":
            mode = rng.randint(0, arrays[0].ndim)
            return sel.stack(views, mode=mode - rng.choice([0, arrays[0].ndim + 1])), np.stack(arrays, mode)
        if how == "where":
            view, array = self.mask(arrays[0].shape)
            view = view[...] if any(view.shape.origin) else view
            a, b = (0, 1) if len(parts) > 1 else (0, 0)
            return sel.where(view, views[a], views[b]), np.where(array, arrays[a], arrays[b])
        if any(array.dtype.kind == "c" for array in arrays):
            return None
        reduce = np.minimum if how == "minimum" else np.maximum
        array = arrays[0]
        for other in arrays[1:]:
            array = reduce(array, other)
        return getattr(sel, how)(*views), array

    def mask(self, extents):
        """Return a mask that broadcasts to extents."""
        rng = self.rng
        own = tuple([1 if rng.random() < 0.3 else n for n in extents])
        if rng.random() < 0.3:
            value = rng.random() < 0.5
            return sel.full(own, value), np.full(own, value)
        view, array = self.tensor_leaf(own, "?", masked=True)
        if rng.random() < 0.3:
            moved = self.step(view, array)
            if moved[1].dtype == bool:
                return conform(rng, moved, own, self._flags)
        return view, array

    def _flags(self, extents):
        return self.tensor_leaf(extents, "?", masked=True)

    def extents(self):
        """Return small extents, some of them 0 and 1."""
        rng = self.rng
        rank = rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4])
        return tuple(
            [
                rng.choice([0, 1, 1, 2, 3, 3, 4, 5, 6]) if rng.random() < 0.3 else rng.randint(1, 6)
                for _ in range(rank)
            ][:rank]
        )

    def blank(self, extents):
        """Return a leaf with these extents."""
        return self.tensor_leaf(extents, self.rng.choice(TYPES))

    def leaf(self):
        """Return a source or a generator."""
        rng = self.rng
        if self.texts:
            return self.tensor_leaf(self.extents(), "T")
        if self.tensors and rng.random() < 0.5:
            return self.part(rng.choice(self.tensors))
        if rng.random() < 0.25:
            return self.generator(self.extents())
        return self.tensor_leaf(self.extents(), rng.choice(TYPES))

    def tensor_leaf(self, extents, code, *, masked=False):
        """Return a view of a new tensor, stored in some way."""
        rng = self.rng
        if self.texts and not masked:
            code = "T"
        size = int(np.prod(extents))
        if code == "T":
            words = [
                "".join(rng.choice("ab\u00e9\U0001f600") for _ in range(rng.randint(0, 4)))
                for _ in range(size)
            ]
            array = np.array(words, dtype=np.dtypes.StringDType()).reshape(extents)
            tensor = tw.strings(words).reshape(extents)
        else:
            numbers = [rng.randint(0, 99) for _ in range(size)]
            array = (
                (np.array(numbers, dtype="i8") % (2 if code == "?" else 100)).astype(code).reshape(extents)
            )
            tensor = stored(rng, array)
        self.tensors.append((tensor, array))
        self.steps.append(f"tensor {array.dtype} {array.shape}")
        return sel.as_view(tensor), array

    def part(self, pair):
        """Return a view of a tensor that is a part of another one: same buffer, other places."""
        rng = self.rng
        tensor, array = pair
        if array.ndim and rng.random() < 0.6:
            key = tuple(
                [
                    slice(rng.randint(0, 1), None, rng.choice([1, 2, -1]))
                    if rng.random() < 0.5
                    else slice(None)
                    for _ in array.shape
                ]
            )
            tensor, array = tensor[key], array[key]
        if array.ndim > 1 and rng.random() < 0.3:
            order = rng.sample(range(array.ndim), array.ndim)
            tensor, array = tensor.permute(order), array.transpose(order)
        self.steps.append(f"part of a tensor {array.dtype} {array.shape}")
        return sel.as_view(tensor), array

    def generator(self, extents):
        """Return a generator and the array of its elements, for absolute indices."""
        rng = self.rng
        origin = tuple([rng.choice([0, 0, -3, 5]) for _ in extents])
        box = tw.Shape(*extents, origin=origin)
        grid = np.meshgrid(*[np.arange(n) + o for n, o in zip(extents, origin, strict=True)], indexing="ij")
        how = rng.choice(
            [
                "full",
                "zeros",
                "iota",
                "linspace",
                "eye",
                "compute",
                "random",
                "normal",
                "integers",
                "random of views",
            ]
        )
        self.steps.append(f"{how} {box}")
        if how == "full":
            return sel.full(box, 7, dtype="i4"), np.full(extents, 7, "i4")
        if how == "iota" and extents:
            mode = rng.randrange(len(extents))
            return sel.iota(box, mode, start=3, step=2), (3 + 2 * grid[mode]).astype("i8")
        if how == "linspace":
            count = rng.randint(0, 6)
            return sel.linspace(1, 4, count), np.linspace(1, 4, count)
        if how == "eye":
            rows, columns, offset = rng.randint(0, 5), rng.randint(0, 5), rng.randint(-2, 2)
            return sel.eye(rows, columns, diagonal=offset, dtype="i2"), np.eye(
                rows, columns, offset, dtype="i2"
            )
        if how == "compute" and extents:
            view = sel.compute(
                box, lambda *i: sum((10**k * own for k, own in enumerate(i)), np.int64(0)), dtype="i8"
            )
            return view, sum((10**k * own for k, own in enumerate(grid)), np.int64(0)).astype("i8")
        if how in ("random", "normal"):
            view = getattr(sel, how)(box, seed=5)
            return view, field_of(view, ())
        if how == "integers":
            view = sel.integers(box, 2, 90, seed=6, dtype="i4")
            return view, field_of(view, ())
        if how == "random of views":
            low = (
                self.step(*self.tensor_leaf(extents, "f4"))
                if rng.random() < 0.5
                else self.tensor_leaf(extents, "f4")
            )
            view, array = low if low[1].shape == tuple(extents) else self.tensor_leaf(extents, "f4")
            found = sel.uniform(box, view, 200.0, seed=4)
            return found, field_of(found, (array,))
        return sel.zeros(box, dtype="f4"), np.zeros(extents, "f4")


def field_of(view, given):
    """Return all numbers of a generator: what the random functions say, which have tests of their own."""
    node = view._expression.node
    places = np.indices(node.extents, sparse=True) if node.extents else ()
    values = node.values(places, given)
    return np.broadcast_to(values, node.extents).copy()


def interleaved(arrays, mode):
    """Return arrays in turns along a mode."""
    extents = list(arrays[0].shape)
    extents[mode] = sum(array.shape[mode] for array in arrays)
    out = np.empty(extents, np.result_type(*arrays))
    for k, array in enumerate(arrays):
        out[(slice(None),) * mode + (slice(k, None, len(arrays)),)] = array
    return out


def stored(rng, array):
    """Return a tensor of these elements: in C or Fortran order, reversed, strided, in tiles, and so on."""
    how = rng.choice(["C", "C", "F", "reversed", "strided", "tiles", "origin", "broadcast"])
    if how == "F":
        return tw.as_tensor(array.copy(order="F"))
    if how == "reversed" and array.ndim:
        return tw.as_tensor(np.ascontiguousarray(array[::-1]))[::-1]
    if how == "strided" and array.ndim:
        wide = np.repeat(array, 2, axis=-1)
        return tw.as_tensor(wide)[..., ::2]
    if how == "tiles" and array.ndim and array.size:
        tiling = tw.Tiling(*[[n // 2, n - n // 2] if n > 1 else [n] for n in array.shape])
        return tw.as_tensor(array).to_layout(tw.Layout.tiled(tiling))
    if how == "origin":
        origin = tuple([rng.randint(-4, 4) for _ in array.shape])
        memory = array.copy()
        return tw.from_buffer(memory.reshape(-1), tw.Shape(*array.shape, origin=origin))
    if how == "broadcast" and array.ndim and array.shape[0]:
        array[:] = array[:1].copy()
        return tw.as_tensor(np.array(array[0])).broadcast(array.shape)
    return tw.as_tensor(array.copy())
