"""Nulls at a server: values and bits come apart, and a client puts them together."""

import pickle

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.remote import Catalogue, Sharding, connect_shards
from tensorwrapper.remote.protocol._events import AskWrite

N = tw.jagged([[3, None, 1], [], [None], [2, 2]] * 5)
BOX = tw.as_tensor([[1, None], [2, 3]])
GRID = tw.nullable(np.arange(16).reshape(4, 4), np.arange(16).reshape(4, 4) % 3 != 0)
TILES = GRID.tiled(tw.Tiling([2, 2], [2, 2]))


@pytest.fixture(scope="module")
def remote():
    served = {
        "n": N,
        "box": BOX,
        "tiles": TILES,
        "view": tw.concat([BOX, BOX]),
        "plain": tw.as_tensor([1, 2]),
        "words": tw.strings([["a", None], ["b"]]),
    }
    with tw.serve(served, writable=True) as server, tw.connect(server.address) as found:
        yield found


def test_what_is_asked_comes_with_its_nulls(remote):
    assert remote["n"].is_nullable
    assert not remote["plain"].is_nullable
    assert remote["n"].compute().array_equal(N)
    assert remote["box"][:, ::-1].tolist() == [[None, 1], [3, 2]]
    assert remote["view"].tolist() == BOX.tolist() * 2
    assert remote["tiles"].compute().tolist() == TILES.tolist()
    assert remote["tiles"][0, 1].tolist() == TILES.tile((0, 1)).tolist()
    for key in (slice(1, 4), [0, 3], slice(None, None, -1), 2):
        assert remote["n"][key].tolist() == N[key].tolist()


def test_work_on_it_is_that_on_the_tensor_here(remote):
    there = remote["n"]
    assert (there + 1).tolist() == (N + 1).tolist()
    assert there[there > 1].tolist() == N[N > 1].tolist()
    assert np.sum(there, axis=-1).tolist() == np.sum(N, axis=-1).tolist()
    assert tw.concat([there, [[7, 8]]])[-2:].tolist() == [[2, 2], [7, 8]]
    assert there.null_count == N.null_count
    assert there.is_valid().array_equal(N.is_valid())
    assert there.fill_null(0).array_equal(N.fill_null(0))
    assert there.drop_null().array_equal(N.drop_null())
    assert there.astype("f4").tolist() == N.astype("f4").tolist()
    assert remote.reduce(np.add, there.view(), "rows").tolist() == np.sum(N, axis=-1).tolist()
    assert pickle.loads(pickle.dumps(remote["box"][0])).tolist() == [1, None]


def test_what_stands_under_a_null_does_not_travel():
    secret = tw.nullable(np.array([5, 77, 7]), [True, False, True])
    with tw.serve({"x": secret}) as server, tw.connect(server.address) as found:
        values, valid = found["x"].view().expression.node.source.sides
        assert tw.selection.as_view(values).tolist() == [5, 0, 7]
        assert tw.selection.as_view(valid).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("make", "key", "value"),
    [
        (lambda: BOX, (0, 1), 7),
        (lambda: BOX, 0, [None, 5]),
        (lambda: BOX, slice(None), None),
        (lambda: BOX, (slice(None, None, -1), 0), tw.as_tensor([8, None])),
        (lambda: BOX, slice(None), np.ma.masked_array([1, 2], [True, False])),
        (lambda: BOX, [1, 0], tw.selection.as_view(BOX)),
        (lambda: N, 0, [None, 4, None]),
        (lambda: N, slice(1, 4), 6),
        (lambda: N, 3, tw.as_tensor([None, 1])),
        (lambda: TILES, (0, 1), None),
        (lambda: GRID.permute((1, 0))[::-1], (slice(1, 3), 2), [None, 99]),
        (lambda: GRID, GRID > 7, None),
    ],
)
def test_it_is_written_to_as_the_tensor_here(make, key, value):
    here, there = make().copy(), make().copy()
    here[key] = value
    with tw.serve({"x": there}, writable=True) as server, tw.connect(server.address) as found:
        tensor = found["x"]
        assert not tensor.is_readonly
        tensor[key] = value
        assert tensor.tolist() == found["x"].tolist() == there.tolist() == here.tolist()
        assert there.null_count == here.null_count


def test_a_write_of_nulls_is_whole_or_not_at_all():
    held = BOX.copy()
    with tw.serve({"x": held}, writable=True) as server, tw.connect(server.address) as found:
        tensor, other = found["x"], found["x"]
        tensor[0] = [None, 9]
        for call, error in (
            (lambda: other.assign(0, [1, None], if_unchanged=True), tw.errors.VersionChangedError),
            (lambda: tensor.assign(0, [1.5, None]), tw.errors.DTypeError),
            (lambda: tensor.assign(0, [1, 2, None]), tw.errors.ExtentMismatchError),
            (lambda: tensor.assign([0, 0], None), tw.errors.ReadOnlyError),
        ):
            with pytest.raises(error):
                call()
        assert held.tolist() == [[None, 9], [2, 3]]


def test_plain_tensors_take_no_nulls(remote):
    with pytest.raises(tw.errors.ConversionError, match="null"):
        remote["plain"][0] = None
    remote["plain"][0] = 1


def test_what_may_not_change_is_not_written_to(remote):
    assert remote["view"].is_readonly
    marks = np.array([True, False])
    marks.flags.writeable = False
    fixed = tw.nullable(np.array([1, 2]), marks)
    with tw.serve({"x": fixed}, writable=True) as server, tw.connect(server.address) as found:
        with pytest.raises(tw.errors.ReadOnlyError):
            found["x"][0] = None
        server.replace("x", tw.as_tensor([4, None]))
        assert found["x"].tolist() == [4, None]
        found["x"][0] = None
        assert found["x"].tolist() == [None, None]


@pytest.mark.parametrize(
    ("values", "valid", "reason"),
    [
        (bytes(16), None, "schema"),
        (bytes(16), bytes(1), "schema"),
        (bytes(16), bytes(3), "schema"),
        (bytes(16), b"\1\2", "schema"),
        (bytes(8), bytes(2), "schema"),
    ],
)
def test_hostile_writes_of_nulls_are_refused(values, valid, reason):
    held = BOX.copy()
    with tw.serve({"x": held}, writable=True) as server, tw.connect(server.address) as found:
        connection = found["x"]._connections.here()
        selection = (tw.selection.Runs(np.array([0]), np.array([2])),)
        given = None if valid is None else memoryview(valid)
        request = AskWrite(
            "x", "", connection.client, "nullable <i8", selection, memoryview(values), valid=given
        )
        with pytest.raises(tw.errors.RequestRefusedError) as caught:
            connection.ask(request)
        assert caught.value.reason == reason
        assert held.tolist() == BOX.tolist()


def test_a_change_between_values_and_bits_is_noticed():
    held = BOX.copy()
    with tw.serve({"x": held}) as server, tw.connect(server.address) as found:
        view = found["x"].view()
        with server.editing("x"):
            held[0] = [None, 5]
        with pytest.raises(tw.errors.VersionChangedError):
            view.compute()
        assert found["x"].tolist() == [[None, 5], [2, 3]]


def test_tiles_of_a_sharded_tensor_have_none():
    with tw.serve({"x/0.0": BOX}) as server:
        sharding = Sharding(tw.Tiling([2], [2]), "i8", [server.address])
        with (
            connect_shards(Catalogue({"x": sharding})) as shards,
            pytest.raises(tw.errors.ConversionError, match="nulls"),
        ):
            shards["x"].compute()


def test_a_plan_counts_what_says_which_elements_are_valid(remote):
    for name, local in (("n", N), ("box", BOX), ("tiles", TILES), ("view", tw.concat([BOX, BOX]))):
        for key in (slice(None), slice(0, 1), slice(None, None, 2)):
            plan = remote[name][key].plan()
            count = local[key].shape.size
            assert plan.bytes_received == plan.bytes_read == 9 * count
            assert plan.nbytes == 8 * count
            assert [read.nbytes for read in plan.reads] == [8 * count, count]
    assert tw.concat([remote["box"][0], remote["plain"]]).plan().bytes_received == 2 * 9 + 2 * 8
    assert remote["plain"].view().plan().bytes_received == 16
    values, valid = remote["n"].view().expression.node.source.sides
    sides = [tw.selection.as_view(own).plan().bytes_on_wire for own in (values, valid)]
    assert remote["n"].view().plan().bytes_on_wire == sum(sides)


def test_a_plan_of_nulls_here_counts_them_too():
    for view in (
        tw.selection.as_view(N),
        tw.selection.as_view(N)[::-1],
        tw.selection.as_view(N)[1:].astype("f4"),
    ):
        plan = view.plan()
        assert plan.bytes_read == view.shape.size * 9
        assert plan.bytes_received == 0
        assert pickle.loads(pickle.dumps(plan)).bytes_read == plan.bytes_read
    assert tw.concat([N, [[1, 2]]]).plan().bytes_read == 9 * N.shape.size + 16
    assert tw.selection.as_view(N).is_valid().nbytes == N.shape.size


def test_nulls_are_written_to_no_elements():
    empty = tw.nullable(tw.jagged([[], []], dtype="f8"))
    served = {"box": BOX, "empty": empty, "plain": [1, 2]}
    with tw.serve(served, writable=True) as server, tw.connect(server.address) as remote:
        for name, key in (("box", slice(0, 0)), ("box", []), ("empty", ...), ("empty", 0)):
            there = remote[name]
            there[key] = None
            assert there.tolist() == remote[name].tolist()
        assert remote["box"].tolist() == BOX.tolist()
        with pytest.raises(tw.errors.ConversionError, match="cannot be null"):
            remote["plain"][:0] = None
