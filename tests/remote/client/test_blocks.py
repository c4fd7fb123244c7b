"""Tensors in blocks at a server: a selection moves the elements of its present tiles, and no others."""

import attrs
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import LayoutError, RemoteProtocolError
from tensorwrapper.remote.client._blocks import pattern_of
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
        with pytest.raises(tw.errors.TensorWrapperError):
            there[0, 1, 0, 0] = 1.0


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
