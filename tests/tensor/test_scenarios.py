"""Real and realistic jagged data, end to end: shell tiles, pair amplitudes, detector planes."""

import awkward as ak
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.buffer import count_copies
from tensorwrapper.cli.demo._demo_data import load_benzene, load_pairs
from tensorwrapper.cli.demo._demo_work import pair_energy, pair_plan
from tests.support.tensor.awkward_arrays import to_awkward
from tests.support.tensor.detector import CHANNELS, THRESHOLD, TICKS, readout


@pytest.fixture(scope="module")
def benzene():
    return load_benzene(None)


@pytest.fixture(scope="module")
def pairs():
    return load_pairs(None)


@pytest.fixture(scope="module")
def planes():
    return readout()


# Overlap of benzene by shells and by atoms.


def test_shell_tiles_hold_the_matrix_and_its_norms(benzene):
    overlap = tw.as_tensor(benzene.overlap).tiled(benzene.shells)

    assert overlap.shape.outer().extents == (48, 48)
    assert len({tuple(extents) for extents in overlap.shape.cell_table().extents.tolist()}) == 16
    assert np.array_equal(overlap.untiled().to_numpy(), benzene.overlap)
    assert round(float(np.sqrt((overlap.elements() ** 2).sum())), 12) == 15.909839699504
    assert round(float(np.trace(benzene.overlap)), 9) == 114
    magnitudes = tw.as_tensor(np.abs(benzene.overlap)).tiled(benzene.shells).reduce_tiles(np.maximum)
    assert int((magnitudes.to_numpy() > 1e-8).sum()) == 2148


def test_rows_of_tiles_sum_to_the_matrix_and_tiles_of_atoms_join_those_of_shells(benzene):
    matrix = np.abs(benzene.overlap)
    shells = tw.as_tensor(matrix).tiled(benzene.shells)
    atoms = tw.as_tensor(matrix).tiled(benzene.atoms)
    tiles = shells.reduce_tiles(np.maximum).tiled(tw.Tiling(benzene.shells_per_atom, benzene.shells_per_atom))

    assert tiles.reduce_tiles(np.maximum).tolist() == atoms.reduce_tiles(np.maximum).tolist()
    assert np.allclose(shells.rows().reduce(np.add).elements().sum(), matrix.sum(), rtol=1e-13)
    plan = tw.align(shells, shells)
    one, other = plan.take(shells, shells)
    assert np.array_equal(one, other)


# Pair amplitudes of four waters.


def test_amplitudes_of_136_pairs(pairs):
    shape = pairs.amplitudes.shape
    sizes = shape.cell_table().extents[:, 0]

    assert (int(sizes.min()), int(sizes.max()), int((sizes == 0).sum())) == (0, 22, 34)
    assert int(sizes.sum()) == 1158
    assert shape.size == 16_820
    assert shape.as_smooth().size == 65_824
    assert (
        pairs.amplitudes.row_lengths(1).tolist()
        == pairs.amplitudes[:, ::-1].row_lengths(1).tolist()
        == sizes.tolist()
    )


def test_the_pair_energy_from_a_plan_of_shapes(pairs):
    plan = pair_plan(pairs.amplitudes, pairs.integrals)
    with count_copies() as count:
        energy = pair_energy(plan, pairs.amplitudes, pairs.integrals, pairs.first, pairs.second)

    assert abs(energy - -0.793264993801) < 1e-12
    assert count.nbytes == pairs.amplitudes.nbytes  # the transposed cells, and nothing else


def test_the_pair_energy_from_transposed_views(pairs):
    t, k = pairs.amplitudes, pairs.integrals
    transposed = t.permute((0, 2, 1))
    products = (2.0 * t.elements() - transposed.elements()) * k.elements()
    of_pairs = tw.from_buffer(products, k.shape).rows().reduce(np.add).rows().reduce(np.add)
    factors = np.where(pairs.first == pairs.second, 1.0, 2.0)

    assert np.shares_memory(transposed.buffer.flat, t.buffer.flat)
    assert abs(float(factors @ of_pairs.to_numpy()) - -0.793264993801) < 1e-12


def test_overlaps_of_pairs_that_share_an_orbital(pairs):
    u = [cell.to_numpy() for _, cell in pairs.transformations.cells()]
    number = {pair: k for k, pair in enumerate(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))}
    shared = [(k, number[max(i, j), min(i, j)]) for (i, _), k in number.items() for j in range(16)]
    overlaps = tw.jagged([u[left].T @ u[right] for left, right in shared])

    assert len(overlaps) == 2176
    assert overlaps.size == 149_116
    assert round(float((overlaps.elements() ** 2).sum()), 4) == 6368.3608


# Planes of a wire detector, with regions of interest.


def test_planes_of_a_detector_and_their_sums(planes):
    adc = tw.jagged(planes)

    assert adc.shape == Shape.from_cells((3,), [(n, TICKS) for n in CHANNELS])
    assert (adc.size, adc.shape.as_smooth().size) == (15_360_000, 17_280_000)
    assert adc.dtype == np.int16
    assert adc.reduce_tiles(np.add).tolist() == [10_046_726, 10_046_430, 12_055_346]
    assert adc.row_lengths().tolist() == list(CHANNELS)


def test_regions_of_interest_are_three_levels_of_rows(planes):
    adc = tw.jagged(planes)
    above = tw.from_buffer(adc.elements() > THRESHOLD, adc.shape)
    samples = adc[above]
    lengths = above.run_lengths()
    # Runs of samples above the threshold and of those that are not take turns in each channel.
    first = tw.from_buffer(lengths.elements(), lengths.shape).local_index()
    starts_above = np.repeat(above[:, :, 0].elements(), lengths.row_lengths(2).elements())
    lengths = lengths[tw.from_buffer((first.elements() % 2 == 0) == starts_above, lengths.shape)]
    with count_copies() as count:
        regions = samples.unflatten(lengths, 2)

    assert count.copies == 0
    assert regions.rank == 4
    assert [int(n.elements().sum()) for n in regions.row_lengths(2)] == [1000, 1000, 1200]
    assert (min(lengths.elements()), max(lengths.elements())) == (1, 37)
    assert set(regions.row_lengths(2).elements().tolist()) == {1, 2}
    charge = regions
    for _ in range(3):
        charge = charge.rows().reduce(np.add)
    assert charge.tolist() == [484_727, 484_438, 580_922]
    assert regions.flatten(3).array_equal(samples)
    assert (
        regions.local_index().rows().reduce(np.maximum).elements().tolist()
        == (lengths.elements() - 1).tolist()
    )
    peaks = regions.rows().reduce(np.maximum)
    assert peaks.tolist() == ak.max(to_awkward(regions), axis=-1).to_list()


# What every peer gets wrong, or refuses too late.


def test_padding_does_not_depend_on_what_was_asked_before():
    t = tw.jagged([[[1, 2], [3]], [[4, 5, 6]]])
    before = t.pad_rows(2).tolist()
    t.shape.extent_bounds(2), t.row_lengths(2), t.rows()[0]

    assert t.pad_rows(2).tolist() == before == [[[1, 2], [3, 0]], [[4, 5, 6]]]
    assert t.to_padded().shape == (2, 2, 3)


def test_rows_of_a_million_lists_are_summed_in_memory_of_their_own_size():
    n = 10**6
    t = tw.as_tensor(np.ones(3 * n, dtype=np.int8)).unflatten(np.tile([6, 0], n // 2))

    assert int(t.rows().reduce(np.add).elements().sum()) == 3 * n
    assert t.rows().reduce(np.add).elements()[:4].tolist() == [6, 0, 6, 0]


def test_rows_behind_the_last_element_are_not_lost():
    t = tw.as_tensor([1, 2, 3]).unflatten([1, 0, 2, 0, 0])

    assert len(t) == 5
    assert tw.from_buffer(t.elements(), Shape.from_row_ids([0, 2, 2], 5)).array_equal(t)


def test_a_permutation_twice_is_the_tensor_again():
    t = tw.jagged([np.arange(6).reshape(2, 3), np.arange(4).reshape(4, 1)])

    assert t.permute((0, 2, 1)).permute((0, 2, 1)).array_equal(t)
    assert t.permute((0, 2, 1)).tolist() == [[[0, 3], [1, 4], [2, 5]], [[0, 1, 2, 3]]]


def test_values_do_not_leave_their_rows():
    t = tw.jagged([[1, 2, 3], [4], [5, 6]])

    assert t[:, ::-1].tolist() == [[3, 2, 1], [4], [6, 5]]
    assert t[tw.jagged([[1, 2, 0], [0], [1, 0]])].tolist() == [[2, 3, 1], [4], [6, 5]]
