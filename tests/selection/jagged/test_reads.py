"""What plans of rows and tiles read, and what is read of sources elsewhere when they are computed."""

import tracemalloc

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection.expressions._traversal import operands_first
from tests.support.selection.counting_source import CountingSource

TILES = tw.Tiling([300, 700], [500, 500])


def numbers():
    return CountingSource(np.arange(10**6, dtype=float).reshape(1000, 1000))


TILED = {
    "0:1": (np.s_[0:1], 2_400_000),
    ":, 1:": (np.s_[:, 1:], 4_000_000),
    "0, 1": (np.s_[0, 1], 1_200_000),
    "1:, :1": (np.s_[1:, :1], 2_800_000),
    "1:1": (np.s_[1:1], 0),
    ":, :, :10": (np.s_[:, :, :10], 160_000),
    ":, :, ::100, ::100": (np.s_[:, :, ::100, ::100], 800),
    ":, :, 0, 0": (np.s_[:, :, 0, 0], 32),
}


@pytest.mark.parametrize(("key", "nbytes"), TILED.values(), ids=TILED)
def test_tiles_of_a_source_elsewhere_read_what_they_have(key, nbytes):
    source = numbers()
    view = sel.as_view(source).tiled(TILES)[key]
    assert view.plan().bytes_read == nbytes
    assert view.compute().array_equal(tw.as_tensor(source.array).tiled(TILES)[key])
    assert source.nbytes == nbytes
    assert source.calls <= 1


def test_tiles_that_come_back_read_each_element_once():
    source = CountingSource(np.arange(12).reshape(3, 4))
    view = sel.as_view(source).tiled(tw.Tiling([1, 2], [2, 2]))[[1, 1, 0]]
    assert view.plan().bytes_read == 96
    expected = tw.as_tensor(source.array).tiled(tw.Tiling([1, 2], [2, 2]))[[1, 1, 0]]
    assert view.compute().tolist() == expected.tolist()
    assert source.nbytes == 96


def test_a_column_under_tiles_is_a_column():
    source = numbers()
    assert sel.as_view(source).tiled(TILES).untiled()[:, 3].plan().bytes_read == 8000


def test_a_tile_row_is_read_without_a_second_copy():
    source = numbers()
    view = sel.as_view(source).tiled(TILES)[0:1]
    tracemalloc.start()
    view.compute()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < view.nbytes * 2.5  # The counting source itself copies what it is asked for.


def rows_elsewhere(lengths):
    source = CountingSource(np.arange(sum(lengths)))
    return source, sel.as_view(source).unflatten(lengths)


def test_a_row_of_very_many_reads_its_elements():
    lengths = np.arange(10**6) % 8
    source = CountingSource(np.arange(int(lengths.sum())))
    view = sel.as_view(source).unflatten(lengths)
    for key, nbytes in [(np.s_[5], 40), (np.s_[5:6], 40), ([7, 5, 5], 96)]:
        assert view[key].plan().bytes_read == nbytes
        before = source.nbytes
        view[key].compute()
        assert source.nbytes - before == nbytes


def test_rows_and_their_reverse_are_one_request():
    source, view = rows_elsewhere([2, 1, 0, 3])
    both = sel.concat([view, view[::-1]])
    assert [own.nbytes for own in both.plan().reads] == [48]
    both.compute()
    assert (source.calls, source.nbytes) == (1, 48)


def test_one_row_of_very_many_parts_asks_one_source():
    parts = [sel.as_view(CountingSource(np.arange(2))).unflatten([1, 1]) for _ in range(50)]
    parts += [tw.jagged([[n], [n, n]]) for n in range(1000)]
    row = sel.concat(parts)[5:6]
    assert [own.nbytes for own in row.plan().reads] == [8]
    assert row.compute().tolist() == [[1]]


def test_the_other_side_of_a_stack_costs_nothing():
    source, view = rows_elsewhere([2, 1, 0, 3])
    _, other = rows_elsewhere([2, 1, 0, 3])
    first = sel.stack([view, other])[0]
    assert [own.source for own in first.plan().reads] == [source]
    assert first.compute().tolist() == view.compute().tolist()


CELLS = tw.from_buffer(np.arange(7), tw.Shape.jagged([tw.Shape(2, 2), tw.Shape(1, 3), tw.Shape(0, 2)]))
IN_TILES = tw.from_buffer(np.arange(12), tw.Shape.tiled([1, 2], [2, 2]))


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize(("tensor", "mode"), [(CELLS, 1), (CELLS, 2), (IN_TILES, 2), (IN_TILES, 3)])
@pytest.mark.parametrize("length", [0, 1, 2, 4])
def test_cells_are_made_longer_without_being_read(tensor, mode, length, clip):
    source = CountingSource(tensor)
    view = sel.as_view(source).pad_rows(length, fill_value=-1, mode=mode, clip=clip)
    assert source.calls == 0
    expected = tensor.pad_rows(length, fill_value=-1, mode=mode, clip=clip)
    assert view.shape == expected.shape
    assert view.compute().tolist() == expected.tolist()
    kept = int(np.count_nonzero(expected.elements() >= 0))
    assert view.plan().bytes_read == source.nbytes == 8 * kept
    assert view[1:].compute().tolist() == expected[1:].tolist()


LAYERS = {
    "a box": tw.from_buffer(np.arange(12), tw.Shape.nested(tw.Shape(3, 4), layers=(1, 1))),
    "rows": tw.from_buffer(np.arange(6), tw.Shape.nested(tw.Shape.jagged([2, 1, 0, 3]), layers=(1, 1))),
}


@pytest.mark.parametrize("tensor", LAYERS.values(), ids=LAYERS)
def test_a_source_has_layers_and_its_view_has_blocks(tensor):
    source = CountingSource(tensor)
    view = sel.as_view(source)
    assert view.shape == tensor.shape
    assert view[1:].plan().bytes_read == 8 * tensor[1:].size
    assert view[1:].compute().tolist() == tensor[1:].tolist()
    assert source.nbytes == 8 * tensor[1:].size
    found = list(view.blocks(32))
    assert [row for _, block in found for row in block.tolist()] == tensor.tolist()
    for region, block in found:
        assert block.shape == region
        assert region.layers == (1, 1)
        assert block.size <= 4


def test_explanations_of_rows_say_what_is_read():
    _, view = rows_elsewhere([2, 1, 0, 3])
    assert "reads 48 B of 1 source" in view.pad_rows(4).explain()
    assert "reads 16 B of 1 source" in view[[3, 0, 3]][:, :1].explain()


MANY = {
    "beside": lambda v, w: sel.concat([v, w], mode=1),
    "in turns": lambda v, w: sel.interleave([v, w]),
    "longer": lambda v, _: v.pad_rows(5),
    "one by one": lambda v, _: sel.stack([v, v[:, ::-1]], mode=1),
}


@pytest.mark.parametrize("make", MANY.values(), ids=MANY)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_rows_that_alternate_are_arrays_and_no_objects(make, elsewhere):
    lengths = np.arange(4000) % 4
    tensors = [tw.from_buffer(np.arange(6000) + first, tw.Shape.jagged(lengths)) for first in (0, 7)]
    view = make(*[sel.as_view(CountingSource(own) if elsewhere else own) for own in tensors])
    elements = view.flatten().normal_form()
    assert len(operands_first([elements])) < 20
    lists = view[[0, 1, -1]].compute().tolist()
    whole = view.compute().tolist()
    assert lists == [whole[0], whole[1], whole[-1]]
    assert view[1001:1003].compute().tolist() == whole[1001:1003]
    assert view[:, ::-1].compute().tolist() == [row[::-1] for row in whole]
    assert sum(len(read.selections) for read in view.plan().reads) < 20


WORDS = MANY | {
    "longer": lambda v, _: v.pad_rows(9, fill_value="-"),
    "backwards": lambda v, w: sel.concat([v, w])[::-1],
}


@pytest.mark.parametrize("make", WORDS.values(), ids=WORDS)
def test_many_rows_of_words_are_what_few_are(make):
    words = [["a", "bc", "", None, "de"][k % 5] for k in range(9000)]
    rows = [sel.as_view(tw.strings(own).unflatten([3, 0, 6] * 1000)) for own in (words, words[::-1])]
    view = make(*rows)
    whole = view.compute().tolist()
    for start in range(0, len(view), 997):
        assert view[start : start + 2].compute().tolist() == whole[start : start + 2]
