"""Tensors of every kind in parts: what is selected is what is selected of the whole."""

import contextlib
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentError,
    LayerError,
    ParseError,
    ShardsLostError,
    TensorWrapperError,
)
from tensorwrapper.remote import Catalogue, Sharding, connect_shards, reshard_plan, take_shards
from tests.remote.shards.conftest import in_rows

RNG = np.random.default_rng(3)
WORDS = [[None if (i + j) % 4 == 3 else "w" * (i * j % 7) for j in range(5)] for i in range(9)]
LENGTHS = RNG.integers(0, 4, 9)
NUMBERS = tw.Shape.jagged(LENGTHS)
TEXTS = tw.strings([f"{k}" * (k % 3) for k in range(NUMBERS.size)])
PLACES = np.argwhere(RNG.random((9, 5)) < 0.3)

TENSORS = {
    "words": tw.strings([[own or "-" for own in row] for row in WORDS]),
    "nulls": tw.strings(WORDS),
    "sparse": tw.sparse(PLACES, np.arange(1.0, len(PLACES) + 1), tw.Shape(9, 5), fill_value=-1.0),
    "nested": tw.from_buffer(np.arange(45), tw.Shape.nested(tw.Shape(9, 5), layers=(1, 1))),
    "words in rows": tw.Tensor(tw.Layout(NUMBERS), TEXTS.buffer),
    "null numbers": tw.nullable(np.arange(45.0).reshape(9, 5), np.arange(45).reshape(9, 5) % 4 != 3),
    "nulls in rows": tw.nullable(
        tw.from_buffer(np.arange(NUMBERS.size), NUMBERS),
        tw.from_buffer(np.arange(NUMBERS.size) % 3 != 1, NUMBERS),
    ),
    "nested rows": tw.from_buffer(np.arange(NUMBERS.size), tw.Shape.nested(NUMBERS, layers=(1, 1))),
}


def sharding_of(tensor, addresses, **more):
    shape = tensor.shape
    flat = shape.flatten() if shape.has_layers else shape
    own = {"layers": shape.layers} if shape.has_layers else {}
    if tensor.is_sparse:
        own["fill_value"] = tensor.fill_value
    if tensor.is_nullable and tensor.dtype.kind != "T":
        own["nullable"] = True
    if not flat.is_box:
        plain = tensor.flatten() if shape.has_layers else tensor
        return in_rows([2, 3, 4])(plain, addresses, **own, **more)
    return Sharding(tw.Tiling([2, 3, 4], [3, 2]), tensor.dtype, addresses, **own, **more)


@pytest.fixture(scope="module")
def held():
    """All tensors at three holders; each part also at the next one but those of the last."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(tw.serve({}, threads=1)) for _ in range(3)]
        addresses = [server.address for server in servers]
        places = {"placements": [[0, 1], [1, 2], [2]]}
        shardings = {name: sharding_of(own, addresses, **places) for name, own in TENSORS.items()}
        for name, own in TENSORS.items():
            for server in servers:
                for part, view in shardings[name].parts(name, own, server.address).items():
                    # As they are cut: nobody computes them before.
                    server.replace(part, view)
        yield Catalogue(shardings), servers


@pytest.fixture(scope="module")
def shards(held):
    with connect_shards(held[0]) as found:
        yield found


def keys():
    one = st.one_of(st.integers(-9, 8), st.slices(9), st.lists(st.integers(0, 8), min_size=1, max_size=4))
    return st.one_of(one, st.tuples(one, st.slices(5)), st.just(...))


def outcome(source, key):
    try:
        found = source[key]
        return found.shape, found.dtype, found.is_sparse, found.tolist()
    except (TensorWrapperError, IndexError) as error:
        return type(error).__name__


@pytest.mark.parametrize("name", TENSORS)
@given(key=keys())
@settings(max_examples=25)
def test_every_selection_is_that_of_the_whole(name, shards, key):
    assert outcome(shards[name], key) == outcome(sel.as_view(TENSORS[name]), key)


@pytest.mark.parametrize("name", TENSORS)
def test_the_whole_is_the_whole(name, shards):
    here, there = TENSORS[name], shards[name]
    assert (there.shape, there.dtype, there.is_sparse) == (here.shape, here.dtype, here.is_sparse)
    assert (there.kind, there.rank, there.size) == (here.shape.kind, here.shape.rank, here.shape.size)
    assert len(there) == len(here)
    assert there.tolist() == here.tolist()


def test_a_catalogue_is_read_as_it_was_written(held):
    catalogue = held[0]
    assert Catalogue.from_json(catalogue.to_json()) == catalogue
    assert catalogue["sparse"].fill_value == -1.0
    assert catalogue["nested"].layers == (1, 1)
    assert len({hash(own) for own in catalogue.values()}) == len(catalogue)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"fill":"000000000000f0bf"', '"fill":"00"'),
        ('"fill":"000000000000f0bf"', '"fill":"zz"'),
        ('"fill":"000000000000f0bf"', '"fill":1'),
        ('"layers":[1,1]', '"layers":[1,2]'),
        ('"layers":[1,1]', '"layers":[-1,3]'),
        ('"layers":[1,1]', '"layers":[]'),
        ('"dtype":"string"', '"dtype":"string","fill":""'),
        ('"dtype":"nullable <f8"', '"dtype":"nullable <f8","fill":"0000000000000000"'),
        ('"dtype":"nullable <f8"', '"dtype":"nullable nullable <f8"'),
    ],
)
def test_a_catalogue_of_a_stranger_is_refused(held, old, new):
    text = held[0].to_json()
    assert old in text
    with pytest.raises(ParseError):
        Catalogue.from_json(text.replace(old, new))


def test_what_makes_no_sense_is_refused():
    tiling, at = tw.Tiling([2, 2]), ["tcp://a:1"]
    with pytest.raises(ConversionError):
        Sharding(tiling, "f8", at, rows=[1, 1], fill_value=0)
    with pytest.raises(ConversionError):
        Sharding(tiling, TENSORS["words"].dtype, at, fill_value="")
    with pytest.raises(LayerError):
        Sharding(tiling, "f8", at, layers=(1, 1))
    with pytest.raises(ConversionError):
        Sharding(tiling, "f8", at, fill_value=0, nullable=True)
    with pytest.raises(ConversionError):
        Sharding(tiling, TENSORS["nulls"].dtype, at, nullable=True)
    plain = Sharding(tiling, "f8", at)
    with pytest.raises(ConversionError, match="nullable=True"):
        plain.parts("x", tw.as_tensor([1.0, None, 2.0, 3.0]), at[0])
    with pytest.raises(DTypeError, match="nullable"):
        reshard_plan(plain, Sharding(tiling, "f8", at, nullable=True))
    sparse = Sharding(tiling, "f8", at, fill_value=0)
    with pytest.raises(ConversionError):
        reshard_plan(sparse, sparse)
    nested = Sharding(tw.Tiling([2], [2]), "f8", at, layers=(1, 1))
    with pytest.raises(ExtentError):
        nested.parts("x", np.zeros((2, 2)), at[0])
    with pytest.raises(ExtentError):
        Sharding(tw.Tiling([2], [2]), "f8", at).parts("x", TENSORS["nested"], at[0])


def test_of_a_sparse_tensor_only_entries_travel(held):
    with connect_shards(held[0]) as shards:
        sparse = shards["sparse"]
        assert sparse[:2, :3].compute().nnz == TENSORS["sparse"][:2, :3].nnz
        # A selection of one tile asks its holder alone.
        assert len(shards._pool._connections) == 1


def test_a_replica_is_read_and_what_nobody_has_is_named(held):
    catalogue, servers = held
    gone = Catalogue({name: _moved(own, servers) for name, own in catalogue.items()})
    with connect_shards(gone, timeout=0.3) as shards:
        for name in ("words", "nested", "sparse"):
            here = sel.as_view(TENSORS[name])
            # The first tiles have a replica, and are asked of it.
            assert shards[name][:2].tolist() == here[:2].tolist()
            with pytest.raises(ShardsLostError) as caught:
                shards[name].compute()
            assert set(caught.value.missing) <= {f"{name}/{i}.{j}" for i in range(3) for j in range(2)}
            assert caught.value.missing


def _moved(own, servers):
    """Return a sharding whose first and last holder are nowhere, of which the first has replicas."""
    held = ["tcp://127.0.0.1:9", servers[1].address, "tcp://127.0.0.1:10"]
    return Sharding(
        own.tiling,
        own.dtype,
        held,
        own.tiles,
        placements=[[0, 1], [1], [2]],
        rows=own.rows,
        fill_value=own.fill_value,
        layers=own.layers,
    )


def test_a_tile_that_is_not_sparse_or_has_another_fill_is_none_of_it(held):
    catalogue, servers = held
    own = catalogue["sparse"]
    with tw.serve({own.part_name("sparse", k): np.zeros((1, 1)) for k in range(6)}) as dense:
        wrong = Sharding(own.tiling, own.dtype, [dense.address], [0] * 6, fill_value=-1.0)
        with connect_shards(Catalogue({"sparse": wrong})) as shards, pytest.raises(ShardsLostError):
            shards["sparse"].compute()
    other = Sharding(own.tiling, own.dtype, own.holders, own.tiles, placements=own.placements, fill_value=0.0)
    with connect_shards(Catalogue({"sparse": other})) as shards, pytest.raises(ShardsLostError):
        shards["sparse"].compute()
    assert servers


def test_nulls_of_tiles_of_which_some_have_none():
    tensor = tw.as_tensor([1.5, 2.5, None, 4.5, 5.5])
    with tw.serve({"x/0": np.array([1.5, 2.5]), "y/0": tensor[2:4]}) as a, tw.serve({"x/1": tensor[2:]}) as b:
        two = [a.address, b.address]
        cut = Sharding(tw.Tiling([2, 3]), "f8", two, nullable=True)
        lost = Sharding(tw.Tiling([2]), "f8", two[:1])
        with connect_shards(Catalogue({"x": cut, "y": lost})) as shards:
            x = shards["x"]
            assert (x.is_nullable, x.null_count, x.tolist()) == (True, 1, tensor.tolist())
            assert x.is_valid().tolist() == [True, True, False, True, True]
            assert x.fill_null(0)[1:4].tolist() == [2.5, 0.0, 4.5]
            assert x[1:3].compute().to_masked().tolist() == [2.5, None]
            assert (x.view() + 1).tolist() == [2.5, 3.5, None, 5.5, 6.5]
            assert pickle.loads(pickle.dumps(x.view()[1:3])).tolist() == [2.5, None]
            assert x.view().plan().bytes_on_wire > 5 * 8
            with pytest.raises(ConversionError, match="nullable=True"):
                shards["y"].compute()


def test_nulls_are_sharded_anew_and_read_by_dask():
    tensor = tw.jagged([[3, None, 1], [], [None], [2, 2]])
    with tw.serve({}) as a, tw.serve({}) as b:
        old = in_rows([1, 3])(tensor, [a.address, b.address], nullable=True)
        new = in_rows([3, 1])(tensor, [a.address, b.address], nullable=True)
        for server in (a, b):
            for part, view in old.parts("x", tensor, server.address).items():
                server.replace(part, view)
        plan = reshard_plan(old, new)
        # One element goes to `a`: eight bytes, and whether it is valid.
        assert (plan.moved, [take_shards(own, plan, "x", "y") for own in (a, b)]) == (9, [9, 0])
        with connect_shards(Catalogue({"x": old, "y": plan.new})) as shards:
            assert shards["y"].tolist() == tensor.tolist()
            assert shards["y"].view().rows().sum()[2:].tolist() == [0, 4]
            assert shards["y"].view().to_dask().compute(scheduler="sync").tolist() == tensor.tolist()
            assert (shards["x"] > 1).tolist() == (tensor > 1).tolist()
