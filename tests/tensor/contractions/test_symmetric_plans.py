"""Plans of tensors with a symmetry: which tiles are computed, and what that costs."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import PatternError
from tests.support.tiles.symmetric_tiles import box_of, symmetric_tiles

EQUATIONS = {
    1: ["a,a->a", "a,b->ab"],
    2: ["ab,bc->ac", "ab,cb->ac", "ab,ab->ab"],
    3: ["abc,abd->cd", "abc,dbc->ad"],
}


def flops_of(equation, left, right, stored):
    """Additions and multiplications for some tiles of the result, by a loop over pairs of tiles."""
    (ours, theirs), result = equation.partition("->")[0].split(","), equation.partition("->")[2]
    total = 0
    for one, other in itertools.product(left, right):
        at = dict(zip(ours, one, strict=True))
        if all(at.get(label, k) == k for label, k in zip(theirs, other, strict=True)):
            at |= dict(zip(theirs, other, strict=True))
            sizes = {label: int(left.tiling.sizes[ours.index(label)][at[label]]) for label in ours}
            sizes |= {label: int(right.tiling.sizes[theirs.index(label)][at[label]]) for label in theirs}
            total += 2 * math.prod(sizes.values()) * (tuple([at[label] for label in result]) in stored)
    return total


@given(symmetric_tiles(count=2), st.data())
def test_a_plan_has_the_tiles_of_the_result(case, data):
    _, [(t, x, _), (u, y, _)] = case
    if not t.pattern.rank:
        return
    equation = data.draw(st.sampled_from(EQUATIONS[t.pattern.rank]))
    plan = tw.contraction(equation, t, u)
    made = tw.contract(plan, t, u)
    right = tw.contract(equation, t, u)
    np.testing.assert_allclose(box_of(made), np.einsum(equation, x, y))
    assert made.array_equal(right)
    assert (plan.pattern, plan.stored_pattern) == (right.pattern, right.stored_pattern)
    if plan.symmetry is not None and not plan.symmetry.is_zero:
        assert plan.symmetry == made.symmetry == right.symmetry
    assert plan.nbytes == 8 * right.stored_pattern.elements
    assert plan.flops == flops_of(equation, t.pattern, u.pattern, plan.stored_pattern)
    again = pickle.loads(pickle.dumps(plan))
    assert (again, hash(again)) == (plan, hash(plan))
    assert again.triples().tolist() == plan.triples().tolist()
    few = plan.screen(t.tile_norms(), u.tile_norms(), 4.0)
    lost = np.linalg.norm(box_of(made) - box_of(tw.contract(few, t, u)))
    assert lost <= few.error_bound * (1 + 1e-9)
    assert pickle.loads(pickle.dumps(few)) == few


def matrix(name, *odd):
    x = np.arange(16.0).reshape(4, 4)
    x = x + x.T if name == "s2" else x - x.T
    for place in odd:
        x[place] = x[place[::-1]] = np.inf
    return tw.as_tensor(x).tiled(tw.Tiling([1, 3], [1, 3])).keep_tiles(lambda i, j: i >= j, symmetry=name)


def test_a_plan_of_patterns_has_no_symmetry_and_serves_symmetric_tensors():
    t = matrix("s2")
    plan = tw.contraction("ij,jk->ik", t.pattern, t.pattern)
    assert (plan.symmetry, plan.count) == (None, 8)
    assert tw.contract(plan, t, t).symmetry == t.symmetry
    squared = tw.contraction("ij,jk->ik", t, t)
    assert (str(squared.symmetry), squared.count, squared.stored_pattern.count) == ("2: +(0 1)", 6, 3)
    assert repr(squared).endswith("symmetry 2: +(0 1)>")
    assert tw.contract(squared, t, t).array_equal(tw.contract(plan, t, t))


def test_a_plan_is_of_the_symmetry_that_operands_have():
    t, plain = matrix("s2"), matrix("s2").keep_tiles(matrix("s2").pattern)
    plan = tw.contraction("ij,jk->ik", t, t)
    assert tw.contract(plan, plain, plain).array_equal(tw.contract("ij,jk->ik", plain, plain))
    few = plan.screen(t.tile_norms(), t.tile_norms(), 1000.0)
    assert few.error_bound
    with pytest.raises(PatternError, match=r"symmetry 2: \+\(0 1\), and these leave None: contraction\("):
        tw.contract(few, plain, plain)


def test_infinities_leave_what_they_leave_alone():
    t = matrix("a2")
    odd = matrix("s2", (0, 2))
    plan = tw.contraction("ij,ij->ij", t, odd)
    assert str(plan.symmetry) == "2: -(0 1)"
    with np.errstate(invalid="ignore"):
        made, right = tw.contract(plan, t, odd), box_of(t) * box_of(odd)
    np.testing.assert_array_equal(box_of(made), right)
