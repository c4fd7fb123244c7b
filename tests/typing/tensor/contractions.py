"""Contractions: their plans and results."""

from typing import Any, Literal, assert_type

import numpy as np

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tensor, Tiling
from tensorwrapper.shape import Contraction
from tensorwrapper.typing import IntArray

cut = Tiling([1, 2, 3], [2, 4])
pattern = BlockPattern(cut)
tensor = tw.zeros(pattern)
plan = tw.contraction("ij,ik->jk", pattern, tensor)
assert_type(plan, Contraction)
assert_type(tw.contraction("ij,jk->ik", tensor.untiled(), plan), Contraction)
assert_type(plan.pattern, BlockPattern)
assert_type(plan.left, BlockPattern)
assert_type(plan.labels, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]])
assert_type(plan.equation, str)
assert_type(plan.count, int)
assert_type(plan.flops, int)
assert_type(plan.dense_flops, int)
assert_type(plan.nbytes, int)
assert_type(plan.error_bound, float)
assert_type(plan.advice, Literal["blocks", "dense"])
assert_type(plan.triples(), IntArray)
assert_type(plan.screen(tensor.tile_norms(), np.ones(6), 0.5), Contraction)
assert_type(tw.contract("ij,ik->jk", tensor, tensor.untiled()), Tensor[Any])
assert_type(tw.contract(plan, tensor, tensor, threshold=1e-8), Tensor[Any])

tw.contraction(["ij"], pattern, pattern)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
tw.contraction("ij,ik->jk", pattern, cut)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
tw.contract("ij,ik->jk", tensor, pattern)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
tw.contract("ij,ik->jk", tensor, np.ones((6, 6)))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
