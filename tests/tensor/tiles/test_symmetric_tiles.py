"""Tensors in blocks that store one tile of each orbit, against dense arrays."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tensorwrapper.buffer import SymmetricBlocks
from tensorwrapper.errors import (
    BufferSizeError,
    ExtentMismatchError,
    PatternError,
    RankError,
    ReadOnlyError,
    SymmetryError,
)
from tensorwrapper.shape import Symmetry
from tests.support.symmetry import parts_of, water_integrals
from tests.support.tiles.symmetric_tiles import box_of, symmetric_tiles

S = Symmetry
S8, S2, A2, H2 = map(S.parse, ("s8", "s2", "a2", "h2"))
SHELLS = [1, 1, 3, 1, 1]
"""Functions of the shells of water in STO-3G."""


@given(symmetric_tiles())
def test_one_tile_of_each_orbit_is_stored(case):
    symmetry, [(t, x, pattern)] = case
    assert t.pattern == pattern
    assert t.stored_pattern == pattern.unique(symmetry)
    assert len(t.packed_values()) == t.stored_pattern.elements
    assert t.symmetry == t.untiled().symmetry == symmetry
    np.testing.assert_array_equal(box_of(t), x)
    for number in pattern:
        cut = pattern.tiling.tile(number)
        key = tuple([slice(a, a + n) for a, n in zip(cut.origin, cut.extents, strict=True)])
        assert t.tile(number).shape.origin == cut.origin
        np.testing.assert_array_equal(np.asarray(t.tile(number)), x[key])
    for number, tile in t.present_tiles():
        assert tile.array_equal(t.tile(number))
    for copied in (t.copy(), pickle.loads(pickle.dumps(t)), t.astype("c16")):
        assert copied.stored_pattern == t.stored_pattern
        np.testing.assert_array_equal(box_of(copied), x)
    assert t.copy().array_equal(t)


@given(symmetric_tiles(), st.data())
def test_views_have_the_elements_of_views_of_dense_arrays(case, data):
    _, [(t, x, _)] = case
    box = t.untiled()
    for _ in range(data.draw(st.integers(1, 3))):
        if data.draw(st.booleans()):
            order = data.draw(st.permutations(range(x.ndim)))
            box, x = box.permute(*order), x.transpose(order)
        else:
            keys = []
            for start, n in zip(box.shape.origin, x.shape, strict=True):
                low = data.draw(st.integers(0, n))
                high, step = data.draw(st.integers(low, n)), data.draw(st.sampled_from([1, 1, -1, 2]))
                part = (slice(low, high), slice(start + low, start + high))
                keys.append(part if step == 1 else (slice(None, None, step),) * 2)
            x, box = x[tuple(k for k, _ in keys)], box[tuple(k for k, _ in keys)]
        np.testing.assert_array_equal(box_of(box), x)
    assert np.sum(box) == pytest.approx(x.sum())
    flat = box.elements()
    np.testing.assert_array_equal(flat, x.reshape(-1))


@pytest.mark.parametrize("cut", [lambda t: t[:0], lambda t: t.untiled()[1:1], lambda t: t.untiled()[:, :0]])
def test_views_without_tiles_have_no_elements(cut):
    cuts = Tiling([1, 3], [1, 3])
    view = cut(tw.as_tensor(np.ones((4, 4))).tiled(cuts).keep_tiles([(0, 0), (1, 1)], symmetry="s2"))
    read = tw.wire.decode([bytes(part) for part in tw.wire.encode([view])]).tensors[0]
    for own in (np.exp(view), view + view, view.copy(), read):
        assert own.shape == view.shape
        assert own.to_dense().size == 0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(
    symmetric_tiles(count=2),
    st.sampled_from(["add", "subtract", "multiply", "negative", "exp", "square", "equal", "scale", "shift"]),
)
def test_ufuncs_keep_what_survives(case, name):
    symmetry, [(t, x, _), (u, y, _)] = case
    if name == "scale":
        made, expected = t * 2, x * 2
    elif name == "shift":
        made, expected = t + 1, x + 1
    elif name in ("negative", "exp", "square"):
        made, expected = getattr(np, name)(t), getattr(np, name)(x)
    else:
        made, expected = getattr(np, name)(t, u), getattr(np, name)(x, y)
    np.testing.assert_array_equal(box_of(made), expected)
    if name in ("add", "subtract", "negative", "scale") and not symmetry.is_trivial:
        assert made.symmetry == symmetry
        assert made.stored_pattern == made.pattern.unique(symmetry)
    if made.symmetry is not None:
        for p, sign, c in parts_of(made.symmetry):
            image = sign * (expected.conj() if c else expected).transpose(p)
            np.testing.assert_array_equal(image, expected)


@given(symmetric_tiles(), symmetric_tiles(most_rank=2), st.data())
def test_contractions_store_unique_tiles(one, two, data):
    (_, [(t, x, _)]), (_, [(u, y, _)]) = one, two
    left = "abc"[: x.ndim]
    labels = data.draw(st.permutations("abcde"))[: y.ndim]
    right = "".join(labels)
    for label in set(left) & set(right):
        if t.tiling.partitions[left.index(label)] != u.tiling.partitions[right.index(label)]:
            right = right.replace(label, {"a": "p", "b": "q", "c": "r"}[label])
    shared = [own for own in left if own in right]
    batches = [own for own in shared if data.draw(st.booleans())]
    free = [own for own in left + right if own not in shared]
    result = "".join(data.draw(st.permutations([*free, *batches])))
    equation = f"{left},{right}->{result}"
    made, expected = tw.contract(equation, t, u), np.einsum(equation, x, y)
    found = made if not made.shape.rank else box_of(made)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    if made.shape.rank and made.symmetry is not None:
        assert made.stored_pattern == made.pattern.unique(made.symmetry)
        whole = box_of(made)
        for p, sign, c in parts_of(made.symmetry):
            # In each bit: tiles on diagonals as well.
            np.testing.assert_array_equal(sign * (whole.conj() if c else whole).transpose(p), whole)


@given(symmetric_tiles())
def test_packing_goes_both_ways(case):
    symmetry, [(t, x, _)] = case
    packed = t.untiled().to_packed(symmetry)
    assert packed.symmetry == symmetry
    np.testing.assert_array_equal(packed.to_dense(), x)
    again = packed.tiled(t.tiling).keep_tiles(t.pattern, symmetry=symmetry)
    assert again.array_equal(t)
    assert again.stored_pattern == t.stored_pattern


@given(symmetric_tiles(), st.floats(0, 6), st.booleans())
def test_screening_takes_whole_orbits(case, bound, error):
    symmetry, [(t, x, _)] = case
    kept = t.screened(error=bound) if error else t.screened(bound)
    assert kept.pattern == kept.pattern.closure(symmetry)
    rest = np.linalg.norm(x - box_of(kept))
    if error:
        assert rest <= bound * (1 + 1e-12)
    else:
        norms = t.tile_norms().to_numpy()
        assert kept.pattern == BlockPattern.from_mask(t.tiling, ~(norms < bound) & t.pattern.mask())


@given(symmetric_tiles(), st.data())
def test_any_block_of_an_orbit_gives_it(case, data):
    symmetry, [(t, x, pattern)] = case
    blocks = {}
    for number in t.stored_pattern:
        orbit = list(BlockPattern(t.tiling, [number]).closure(symmetry))
        chosen = data.draw(st.lists(st.sampled_from(orbit), min_size=1, unique=True))
        blocks.update({own: np.asarray(t.tile(own)) for own in chosen})
    made = tw.blocks(blocks, t.tiling, symmetry=symmetry, dtype=x.dtype)
    assert made.pattern == pattern
    np.testing.assert_array_equal(box_of(made), x)


def test_water():
    eri = tw.from_packed(water_integrals(), "s8", (7,) * 4)
    cut = Tiling(*[SHELLS] * 4)
    t = eri.tiled(cut).keep_tiles(BlockPattern(cut), symmetry="s8")
    assert (t.stored_pattern.count, t.pattern.count) == (120, 625)
    assert (len(t.packed_values()), t.packed_values().nbytes) == (544, 4352)
    few = t.screened(1e-2)
    assert (few.stored_pattern.count, few.pattern.count, len(few.packed_values())) == (100, 497, 446)
    back = t.untiled().to_packed("s8")
    assert back.packed_values().tobytes() == eri.packed_values().tobytes()
    unit = tw.as_tensor(np.eye(7)).tiled(Tiling(SHELLS, SHELLS)).screened()
    coulomb, exchange = tw.contract("ijkl,kl->ij", t, unit), tw.contract("ikjl,kl->ij", t, unit)
    assert coulomb.symmetry == S2
    assert coulomb.stored_pattern.count == 15
    np.testing.assert_allclose(np.trace(box_of(coulomb)), 39.1967459585)
    np.testing.assert_allclose(np.trace(box_of(exchange)), 13.1532637814)
    assert np.linalg.norm(t) == pytest.approx(8.1571456564)


def test_elements_are_written_through_packed_values():
    x = np.arange(9.0).reshape(3, 3)
    t = tw.as_tensor(x - x.T).tiled(Tiling([1, 2], [1, 2])).keep_tiles(lambda i, j: i >= j, symmetry="a2")
    assert t.pattern.count == 4
    t.packed_values()[1] = 9.0
    assert box_of(t)[1, 0] == 9.0
    assert box_of(t)[0, 1] == -9.0
    assert t.tile((0, 1)).tolist()[0][0] == -9.0
    for write in (
        lambda: t.untiled().assign(0.0),
        lambda: t.tile((1, 0)).assign(0.0),
        lambda: t.tile((0, 1)).assign(0.0),
        lambda: t.add_tiles({(1, 0): [[1.0], [1.0]]}),
    ):
        with pytest.raises(ReadOnlyError):
            write()
    own = t.with_tiles([(0, 0)])
    own.untiled()[0, 1] = 4.0
    assert own.symmetry is None


def test_hermitian_tiles_are_hermitian_on_diagonals():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))
    x = x + x.conj().T
    cut = Tiling([2, 2], [2, 2])
    t = tw.as_tensor(x).tiled(cut).keep_tiles(BlockPattern(cut), symmetry="h2")
    assert t.symmetry == H2
    assert t.tile((0, 1)).to_numpy().tolist() == x[:2, 2:].tolist()
    almost = x + np.diag([0, 1e-15j, 0, 0])
    with pytest.raises(SymmetryError, match=r"x\[1, 1\] is .* makes it real"):
        tw.as_tensor(almost).tiled(cut).keep_tiles(BlockPattern(cut), symmetry="h2")
    near = tw.as_tensor(almost).tiled(cut).keep_tiles(BlockPattern(cut), symmetry="h2", tolerance=1e-12)
    assert (np.diagonal(box_of(near)).imag == 0).all()


def test_refusals():
    cut = Tiling([1, 2], [1, 2])
    x = np.arange(9.0).reshape(3, 3)
    t = tw.as_tensor(x).tiled(cut)
    with pytest.raises(SymmetryError, match=r"x\[0, 1\] is 1.0, but \+x\[1, 0\] is 3.0: they differ by 2.0"):
        t.keep_tiles(BlockPattern(cut), symmetry="s2")
    with pytest.raises(SymmetryError, match=r"x\[1, 2\] is 5.0"):
        t.keep_tiles([(1, 1)], symmetry="s2")
    with pytest.raises(SymmetryError, match="tolerance is 0 or more"):
        t.keep_tiles([(0, 0)], symmetry="s2", tolerance=-1.0)
    assert t.keep_tiles([(0, 0)], symmetry="s2").pattern.count == 1
    with pytest.raises(ExtentMismatchError, match="modes 0 and 1, which are cut"):
        tw.as_tensor(x).tiled(Tiling([1, 2], [2, 1])).keep_tiles([(0, 0)], symmetry="s2")
    with pytest.raises(RankError):
        t.keep_tiles([(0, 0)], symmetry="s8")
    with pytest.raises(SymmetryError, match=r"x\[0, 1\] is 2.0, but \+x\[1, 0\] is 5.0"):
        tw.blocks({(0, 1): [[2.0, 3.0]], (1, 0): [[5.0], [3.0]]}, cut, symmetry="s2")
    with pytest.raises(PatternError, match="fill"):
        tw.blocks({(1, 0): [[1.0], [2.0]]}, cut, symmetry="a2", fill_value=1.0)
    with pytest.raises(PatternError, match="greatest"):
        SymmetricBlocks(BlockPattern(cut, [(0, 1)]), np.ones(2), S2)
    with pytest.raises(BufferSizeError, match="2 elements"):
        SymmetricBlocks(BlockPattern(cut, [(1, 0)]), np.ones(3), S2)


@pytest.mark.parametrize("name", ["s8", "s4", "4: -(0 1) -(2 3)"])
def test_packed_boxes_keep_their_symmetry_when_screened(name):
    symmetry, cut = tw.Symmetry.parse(name), tw.Tiling(*[[1, 2, 1]] * 4)
    packed = tw.from_packed(np.arange(1.0, symmetry.count((4,) * 4) + 1), symmetry, (4,) * 4)
    tiles = packed.tiled(cut)
    for how in ({"error": 90.0}, {"threshold": 30.0}, {}):
        found = tiles.screened(**how)
        assert found.symmetry == symmetry
        plain = tiles.keep_tiles(lambda *numbers: numbers[0] >= 0).screened(**how)
        if "error" not in how:
            assert found.pattern == plain.pattern
        rest = np.asarray(packed.to_dense()) - np.asarray(found.untiled().to_dense())
        assert np.linalg.norm(rest) <= how.get("error", np.inf)
    assert packed.tiled(tw.Tiling([1, 3], *[[1, 2, 1]] * 3)).screened().symmetry is None
    assert packed.permute(1, 0, 2, 3).tiled(cut).screened().symmetry == symmetry
