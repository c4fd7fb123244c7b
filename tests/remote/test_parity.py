"""The clients of one server, of several, and for asyncio are one interface, as written and in use."""

import asyncio
import contextlib
import inspect
import pickle

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import (
    ConversionError,
    LeakedResourceWarning,
    OutOfBoundsError,
    TensorNameError,
    TensorWrapperError,
    TransportClosedError,
)
from tensorwrapper.remote import (
    AsyncRemote,
    AsyncRemoteTensor,
    AsyncView,
    Catalogue,
    Remote,
    RemoteTensor,
    ShardedRemote,
    ShardedTensor,
    Sharding,
    connect,
    connect_async,
    connect_shards,
)
from tensorwrapper.remote.client._view_methods import ViewMethods
from tensorwrapper.selection import View

X = np.arange(70.0).reshape(10, 7)
ROWS = tw.jagged([[1, 2], [], [3, 4, 5], [6]])


def public(kind):
    return {name for name in dir(kind) if not name.startswith("_")}


FORWARDED = public(ViewMethods) - {"dtype", "is_sparse", "shape"}
"""What needs a view; those three are known without one."""

# What one has and the other has not, or has in another form, and why.
NAMED_OTHERWISE = {"__getitem__": "tensor", "__iter__": "names"}
OF_MAPPINGS = {"get", "items", "keys", "values"}
ONLY_ASYNC = {"compute", "tensor", "names"}
ONE_SERVER_ALONE = {
    "address",  # each holder has one
    "counters",
    "health",
    "stats",
    "snapshot",  # versions of several servers are not of one time
    "pushed",  # no holder has what a view of several needs
    "reduce",
}
SHARDS_ALONE = {"catalogue", "lost"}
OF_REMOTE_TENSORS_ALONE = {
    "version",  # each part has one
    "is_readonly",  # parts are served as their holders make them
    "assign",
    "astype",  # a view's moves as little
    "tile",  # parts are boxes: view().tiled(...) sees them as tiles
    "select_tiles",
    "untiled",
    "reduce_tiles",
}
OF_SHARDS_ALONE = {"sharding"}
WAITS = {"view", "as_source", "shape", "tiling", "plan", "compute", "tolist", "reduce_tiles", "assign"}
"""What may ask a server."""


def told(function):
    """The parameters of a function but for the first, which is the value itself."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return [(own.name, own.kind, own.default) for own in parameters]


def function_of(kind, name):
    found = inspect.getattr_static(kind, name)
    return found if inspect.isfunction(found) else None


@pytest.mark.parametrize(
    ("one", "other", "only_one", "only_other"),
    [
        (Remote, AsyncRemote, OF_MAPPINGS, ONLY_ASYNC),
        (Remote, ShardedRemote, ONE_SERVER_ALONE, SHARDS_ALONE),
        (RemoteTensor, AsyncRemoteTensor, FORWARDED, set()),
        (RemoteTensor, ShardedTensor, OF_REMOTE_TENSORS_ALONE, OF_SHARDS_ALONE),
    ],
)
def test_they_have_the_same_names_with_the_same_parameters(one, other, only_one, only_other):
    assert public(one) - public(other) == only_one
    assert public(other) - public(one) == only_other
    for name in public(one) & public(other):
        ours, theirs = function_of(one, name), function_of(other, name)
        if ours is None or theirs is None:
            continue
        own, found = told(ours), told(theirs)
        if other is AsyncRemoteTensor and name == "compute":
            # A task is cancelled; nobody needs to say how.
            own = [parameter for parameter in own if parameter[0] != "cancel"]
        assert own == found, name


def test_what_asks_is_awaited_and_nothing_else():
    for name in public(AsyncRemoteTensor):
        function = function_of(AsyncRemoteTensor, name)
        if function is not None:
            assert inspect.iscoroutinefunction(function) == (name in WAITS), name
    assert public(AsyncView) == {"shape", "view", "plan", "compute", "tolist"}
    for name in public(AsyncView) & public(View):
        assert inspect.iscoroutinefunction(function_of(AsyncView, name)) == (name in WAITS), name


def test_clients_are_made_with_the_same_options():
    options = {
        make: {own.name: own for own in list(inspect.signature(make).parameters.values())[1:]}
        for make in (connect, connect_async, connect_shards)
    }
    assert set(options[connect_async]) - set(options[connect]) == {"concurrency"}
    assert set(options[connect]) - set(options[connect_async]) == set()
    # Keys of holders are in the catalogue.
    assert set(options[connect]) - set(options[connect_shards]) == {"security"}
    assert set(options[connect_shards]) - set(options[connect]) == {"keys"}
    for make, own in options.items():
        for name, parameter in own.items():
            assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
            # Another holder is asked the sooner.
            if name in options[connect] and (make, name) != (connect_shards, "timeout"):
                assert parameter.default == options[connect][name].default


class Awaited:
    """An asynchronous client as if it were none."""

    def __init__(self, loop, remote):
        self.loop, self.remote = loop, remote

    def __getitem__(self, name):
        return AwaitedTensor(self.loop, self.loop.run_until_complete(self.remote.tensor(name)))

    def __iter__(self):
        return iter(self.loop.run_until_complete(self.remote.names()))

    def close(self):
        self.loop.run_until_complete(self.remote.close())


class AwaitedTensor:
    def __init__(self, loop, tensor):
        self.loop, self.tensor = loop, tensor

    def __getattr__(self, name):
        found = getattr(self.tensor, name)
        if not callable(found):
            return found
        if name in {"shape", "tiling"}:
            return self.loop.run_until_complete(found())

        def call(*given, **named):
            answer = found(*given, **named)
            return self.loop.run_until_complete(answer) if inspect.isawaitable(answer) else answer

        return call

    def __getitem__(self, key):
        return AwaitedTensor(self.loop, self.tensor[key])


@contextlib.contextmanager
def clients(kind, whole=X, **options):
    """Return a client of a kind of the same tensors, and their server."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(tw.serve({"x": whole, "rows": ROWS}))
        if kind == "sync":
            yield stack.enter_context(connect(server.address, **options)), server
            return
        if kind == "async":
            loop = asyncio.new_event_loop()
            stack.callback(loop.close)
            client = Awaited(loop, connect_async(server.address, **options))
            stack.callback(client.close)
            yield client, server
            return
        cut = {
            "x": Sharding(tw.Tiling([4, len(whole) - 4], [whole.shape[1]]), "f8", [server.address]),
            "rows": Sharding(tw.Tiling([2, 4]), "i8", [server.address], rows=[2, 2]),
        }
        for name, tensor in (("x", whole), ("rows", ROWS)):
            for part, view in cut[name].parts(name, tensor, server.address).items():
                server.replace(part, view)
        yield stack.enter_context(connect_shards(Catalogue(cut), **options)), server


KINDS = ["sync", "async", "shards"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compress", [None, True, False])
def test_they_do_the_same(kind, compress):
    with clients(kind, compress=compress, cache_bytes=2**20) as (client, _):
        assert sorted(client) == ["rows", "x"]
        x, rows = client["x"], client["rows"]
        assert (x.name, x.kind, x.rank, x.size, x.nbytes, x.dtype) == ("x", "smooth", 2, 70, 560, X.dtype)
        assert (x.is_sparse, x.shape, rows.shape) == (False, tw.Shape(10, 7), ROWS.shape)
        assert x.tolist() == X.tolist()
        assert rows[[2, 0]].tolist() == [[3, 4, 5], [1, 2]]
        assert x[3:9:2, ::-3].tolist() == X[3:9:2, ::-3].tolist()
        assert x[3:5].plan().bytes_received == 112
        out = np.zeros((2, 7))
        x[3:5].compute(out)
        assert np.array_equal(out, X[3:5])
        assert x.view().astype("f4")[3:5].plan().bytes_received == 56
        assert x.view().astype("f4").tolist() == X.tolist()
        assert "'x'" in repr(getattr(x, "tensor", x))
        with pytest.raises(TensorNameError):
            client["y"]
        with pytest.raises(OutOfBoundsError):
            x[10].compute()
        with pytest.raises(IndexError):
            rows[4].compute()
        client.close()
        client.close()
        with pytest.raises(TransportClosedError):
            client["x"].compute()


def counted(server):
    """What a server did so far: it counts what it has sent before it answers the next."""
    with connect(server.address) as other:
        other.health()
        return server.stats()


@pytest.mark.parametrize("kind", KINDS)
def test_packed_answers_are_asked_for_if_they_are_wanted(kind):
    zeros = np.zeros((100, 1000))
    for compress, most in ((True, 0.1), (False, 1.1)):
        with clients(kind, zeros, compress=compress) as (client, server):
            assert np.array_equal(client["x"].compute(), zeros)
            sent = counted(server)["bytes_sent"]
            assert sent < most * zeros.nbytes
            assert (sent > zeros.nbytes) == (not compress)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_is_not_asked_for_again(kind):
    whole = np.arange(40_000.0).reshape(10, 4000)
    with clients(kind, whole, cache_bytes=2**22) as (client, server):
        x = client["x"]
        assert x[1:3].tolist() == whole[1:3].tolist()
        before = counted(server)["bytes_sent"]
        assert before > 64_000
        assert x[1:3].tolist() == whole[1:3].tolist()
        # Another thread may connect for it, and whoever counts does.
        assert counted(server)["bytes_sent"] - before < 4000


@pytest.mark.parametrize("kind", KINDS)
def test_clients_pickle_and_are_clients_where_they_arrive(kind):
    with clients(kind, compress=False, cache_bytes=4096) as (client, _):
        given = client.remote if kind == "async" else client
        there = pickle.loads(pickle.dumps(given))
        assert type(there) is type(given)
        own = Awaited(client.loop, there) if kind == "async" else there
        assert own["x"].tolist() == X.tolist()
        again = pickle.loads(pickle.dumps(there))
        own.close()
        with pytest.raises(TransportClosedError):
            own["x"].compute()
        # Closed with the other, whose connections it shares, unless it was not connected.
        (Awaited(client.loop, again) if kind == "async" else again).close()


def test_what_is_awaited_does_not_pickle_and_says_what_does():
    async def work(address):
        async with connect_async(address) as remote:
            x = await remote.tensor("x")
            async with await remote.snapshot() as snapshot:
                for own in (x, x[1], snapshot):
                    with pytest.raises(ConversionError, match=r"await part\.view"):
                        pickle.dumps(own)
            return pickle.loads(pickle.dumps(await x[1].view()))

    with tw.serve({"x": X}) as server:
        assert asyncio.run(work(server.address)).tolist() == X[1].tolist()


def test_a_client_with_keys_does_not_pickle():
    ours, theirs = tw.transport.KeyPair.make(), tw.transport.KeyPair.make()
    secure = tw.transport.CurveServer(ours, allow=[theirs.public])
    with tw.serve({"x": X}, security=secure) as server:
        held = tw.remote.Holder(server.address, ours.public)
        catalogue = Catalogue({"x": Sharding(tw.Tiling([10], [7]), "f8", [held])})
        security = tw.transport.CurveClient(theirs, ours.public)
        with (
            connect(server.address, security=security) as one,
            connect_shards(catalogue, keys=theirs) as many,
        ):
            awaited = connect_async(server.address, security=security)
            for client in (one, many, awaited):
                with pytest.raises(ConversionError):
                    pickle.dumps(client)
            asyncio.run(awaited.close())


@pytest.mark.parametrize("kind", ["sync", "shards"])
def test_operators_compute_on_what_is_read(kind):
    with clients(kind) as (client, _):
        x = client["x"]
        assert np.array_equal(x + 1, X + 1)
        assert np.array_equal(np.sqrt(x), np.sqrt(X))
        assert np.array_equal(x > 3, X > 3)
        with pytest.raises(TypeError):
            hash(x)
        assert np.array_equal(x.permute((1, 0)), X.T)
        with pytest.raises(AttributeError, match=r"has no attribute 'flip'.*`t\.reverse"):
            x.flip(0)


# What a view has, called as it may be called of a box of numbers; of others it raises what the view raises.
GIVEN = {
    "accumulate_into": lambda t: (tw.zeros(t.shape),),
    "array_equal": lambda t: (t,),
    "blocks": lambda _: (64,),
    "broadcast": lambda t: ((2, *t.shape.extents),),
    "diagonal": lambda _: (0, 1),
    "element": lambda _: ((0,),),
    "fill_null": lambda _: ("a",),
    "gather": lambda _: (0, [1, 0]),
    "merge_modes": lambda _: (0, 1),
    "named": lambda _: ("x", "y"),
    "pad": lambda _: ([(1, 0), (0, 2)],),
    "pad_rows": lambda _: (9,),
    "permute": lambda _: ((1, 0),),
    "repeat": lambda _: ((2, 1),),
    "repeat_each": lambda _: (0, 2),
    "reshape": lambda _: ((7, 10),),
    "reverse": lambda _: (0,),
    "rotate": lambda _: ((1, 2),),
    "route": lambda _: ((1, 1),),
    "route_many": lambda _: ([(1, 1), (0, 0)],),
    "scatter": lambda _: ((9, 9),),
    "sliding_window": lambda _: (0, 2),
    "split_mode": lambda _: (0, (5, 2)),
    "tiled": lambda _: (tw.Tiling([4, 6], [7]),),
    "to_dask": lambda _: (5,),
    "to_layout": lambda t: (tw.Layout(t.shape),),
    "translate_to": lambda _: ((3, 4),),
    "unflatten": lambda _: ([4, 6],),
    "unsqueeze": lambda _: (0,),
    "window": lambda _: (tw.Shape(2, 2),),
    "keep_tiles": lambda _: ([(0, 0)],),
    "with_tiles": lambda _: ([(0, 0)],),
    "retiled": lambda _: (tw.Tiling([10], [7]),),
    "to_packed": lambda _: ("s2",),
}


def test_a_tensor_at_servers_has_the_names_of_a_view_with_its_parameters():
    """It had 22 names, and its view 92."""
    for kind in (RemoteTensor, ShardedTensor):
        assert public(View) - public(kind) <= OF_REMOTE_TENSORS_ALONE
        for name in FORWARDED:
            own, theirs = function_of(kind, name), function_of(View, name)
            if theirs is None:
                assert isinstance(inspect.getattr_static(kind, name), property)
            else:
                assert told(own) == told(theirs), name


def outcome(tensor, name):
    try:
        found = getattr(tensor, name)
        if callable(found):
            found = found(*GIVEN.get(name, lambda _: ())(tensor))
        if isinstance(found, View):
            found = found.shape, found.tolist()
    except (TensorWrapperError, ImportError) as error:
        return type(error)
    return type(found), repr(found) if isinstance(found, tuple | int | float | bool | tw.Tensor) else ""


@pytest.mark.parametrize("kind", ["sync", "shards"])
@pytest.mark.parametrize("key", ["x", "rows"])
def test_each_name_of_a_view_does_there_what_the_view_does(kind, key):
    with clients(kind) as (client, _):
        for name in sorted(FORWARDED - {"expression", "normal_form"}):
            assert outcome(client[key], name) == outcome(client[key].view(), name), name


def test_who_arrived_and_is_forgotten_warns_of_nothing(recwarn):
    with clients("shards") as (client, _):
        there = pickle.loads(pickle.dumps(client))
        assert there["x"][0].tolist() == X[0].tolist()
        del there
    with tw.serve({"x": X}) as server:
        awaited = connect_async(server.address)
        there = pickle.loads(pickle.dumps(awaited))
        del there
        asyncio.run(awaited.close())
    assert not [own for own in recwarn if issubclass(own.category, LeakedResourceWarning)]
    assert issubclass(TransportClosedError, TensorWrapperError)
