"""Tensors in blocks at a server: a selection moves the elements of its present tiles, and no others."""

import pickle

import attrs
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import LayoutError, ReadOnlyError, RemoteProtocolError
from tensorwrapper.remote.client._blocks import pattern_of
from tensorwrapper.remote.served._writing import store_values
from tensorwrapper.selection import Outer, Runs
from tests.support.tiles.block_tensors import P, T, X, dense, of

D = of(P, X)


@pytest.fixture(scope="module")
def remote():
    tensors = {
        "d": D,
        "ones": D + 1,
        "none": tw.zeros(tw.BlockPattern(T, [])),
        "turned": D.permute((1, 0, 3, 2)),
        "moved": D.translate_to((5, 6, 0, 0)),
        "box": D.untiled(),
        "x": X,
    }
    with tw.serve(tensors) as server, tw.connect(server.address) as connected:
        yield connected


KEYS = [
    ...,
    np.s_[1:],
    np.s_[:, 1:],
    np.s_[0:1, 0:1],
    np.s_[1, 1],
    np.s_[0, 1],
    np.s_[0],
    np.s_[1, 1, 0, 0],
    np.s_[::-1],
    np.s_[:, :, ::-1],
    np.s_[0:0],
]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("name", ["d", "ones", "none", "turned", "moved"])
def test_selections_are_those_of_the_tensor(remote, name, key):
    here = {"d": D, "ones": D + 1, "none": tw.zeros(tw.BlockPattern(T, []))}
    here |= {"turned": D.permute((1, 0, 3, 2)), "moved": D.translate_to((5, 6, 0, 0))}
    there = remote[name]
    got, right = there[key].compute(), here[name][key]
    assert got.tolist() == right.tolist()
    assert got.shape == right.shape
    assert there.compute().array_equal(here[name])


def test_patterns_and_tiles_come_by_themselves(remote):
    there = remote["d"]
    assert there.pattern == P
    assert remote["moved"].pattern == P
    assert there[1:].compute().pattern.count == 3
    for number in T.grid.indices():
        tile = there.tile(number)
        assert tile.tolist() == D.tile(number).tolist()
        assert tile.shape == D.tile(number).shape
    assert remote["moved"].tile((6, 7)).tolist() == D.tile((1, 1)).tolist()
    assert np.array_equal(dense(there.untiled().compute()), dense(D))
    assert np.array_equal(np.asarray(remote["box"].compute().to_dense()), dense(D))
    for name in ("x", "box"):
        with pytest.raises(LayoutError, match="not in blocks"):
            _ = remote[name].pattern


def test_patterns_have_the_origin_of_the_box():
    moved = tw.Tiling([1, 2, 3], [2, 4], origin=(7, -3))
    tensor = tw.blocks({(1, 1): np.ones((2, 4))}, moved)
    with tw.serve({"t": tensor}) as server, tw.connect(server.address) as connected:
        there = connected["t"]
        assert there.pattern == tensor.pattern
        assert there.tile((1, 1)).shape == tensor.tile((1, 1)).shape
        assert there[1:].compute().pattern == tensor[1:].pattern


def test_writes_are_seen_in_stored_tiles():
    tensor = D.copy()
    with tw.serve({"d": tensor}, writable=True) as server, tw.connect(server.address) as connected:
        there = connected["d"]
        assert there[1, 1].tolist() == D[1, 1].tolist()
        there[1, 1, 0, 0] = 99.0
        assert there[1, 1, 0, 0].item() == 99.0
        assert connected["d"].compute().array_equal(tensor)
        assert tensor.tile((1, 1))[0, 0].item() == 99.0
        with pytest.raises(ReadOnlyError, match=r"the tile \(0, 1\) is absent.*with_tiles"):
            there[0, 1, 0, 0] = 1.0


def test_writes_to_absent_tiles_store_nothing():
    tensor = D.copy()
    box = tensor.untiled()
    parts = [Outer((range(1), range(2))), Outer((range(5, 6), range(5, 6))), Outer((range(1), range(4, 6)))]
    for selections in (parts, [Runs([0], [2]), Runs([2], [2])]):
        shape = box if isinstance(selections[0], Outer) else tensor
        values = [np.full(own.extents, 5.0) for own in selections]
        with pytest.raises(ReadOnlyError, match="absent"):
            store_values(shape, selections, values)
        assert tensor.array_equal(D)
    store_values(box, parts[:2], [np.full(own.extents, 5.0) for own in parts[:2]])
    assert dense(tensor)[[0, 0, 5], [0, 1, 5]].tolist() == [5.0] * 3


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"present": 3}, "stores"),
        ({"present": 7}, "7 of 6"),
        ({"present": 5}, "position 4"),
        ({"entries": 27}, "stores"),
    ],
)
def test_facts_that_lie_are_refused(remote, changed, text):
    there = remote["d"]
    facts = attrs.evolve(there._facts, **changed)
    source = attrs.evolve(there._source(there.shape), layout=None)
    with pytest.raises(tw.errors.TensorWrapperError, match=text) as caught:
        pattern_of(facts, source)
    assert isinstance(caught.value, RemoteProtocolError) or "position" in str(caught.value)


def requests_of(remote, call):
    before = remote.stats()["requests"]
    found = call()
    return found, remote.stats()["requests"] - before - 1


@pytest.mark.parametrize(
    ("key", "count"),
    [(..., 28), (np.s_[1:], 26), (np.s_[1, 1], 8), (np.s_[0, 1], 0), (np.s_[::-1, ::-1], 28)],
    ids=str,
)
def test_a_plan_counts_present_elements_before_anything_moves(remote, key, count):
    there = remote["d"]
    assert there.pattern == P
    (view, plan, told), asked = requests_of(
        remote, lambda: (there[key], there[key].plan(), (there[key].plan().bytes_received))
    )
    assert (told, asked) == (count * 8, 0)
    assert plan.requests == (count > 0)
    assert plan.bytes_fetched == count * 8
    assert (plan.bytes_on_wire > count * 8) == (count > 0)
    got, asked = requests_of(remote, view.compute)
    assert asked == plan.requests
    assert got.tolist() == D[key].tolist()


BOXES = [
    np.s_[2:6, 1:5],
    np.s_[::-1],
    np.s_[1],
    np.s_[:, 3],
    np.s_[4, 4],
    np.s_[0, 5],
    np.s_[::2, ::3],
    np.s_[[4, 0, 4]],
    np.s_[3:3],
]


@pytest.mark.parametrize("key", BOXES, ids=str)
def test_selections_of_the_box_move_what_is_present_in_them(remote, key):
    there, box = remote["d"], dense(D)
    _ = there.pattern
    view, asked = requests_of(remote, lambda: there.untiled()[key])
    marks = dense(of(P, np.ones((6, 6))))[key] != 0
    plan = view.plan()
    places = np.arange(36).reshape(6, 6)[key][marks]
    assert (asked, plan.bytes_received) == (0, 8 * len(np.unique(places)))
    got, asked = requests_of(remote, view.compute)
    assert asked == (len(places) > 0)
    assert np.array_equal(np.asarray(got.to_dense()), box[key])


def test_views_over_selections_are_lazy_and_stay_blocks(remote):
    there, ones = remote["d"], remote["ones"]
    joined = tw.concat([there.untiled(), there.untiled()[:3]])
    assert joined.plan().bytes_received == 28 * 8
    assert joined.compute().pattern.count == 6
    assert np.array_equal(dense(tw.where(there > 0, there, there).compute()), dense(D))
    assert (there * 2).pattern == P
    assert (there + ones).array_equal(D + (D + 1))
    assert there[1:][1:].plan().bytes_received == 18 * 8
    assert there[1:].pattern.count == 3
    assert there.untiled()[2:6, 1:5].pattern == D.untiled()[2:6, 1:5].pattern
    assert there[1:].tile_norms().tolist() == D[1:].tile_norms().tolist()
    assert [(n, t.tolist()) for n, t in there.view().present_tiles()] == [
        (n, t.tolist()) for n, t in D.present_tiles()
    ]
    assert there.screened(40.0).pattern == D.screened(40.0).pattern
    assert there.packed_values().tolist() == D.packed_values().tolist()
    assert np.sum(there) == np.sum(D)
    assert there[1:].array_equal(D[1:])
    assert there.view().astype(np.float32).compute().array_equal(D.astype(np.float32))
    whole = there.compute()
    whole.tile((1, 1))[0, 0] = 5.0
    assert whole.tile((1, 1))[0, 0].item() == 5.0
    with pytest.raises(tw.errors.ReadOnlyError, match=r"copy\(\)"):
        there.view()[1, 1, 0, 0] = 1.0


def test_selections_may_be_pickled(remote):
    view = pickle.loads(pickle.dumps(remote["d"][1:]))
    assert view.compute().tolist() == D[1:].tolist()


SIGNS = {"s2": 1, "a2": -1, "h2": 1, "ah2": -1}


def symmetric_tiles(name):
    rng = np.random.default_rng(3)
    full = rng.normal(size=(6, 6)) + 1j * rng.normal(size=(6, 6))
    full = full if "h" in name else full.real
    other = full.T.conj() if "h" in name else full.T
    cut = tw.Tiling([1, 2, 3], [1, 2, 3])
    return (
        tw.as_tensor(full + SIGNS[name] * other)
        .tiled(cut)
        .keep_tiles([(1, 0), (1, 1), (2, 1)], symmetry=name)
    )


@pytest.fixture(scope="module", params=list(SIGNS))
def orbits(request):
    here = symmetric_tiles(request.param)
    with tw.serve({"t": here, "box": here.untiled()}) as server, tw.connect(server.address) as connected:
        yield connected, here


def test_symmetric_tiles_move_one_of_each_orbit(orbits):
    remote, here = orbits
    there, item = remote["t"], here.dtype.itemsize
    assert (there.symmetry, there.pattern) == (here.symmetry, here.pattern)
    assert there.stored_pattern == here.stored_pattern
    assert there.plan().bytes_received == here.packed_values().nbytes
    got, asked = requests_of(remote, there.compute)
    assert (got.symmetry, asked) == (here.symmetry, 1)
    assert got.packed_values().tolist() == here.packed_values().tolist()
    for number in here.pattern.tiling.grid.indices():
        assert there.tile(number).tolist() == here.tile(number).tolist()
        assert (
            there.tile(number).plan().bytes_received
            == (number in here.pattern) * here.tile(number).size * item
        )
    assert there.untiled().permute(1, 0).compute().tolist() == here.untiled().permute(1, 0).tolist()
    assert (there * 2).symmetry == here.symmetry
    assert there.screened().symmetry == here.symmetry
    for key in KEYS[1:]:
        assert there[key].compute().tolist() == here[key].tolist(), key
    box = np.asarray(here.untiled().to_dense())
    for key in BOXES:
        assert np.array_equal(np.asarray(there.untiled()[key].compute().to_dense()), box[key])
    both = there.untiled()[1:3, 0:1], there.untiled()[0:1, 1:3]
    assert both[1].plan().bytes_received == 2 * item
    joined = tw.concat([both[0], both[1].permute(1, 0)])
    assert joined.plan().bytes_received == 2 * item
    assert np.array_equal(np.asarray(remote["box"].compute().to_dense()), box)
    assert remote["box"].symmetry is None


def test_who_does_not_ask_for_symmetry_reads_all_tiles(orbits):
    remote, here = orbits
    there = remote["t"]
    plain = type(there)(there._connections, attrs.evolve(there._facts, symmetry=None))
    assert plain.symmetry is None
    assert plain.compute().tolist() == here.tolist()
    assert plain.plan().bytes_received == here.pattern.elements * here.dtype.itemsize


@pytest.mark.parametrize("text", ["s8", "s9", "2: +(0 1", "2: +(0 1)*"])
def test_a_symmetry_that_does_not_fit_the_tiles_is_refused(remote, text):
    there = remote["d"]
    lying = type(there)(there._connections, attrs.evolve(there._facts, symmetry=text))
    with pytest.raises(RemoteProtocolError, match=r"\[schema\].*'d'"):
        lying.view()


@pytest.mark.parametrize(
    "joined",
    [
        lambda x: tw.concat([x, x]),
        lambda x: tw.stack([x, x]),
        lambda x: tw.concat([x, x[::-1]]),
        lambda x: tw.concat([x[:2], x[1:3], x]),
        lambda x: tw.concat([tw.where(x > 0, x, 0.0), x]),
    ],
)
def test_tiles_that_several_parts_of_a_join_need_travel_once(joined):
    local = tw.as_tensor(np.kron(np.eye(3), np.ones((2, 2)))).tiled(tw.Tiling([2] * 3, [2] * 3)).screened()
    with tw.serve({"b": local}) as server, tw.connect(server.address, compress=False) as remote:
        view = joined(remote["b"].view())
        plan, before = view.plan(), remote.counters
        found, after = view.compute(), remote.counters
        assert found.tolist() == joined(local).tolist()
        assert plan.bytes_received == 12 * 8
        assert after.messages_sent - before.messages_sent == plan.requests == 1
