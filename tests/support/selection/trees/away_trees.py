"""Random trees of selections of which most sources are elsewhere."""

import random

import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tests.support.selection.trees.random_trees import Grower

__all__ = ["away_tree"]


class AwayGrower(Grower):
    """Grows trees over sources of one kind, and now and then a tensor."""

    def __init__(self, rng, kind):
        super().__init__(rng)
        self.kind = kind
        self.away = []

    def tensor_leaf(self, *args, **options):
        view, array = super().tensor_leaf(*args, **options)
        if self.rng.random() < 0.2:
            return view, array
        source = self.kind(np.array(array))
        self.away.append(source)
        self.tensors[-1] = (source, array)
        return sel.as_view(source), array

    def part(self, pair):
        source, array = pair
        if isinstance(source, tw.Tensor):
            return super().part(pair)
        view = sel.as_view(source)
        if array.ndim and self.rng.random() < 0.6:
            bounds = [(self.rng.randint(0, 1), self.rng.choice([1, 2, -1])) for _ in array.shape]
            key = tuple(slice(start, None, step) for start, step in bounds)
            view, array = view[key], array[key]
        return view, array


def away_tree(seed, kind):
    """Return a tree of a seed, and the sources that it may read."""
    rng = random.Random(seed)
    grower = AwayGrower(rng, kind)
    return grower.grow(rng.randint(1, 8)), grower.away
