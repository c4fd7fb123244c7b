"""What is selected of a tiled tensor at a server is what is selected here, and little more travels."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.testing import tilings

HEADER = 1024
"""Bytes of a request and its answer beside elements, about and at most."""
FORMS = ("dense", "turned", "named", "layers", "words", "sparse", "window")


@pytest.fixture(scope="module")
def pair():
    with tw.serve({"T": np.zeros(1)}) as server, tw.connect(server.address) as remote:
        yield server, remote


def tensor_of(form, tiling):
    box = tiling.elements
    x = tw.from_buffer(np.arange(box.size, dtype="f8"), box)
    if form == "turned":
        x = tw.from_buffer(np.arange(box.size, dtype="f8"), tw.Shape(*box.extents[::-1]))
        x = x.permute(tuple(range(box.rank))[::-1])[(slice(None, None, -1),)].translate_to(box.origin)
    elif form == "words":
        x = tw.strings([f"{'w' * (k % 5)}{k}" for k in range(box.size)]).reshape(box.extents)
        x = x.translate_to(box.origin)
    elif form == "sparse":
        values = np.arange(box.size) % 3 * np.arange(box.size)
        places = np.argwhere(values.reshape(box.extents)) + box.origin
        x = tw.sparse(places, values[values > 0], box)
    seen = x.tiled(tiling)
    if form == "named":
        return seen.named(*"abcdefgh"[: 2 * box.rank])
    if form == "layers":
        return tw.Tensor(tw.Layout.nested(seen.layout, layers=(box.rank, box.rank)), seen.buffer)
    if form == "window" and seen.shape.extent(0):
        return seen.window(seen.shape[1:])
    return seen


@st.composite
def keys(draw, rank):
    items = st.one_of(
        st.integers(-3, 3),
        st.slices(4),
        st.just(slice(None)),
        st.lists(st.integers(0, 2), min_size=1, max_size=3),
        st.just(None),
        st.just(...),
    )
    key = draw(st.lists(items, min_size=1, max_size=rank))
    return tuple(key) if len(key) > 1 or draw(st.booleans()) else key[0]


@st.composite
def steps(draw, tiling):
    rank, grid = tiling.rank, tiling.grid.extents
    name = draw(st.sampled_from(("key", "tile", "select", "untiled", "element", "turn", "rows", "flat")))
    if name == "key":
        key = draw(keys(2 * rank))
        return f"key {key}", lambda t: t[key]
    if name == "tile":
        number = tuple(draw(st.integers(0, max(n - 1, 0))) for n in grid)
        return f"tile {number}", lambda t: t.tile(number)
    if name == "select":
        count = prod(grid)
        flags = draw(st.lists(st.booleans(), min_size=count, max_size=count))
        mask = np.array(flags, dtype=bool).reshape(grid)
        return f"select {mask}", lambda t: t.select_tiles(mask)
    if name == "untiled":
        key = draw(keys(rank))
        return f"untiled {key}", lambda t: t.untiled()[key]
    if name == "element":
        index = tuple(draw(st.integers(0, max(n - 1, 0))) for n in grid)
        return f"element {index}", lambda t: t.element(index)
    if name == "turn":
        order = draw(st.permutations(range(rank)))
        return f"turn {order}", lambda t: t.permute((*order, *[rank + m for m in order]))
    if name == "rows":
        return "rows", lambda t: t.rows()[-1]
    return "flat", lambda t: t.flatten()


def outcome(make):
    try:
        found = make()
        tiling = found.tiling if hasattr(found, "tiling") else None
        return found.shape, tiling, found.dtype, found.tolist()
    except (TensorWrapperError, IndexError, AttributeError) as error:
        return type(error).__name__


@pytest.mark.parametrize("form", FORMS)
@given(data=st.data())
@settings(max_examples=25)
def test_every_selection_is_that_of_the_local_tensor(form, pair, data):
    server, remote = pair
    tiling = data.draw(tilings(max_rank=2, max_extent=3))
    here = tensor_of(form, tiling)
    server.replace("T", here)
    there = remote["T"]
    local = sel.as_view(here)
    for _ in range(3):
        said, step = data.draw(steps(tiling))
        wanted = outcome(lambda step=step: step(local))
        assert outcome(lambda step=step: step(there.view())) == wanted, said
        if said.startswith(("key", "select", "tile", "untiled")):
            assert outcome(lambda step=step: step(remote["T"])) == wanted, said
    assert outcome(there.view) == outcome(lambda: local)
    if form not in ("layers", "words"):
        assert outcome(lambda: there.reduce_tiles(np.add)) == outcome(lambda: local.reduce_tiles(np.add))


def moved(remote, view):
    before = remote.counters
    found = view.compute()
    after = remote.counters
    up = after.bytes_sent_on_wire - before.bytes_sent_on_wire
    down = after.bytes_received_on_wire - before.bytes_received_on_wire
    return found, up + down, after.messages_sent - before.messages_sent


@given(data=st.data())
@settings(max_examples=15)
def test_what_travels_is_what_is_selected(pair, data):
    server, remote = pair
    sizes = st.lists(st.integers(1, 40), min_size=2, max_size=6)
    tiling = tw.Tiling(data.draw(sizes), data.draw(sizes))
    here = tensor_of("dense", tiling)
    server.replace("T", here)
    there, local = remote["T"].view(), sel.as_view(here)
    assert there.shape == local.shape
    m, n = tiling.grid.extents
    row, column = data.draw(st.integers(0, m - 1)), data.draw(st.integers(0, n - 1))
    step = data.draw(st.integers(1, 7))
    for choose in (
        lambda t: t[row],
        lambda t: t[row:],
        lambda t: t[:, column],
        lambda t: t[row, column],
        lambda t: t[row, column, ::2, 1:],
        lambda t: t[::2, column:],
        lambda t: t.tile((row, column)),
        lambda t: t.untiled()[row:, ::step],
        lambda t: t[row:, column:].untiled(),
    ):
        view = choose(there)
        planned = view.plan().bytes_on_wire
        found, count, requests = moved(remote, view)
        assert found.tolist() == choose(local).tolist()
        assert count == planned <= 1.02 * view.nbytes + HEADER
        assert requests == (view.size > 0)


def test_one_tile_row_is_one_request(pair):
    server, remote = pair
    tiling = tw.Tiling([25] * 8, [40] * 10)
    server.replace("T", tensor_of("dense", tiling))
    found, count, requests = moved(remote, remote["T"][3])

    assert requests == 1
    assert found.shape == tw.Shape.jagged([tw.Shape(25, 40)] * 10)
    assert count <= 1.02 * found.nbytes + HEADER


def test_tiles_are_reduced_there_and_written_to():
    x = np.arange(35.0).reshape(5, 7)
    tiling = tw.Tiling([2, 3], [4, 3])
    with (
        tw.serve({"T": tw.as_tensor(x).tiled(tiling)}, writable=True) as server,
        tw.connect(server.address) as remote,
    ):
        there = remote["T"]
        sums = [[own[:, :4].sum(), own[:, 4:].sum()] for own in (x[:2], x[2:])]
        assert remote.reduce(np.add, there, "tiles").tolist() == sums
        there[1, 0] = -1.0
        assert (x[2:, :4] == -1).all()
        assert (np.delete(x[2:], range(4), axis=1) >= 0).all()
        assert there.untiled().tolist() == x.tolist()


def test_a_server_that_knows_nothing_of_boxes_serves_rows_of_tiles(monkeypatch):
    from tensorwrapper.remote.server import _catalogue

    before = tuple(own for own in _catalogue.CAPABILITIES if own != "box")
    monkeypatch.setattr(_catalogue, "CAPABILITIES", before)
    here = tensor_of("dense", tw.Tiling([2, 3], [4, 3]))
    with tw.serve({"T": here}) as server, tw.connect(server.address) as remote:
        assert remote["T"].shape == here.shape
        assert remote["T"][1, 0].tolist() == here[1, 0].tolist()
        # Its elements come one tile after the other, and a view sees the tiles of those.
        assert remote["T"].view().tiling == here.tiling
        assert remote["T"].view().tile((1, 1)).tolist() == here.tile((1, 1)).tolist()
        assert remote["T"].tiling == here.tiling


@pytest.mark.parametrize("key", [..., (...,), (None, ..., 0), (None, slice(None, 0), 3), (None, slice(1), 0)])
def test_keys_that_begin_with_no_position_are_of_the_tiles(key, pair):
    server, remote = pair
    here = tw.as_tensor(np.arange(8.0).reshape(4, 2)).tiled(tw.Tiling([3, 1], [2]))
    server.replace("T", here)
    assert outcome(lambda: remote["T"][key]) == outcome(lambda: sel.as_view(here)[key])
