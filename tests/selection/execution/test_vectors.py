"""Views whose elements and reads are known, computed of memory and of a source elsewhere."""

import numpy as np
import pytest

from tensorwrapper import selection as sel
from tests.support.selection.counting_source import CountingSource

X = np.arange(24).reshape(4, 6)
PARTS = [[0, 1, 2], [10, 11, 12, 13, 14], [20, 21]]
TURNS = [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22]]
LINE = np.arange(1, 5)

# name: view of x, elements, bytes that a source elsewhere sends (all are int64)
VIEWS = {
    "permute, slice, chip": (lambda x: x.permute((1, 0))[5::-2][:, 1], [11, 9, 7], 24),
    "rotate and slice": (lambda x: x.rotate((1, 2))[::3, ::2], [[22, 18, 20], [16, 12, 14]], 48),
    "rotate without wrapping": (
        lambda x: x.rotate((0, 2))[:, 2:5],
        [[0, 1, 2], [6, 7, 8], [12, 13, 14], [18, 19, 20]],
        96,
    ),
    "repeat and slice": (lambda x: x.repeat((1, 2))[:, 4:10:3], [[4, 1], [10, 7], [16, 13], [22, 19]], 64),
    "repeat each and slice": (
        lambda x: x.repeat_each(1, 3)[:, 1::6],
        [[0, 2, 4], [6, 8, 10], [12, 14, 16], [18, 20, 22]],
        96,
    ),
    "repeat each, reversed": (lambda x: x.repeat_each(1, 3)[0, ::-1][::5], [5, 4, 2, 0], 32),
    "wrap": (lambda x: sel.pad(x[1], [(2, 3)], boundary="wrap"), [10, 11, 6, 7, 8, 9, 10, 11, 6, 7, 8], 48),
    "reflect": (lambda x: sel.pad(x[0], [(2, 3)], boundary="reflect"), [2, 1, 0, 1, 2, 3, 4, 5, 4, 3, 2], 48),
    "symmetric": (
        lambda x: sel.pad(x[0], [(2, 3)], boundary="symmetric"),
        [1, 0, 0, 1, 2, 3, 4, 5, 5, 4, 3],
        48,
    ),
    "edge": (lambda x: sel.pad(x[0], [(2, 3)], boundary="edge"), [0, 0, 0, 1, 2, 3, 4, 5, 5, 5, 5], 48),
    "reflect twice": (
        lambda x: sel.pad(x[0, :3], [(7, 8)], boundary="reflect"),
        [1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2],
        24,
    ),
    "symmetric twice": (
        lambda x: sel.pad(x[0, :3], [(7, 8)], boundary="symmetric"),
        [0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1],
        24,
    ),
    "outer positions": (
        lambda x: x.oindex[[3, 0, 3], [5, 5, 0]],
        [[23, 23, 18], [5, 5, 0], [23, 23, 18]],
        32,
    ),
    "points": (lambda x: x.vindex[[3, 0, 3], [5, 5, 0]], [23, 5, 18], None),
    "windows": (
        lambda x: x.reshape((24,))[:8].sliding_window(0, 3)[::2],
        [[0, 1, 2], [2, 3, 4], [4, 5, 6]],
        56,
    ),
    "diagonal": (lambda x: x[:, 1:].diagonal(), [1, 8, 15, 22], None),
    "interleaved again": (lambda x: sel.interleave([x[0::2], x[1::2]]), X.tolist(), 192),
    "constant around": (
        lambda x: sel.pad(x[0, 1:5], [(2, 3)], fill_value=9)[8::-3],
        [9, 4, 1],
        16,
    ),
    "constant cut off": (lambda x: sel.pad(x[0, 1:5], [(2, 3)], fill_value=9)[2:6], [1, 2, 3, 4], 32),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_of_memory_has_these_elements(name):
    view, expected, _ = VIEWS[name]
    assert view(sel.as_view(X)).compute().tolist() == expected


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_of_a_source_elsewhere_has_them_and_reads_each_once(name):
    view, expected, nbytes = VIEWS[name]
    source = CountingSource(X)
    chosen = view(sel.as_view(source))
    assert chosen.compute().tolist() == expected
    assert source.calls == 1
    assert source.nbytes == chosen.plan().bytes_read
    if nbytes is not None:
        assert source.nbytes == nbytes


@pytest.mark.parametrize(
    ("key", "expected"), [(slice(8, 1, -3), [20, 12, 2]), (slice(1, None, 4), [1, 12, 21])]
)
def test_slices_of_joined_sources_read_what_they_select(key, expected):
    sources = [CountingSource(np.array(part)) for part in PARTS]
    assert sel.concat(sources)[key].compute().tolist() == expected
    assert sum(source.nbytes for source in sources) == 8 * len(expected)


@pytest.mark.parametrize(
    ("key", "expected", "kinds"),
    [
        (slice(None), [0, 10, 20, 1, 11, 21, 2, 12, 22, 3, 13], 3),
        (slice(2, 11, 2), [20, 11, 2, 22, 13], 3),
        (slice(10, None, -4), [13, 2, 20], 3),
        (slice(9, None, -6), [3, 1], 1),
        (slice(None, None, 3), [0, 1, 2, 3], 1),
    ],
)
def test_slices_of_interleaved_sources_read_what_they_select(key, expected, kinds):
    sources = [CountingSource(np.array(part)) for part in TURNS]
    view = sel.interleave(sources)[key]
    assert view.compute().tolist() == expected
    assert sum(source.calls for source in sources) == kinds
    assert sum(source.nbytes for source in sources) == 8 * len(expected)
