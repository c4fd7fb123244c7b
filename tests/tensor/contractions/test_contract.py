"""Contractions of tensors in tiles, against NumPy's einsum of the dense ones."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    LabelError,
    LayoutError,
    PatternError,
    SizeOverflowError,
)
from tensorwrapper.tensor.contractions import _products
from tests.support.advice import advice_tests
from tests.support.tiles.block_tensors import P, Q, T, X, dense, dense_of, of
from tests.support.tiles.contractions import contractions

D, E = of(P, X), of(Q, -X)
DTYPES = ["f8", "f4", "c16", "i8", "i1", "?"]


def operand(pattern, array, form):
    """A tensor of these tiles, of which a view, a box or a dense tensor is made in some way."""
    if form == "dense":
        # All tiles are present: those that are absent elsewhere are zeros.
        moved = tw.as_tensor(dense_of(pattern, array)).translate_to(pattern.tiling.origin)
        return moved.tiled(pattern.tiling)
    rank, found = pattern.rank, of(pattern, array)
    if form == "turned" and pattern.grid.size:  # rows without tiles do not say how they were cut
        turned = of(pattern.permute(*range(rank - 1, -1, -1)), array.T)
        return turned.permute(*range(rank - 1, -1, -1), *range(2 * rank - 1, rank - 1, -1))
    return found.untiled() if form == "box" else found


@st.composite
def cases(draw):
    """An equation, two tensors, and their dense arrays."""
    equation, left, right, _ = draw(
        contractions(max_rank=3).filter(lambda case: case[1].rank and case[2].rank)
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    tensors, arrays = [], []
    for pattern in (left, right):
        dtype = np.dtype(draw(st.sampled_from(DTYPES)))
        array = rng.integers(-2, 3, pattern.tiling.elements.extents).astype(dtype)
        if dtype.kind == "c":
            array = array * (1 + 2j)
        form = draw(st.sampled_from(["tiled", "box", "turned", "dense"]))
        tensors.append(operand(pattern, array, form))
        arrays.append(dense_of(pattern, array))
    return equation, tensors, arrays


def same_as_einsum(equation, made, arrays):
    right = np.einsum(equation, *arrays)
    found = np.asarray(made) if not made.rank else dense(made)
    assert made.dtype == right.dtype
    assert np.array_equal(found, right)  # integers, in floats too: exactly


@given(cases())
def test_a_contraction_is_the_einsum_of_dense_arrays(case):
    equation, tensors, arrays = case
    made = tw.contract(equation, *tensors)
    same_as_einsum(equation, made, arrays)
    if not made.rank:
        return
    plan = tw.contraction(equation, *tensors)
    assert made.pattern.nonempty() == plan.pattern.nonempty()
    assert made.shape.is_box == all(tensor.shape.is_box for tensor in tensors)
    again = tw.contract(plan, *tensors)
    assert again.packed_values().tobytes() == made.packed_values().tobytes()


@given(cases(), st.randoms())
def test_labels_of_the_result_in_another_order_permute_it(case, random):
    equation, tensors, arrays = case
    inputs, _, result = equation.partition("->")
    order = random.sample(range(len(result)), len(result))
    other = f"{inputs}->{''.join([result[k] for k in order])}"
    same_as_einsum(other, tw.contract(other, *tensors), arrays)
    ours, theirs = inputs.split(",")
    swapped = tw.contract(f"{theirs},{ours}->{result}", *tensors[::-1])
    same_as_einsum(equation, swapped, arrays)


EQUATIONS = [
    "ij,jk->ik",
    "ij,jk->ki",
    "ji,kj->ik",
    "ij,jk->ijk",
    "ij,ij->ij",
    "ij,ij->",
    "ij,j->i",
    "ij,kl->ikjl",
    "bij,bjk->bik",
    "ibj,jkb->kbi",
    "ijab,abk->ijk",
    "iajb,bka->kij",
]


@pytest.mark.parametrize("equation", EQUATIONS)
@pytest.mark.parametrize("sizes", [[1, 3, 3] * 4, [2] * 7, [20, 3, 3, 20, 3]])
def test_products_in_batches_and_one_by_one_are_those_of_einsum(equation, sizes):
    rng = np.random.default_rng(len(equation))
    tensors, arrays = [], []
    inputs = equation.partition("->")[0].split(",")
    if max(map(len, inputs)) > 2:
        sizes = sizes[:3]
    for labels in inputs:
        tiling = Tiling(*[sizes] * len(labels))
        pattern = BlockPattern.from_mask(tiling, rng.random(tiling.grid.extents) < 0.7)
        array = rng.integers(-3, 4, tiling.elements.extents).astype("f8")
        tensors.append(of(pattern, array))
        arrays.append(dense_of(pattern, array))
    made = tw.contract(equation, *tensors)
    same_as_einsum(equation, made, arrays)


@pytest.mark.parametrize("sizes", [[1, 3, 3] * 4, [2] * 9, [9, 8, 9]])
def test_parts_of_a_batch_and_of_a_loop_meet_in_a_tile(sizes, monkeypatch):
    monkeypatch.setattr(_products, "_CHUNK", 100)
    monkeypatch.setattr(_products, "_STEP", 5)
    rng = np.random.default_rng(0)
    tiling = Tiling(sizes, sizes)
    arrays = [rng.integers(-3, 4, tiling.elements.extents).astype("f8") for _ in range(2)]
    same_as_einsum(
        "ij,jk->ki", tw.contract("ij,jk->ki", *[of(BlockPattern(tiling), x) for x in arrays]), arrays
    )


def test_sums_of_a_table():
    made = tw.contract("ji,jk->ik", D.untiled(), E.untiled())
    assert dense(made).sum() == -66690
    assert dense(made)[0].tolist() == [0, 0, -2097, -2172, -2247, -2322]
    assert made.shape == tw.Shape(6, 6)
    assert tw.contract("ji,jk->ik", D, E).shape == Tiling([2, 4], [2, 4]).shape
    assert tw.contract("ji,jk->ik", D, E.untiled()).tiling == Tiling([2, 4], [2, 4])


def test_slices_are_operands():
    part, array = D.untiled()[1:, 2:], dense(D)[1:, 2:]
    other = E.untiled()[1:]
    assert np.array_equal(dense(tw.contract("ij,ik->jk", part, other)), array.T @ dense(E)[1:])
    assert np.array_equal(dense(tw.contract("ij,ik->jk", D[1:], E[1:])), dense(D)[1:].T @ dense(E)[1:])
    assert tw.contract("ij,ik->jk", D[1:], E[1:]).pattern.rank == 2
    every = tw.as_tensor(X).tiled(T)
    assert np.array_equal(dense(tw.contract("ij,kj->ik", every, D)), X @ dense(D).T)


def test_a_number_is_a_dense_tensor():
    norm = tw.contract("ij,ij->", D, D)
    assert (norm.shape, norm.item()) == (tw.Shape(), float((dense(D) ** 2).sum()))
    nothing = tw.contract("ij,ij->", D, of(~P, X))
    assert (nothing.item(), nothing.dtype) == (0.0, np.float64)


def test_absent_tiles_count_as_zero_also_beside_what_is_not_finite():
    odd = of(P, np.where(X == 1, np.inf, X))
    made = tw.contract("ij,ik->jk", odd, E)
    assert np.isfinite(dense(made)).all()


def test_tiles_that_cancel_are_there():
    left = tw.blocks({(0, 0): [[1.0]], (0, 1): [[1.0]]}, Tiling([1], [1, 1]))
    right = tw.blocks({(0, 0): [[1.0]], (1, 0): [[-1.0]]}, Tiling([1, 1], [1]))
    made = tw.contract("ij,jk->ik", left, right)
    assert (list(made.pattern), made.packed_values().tolist()) == ([(0, 0)], [0.0])
    assert made.screened().pattern.count == 0


def test_empty_sums_are_zero():
    left, right = (tw.zeros(BlockPattern(Tiling(*sizes))) for sizes in (([2], [0]), ([0], [3])))
    made = tw.contract("ij,jk->ik", left, right)
    assert (list(made.pattern), made.packed_values().tolist()) == ([(0, 0)], [0.0] * 6)
    for equation in ("ij,kj->ik", "ij,kl->ijkl", "ij,jk->ki"):
        assert not dense(tw.contract(equation, left, left if "kj" in equation else right)).any()


def test_screened_products_are_left_out_within_the_bound():
    rng = np.random.default_rng(1)
    tiling = Tiling([2, 3, 1, 4], [2, 3, 1, 4])
    scale = 10.0 ** rng.integers(-3, 1, (10, 10))
    x, y = (rng.standard_normal((10, 10)) * scale for _ in range(2))
    t, u = (tw.as_tensor(a).tiled(tiling).keep_tiles(BlockPattern(tiling)) for a in (x, y))
    plan = tw.contraction("ij,jk->ik", t, u).screen(t.tile_norms(), u.tile_norms(), 2.0)
    made = tw.contract("ij,jk->ik", t, u, threshold=2.0)
    assert 0 < plan.count < 64
    assert made.array_equal(tw.contract(plan, t, u))
    assert made.pattern == plan.pattern
    assert 0 < np.linalg.norm(dense(made) - x @ y) <= plan.error_bound
    box = tw.contract("ij,jk->ik", t.untiled().permute(1, 0), tw.as_tensor(y).tiled(tiling), threshold=2.0)
    assert np.linalg.norm(dense(box) - x.T @ y) < 2.0 * 64
    assert tw.contract(plan, t, u, threshold=1e9).pattern.count == 0


def test_types_are_those_that_numpy_promotes_to():
    for one, other in (
        ("f4", "f8"),
        ("i1", "i1"),
        ("i4", "f4"),
        ("f4", "c8"),
        ("?", "i2"),
        ("?", "?"),
        ("f2", "f2"),
    ):
        made = tw.contract("ij,ik->jk", of(P, (X % 3).astype(one)), of(Q, (X % 2).astype(other)))
        right = np.einsum("ij,ik->jk", dense_of(P, (X % 3).astype(one)), dense_of(Q, (X % 2).astype(other)))
        assert made.dtype == right.dtype
        assert np.array_equal(dense(made), right)
    days = of(P, X.astype("m8[D]"))
    with pytest.raises(DTypeError, match="numbers or truth values, not timedelta64"):
        tw.contract("ij,ik->jk", days, days)


def test_views_are_computed():
    made = tw.contract("ij,ik->jk", tw.selection.as_view(D), tw.selection.as_view(E))
    assert made.array_equal(tw.contract("ij,ik->jk", D, E))


def test_what_does_not_fit_is_refused():
    with pytest.raises(PatternError, match=r"the right operand have the fill 1.0, not zero: to_dense\(\)"):
        tw.contract("ij,ik->jk", D, np.exp(E))
    with pytest.raises(PatternError, match="fill nan"):
        tw.contract("ij,ik->jk", of(P, X, np.nan), E)
    with pytest.raises(ExtentMismatchError, match=r"label 'j' .* boundary 1 is 2"):
        tw.contract("ij,jk->ik", D, E)
    with pytest.raises(LabelError, match="twice"):
        tw.contract("ii,ij->j", D, E)
    with pytest.raises(LayoutError, match="contract needs a tiled tensor"):
        tw.contract("ij,ik->jk", D, tw.as_tensor(X))
    with pytest.raises(LayoutError, match="contract needs a tiled tensor"):
        tw.contract(",ij->ij", tw.as_tensor(2.0), D)
    with pytest.raises(ConversionError, match="a tensor in tiles"):
        tw.contract("ij,ik->jk", X, E)
    with pytest.raises(ConversionError, match="fill_null"):
        tw.contract("ij,ik->jk", D, tw.nullable(X, X > 3).tiled(T))
    with pytest.raises(PatternError, match="0 or more"):
        tw.contract("ij,ik->jk", D, E, threshold=-1)
    plan = tw.contraction("ij,ik->jk", D, E)
    with pytest.raises(PatternError, match="right operand has other tiles than the plan: tiles 0"):
        tw.contract(plan, D, D)
    with pytest.raises(ConversionError, match="an equation is text"):
        tw.contract(3, D, E)


def test_a_result_beyond_memory_is_refused_before_it_is_made():
    thin = tw.zeros(BlockPattern(Tiling([2**20] * 2, [1])), dtype="?")
    with pytest.raises(SizeOverflowError, match=f"for {2**42} elements of the result"):
        tw.contract("ij,kj->ik", thin, thin)


SAID = '`tw.contract("ij,jk->ik", a, b)` multiplies'
MISTAKES = {
    "a @ a": SAID,
    "b @ b": SAID,
    "b @ np.ones((3, 2))": SAID,
    "t.tiled(tw.Tiling([1, 1], [3])) @ a": SAID,
    "np.dot(a, b)": SAID,
    "np.einsum('ij,jk->ik', b, b)": SAID,
    "np.tensordot(t.tiled(tw.Tiling([1, 1], [3])), b, 1)": SAID,
    "b.einsum('ij,jk->ik', b)": "tw.contract('ij,jk->ik', a, b)",
    "tw.einsum('ij,jk->ik', a, b)": "tw.contract('ij,jk->ik', a, b)",
    "tw.contract('ij,jk->ik', a)": "tw.contract('ij,jk->ik', a, b)",
    "tw.contract('ij,jk->ik', [a, b])": "tw.contract('ij,jk->ik', a, b)",
    "tw.contract('ij,jk->ik', t, b)": "tiled(tiling) makes one",
    "tw.contract('ij,jk->ik', x, b)": "`tw.as_tensor(x).tiled(tw.Tiling([1, 1], [3]))` is one",
    "tw.contraction('ij,jk->ik', x, p)": "`t.tiled(tw.Tiling([2], [3]))`",
    "tw.contraction('ij,jk->i', a, b)": "`np.add.reduce(t, axis=0)`",
    "p.dot(p)": "tw.contraction('ij,kj->ik', p, p)",
}

test_a_mistake_is_answered_by_what_works, _ = advice_tests(MISTAKES)


def test_tiles_that_are_added_by_number_are_told_from_lists_of_cells():
    tiled = tw.as_tensor(X).tiled(T)
    with pytest.raises(ExtentMismatchError, match=r"u.retiled\(t.tiling\)` cuts one as the other"):
        tiled + tw.as_tensor(X).tiled(Tiling([3, 3], [6]))
    one, other, third = (tiled.select_tiles([number]) for number in ((1, 0), (1, 1), (0, 0)))
    for pair in ((one, other), (other, third)):
        with pytest.raises(ExtentMismatchError, match=r"keep_tiles\(\) in place of select_tiles\(\) keeps"):
            np.add(*pair)
    alike = tw.as_tensor(X).tiled(Tiling([3, 3], [3, 3]))
    with pytest.raises(ExtentMismatchError, match=r"lies elsewhere .* keep_tiles"):
        alike.select_tiles([(0, 1)]) + alike.select_tiles([(1, 1)])
    rows = tw.jagged([[1, 2], [3]])
    for origin in ((1, 0), (0, 5)):
        with pytest.raises(ExtentMismatchError, match=r"`t\[...\]` of each starts at zero"):
            rows + rows.translate_to(origin)


def test_contractions_are_loaded_when_they_are_used():
    code = """
import sys
import tensorwrapper as tw
t = tw.as_tensor([[1.0, 2.0]]).tiled(tw.Tiling([1], [1, 1]))
print(any("contractions" in name for name in sys.modules))
tw.contract("ij,kj->ik", t, t)
print(any("tensor.contractions" in name for name in sys.modules))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"]
