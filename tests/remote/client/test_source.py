"""A tensor at a server keeps the contract of sources."""

import contextlib
import json
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
    RemoteProtocolError,
    RequestRefusedError,
    TransportTimeoutError,
)
from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.client._source import elements_of
from tensorwrapper.testing import SourceContract
from tensorwrapper.transport import CurveClient, CurveServer, KeyPair

X = np.arange(60.0).reshape(3, 4, 5)
ROWS = tw.jagged([[1, 2], [], [3, 4, 5]])
WORDS = tw.strings([["a", "bc"], ["", "héllo"]])


@pytest.fixture(autouse=True, scope="module")
def served():
    with tw.serve({"x": X, "rows": ROWS, "words": WORDS}) as server, tw.connect(server.address) as remote:
        OPEN.update(remote=remote)
        yield remote
    OPEN.clear()


OPEN = {}


class TestBox(SourceContract):
    def source(self):
        return OPEN["remote"]["x"].as_source()

    def expected(self):
        return X


class TestRows(SourceContract):
    def source(self):
        return OPEN["remote"]["rows"].as_source()

    def expected(self):
        return ROWS


class TestStrings(SourceContract):
    test_targets_have_any_strides = None

    def source(self):
        return OPEN["remote"]["words"].as_source()

    def expected(self):
        return WORDS


def test_what_is_remote_pickles_and_connects_where_it_is_read(served):
    source = served["x"].as_source()
    assert "tcp://" in repr(source)

    there = pickle.loads(pickle.dumps(served))
    assert sorted(there) == sorted(served)
    views = [served["x"].view(), served["x"][1:, ::2], served["rows"][[1, 0]], served["x"].astype("f4")[:2]]
    for view in views:
        again = pickle.loads(pickle.dumps(view))
        assert again.compute().tolist() == view.compute().tolist()
    tensor = pickle.loads(pickle.dumps(served["rows"]))
    assert (tensor.version, tensor[0].tolist()) == (served["rows"].version, served["rows"][0].tolist())
    there.close()
    assert pickle.loads(pickle.dumps(views[0])).compute().tolist() == X.tolist()


def test_a_view_of_another_process_reads_what_it_needs(served):
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).compute().tolist())"
    view = pickle.dumps(served["x"][1:, ::2])
    done = subprocess.run([sys.executable, "-c", code], input=view, capture_output=True, check=True)
    assert json.loads(done.stdout) == served["x"][1:, ::2].compute().tolist()


def test_a_secret_key_is_not_pickled():
    ours, theirs = KeyPair.make(), KeyPair.make()
    with (
        tw.serve({"x": X}, security=CurveServer(theirs, allow=[ours.public])) as server,
        tw.connect(server.address, security=CurveClient(ours, theirs.public)) as remote,
    ):
        for secret in (remote, remote["x"], remote["x"].as_source(), remote["x"][1:]):
            with pytest.raises(ConversionError, match="secret key"):
                pickle.dumps(secret)


def test_nobody_knows_how_long_strings_are(served):
    with pytest.raises(ConversionError):
        _ = served["words"].plan().bytes_on_wire
    assert served["x"].plan().bytes_received == X.nbytes
    assert sel.as_view(X).plan().bytes_received == sel.as_view(X).plan().bytes_on_wire == 0


NOISE = np.random.default_rng(2).integers(0, 2**63, 30_000).reshape(30, 1000)
KEYS = st.tuples(
    st.one_of(
        st.builds(slice, st.integers(0, 30), st.integers(0, 40), st.integers(1, 5)),
        st.integers(-30, 29),
        st.lists(st.integers(-30, 29), max_size=9),
    ),
    st.builds(slice, st.integers(0, 400), st.integers(600, 1000), st.sampled_from([1, 2, 7, -1])),
)


@pytest.fixture(scope="module", params=[False, True], ids=["open", "encrypted"])
def noisy(request):
    ours, theirs = KeyPair.make(), KeyPair.make()
    secure = CurveServer(theirs, allow=[ours.public]) if request.param else None
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(tw.serve({"noise": NOISE}, security=secure))
        client = CurveClient(ours, theirs.public) if request.param else None
        yield {
            (compress, cache): stack.enter_context(
                tw.connect(server.address, security=client, compress=compress, cache_bytes=cache)
            )["noise"]
            for compress in (None, True, False)
            for cache in (0, 2**12)
        }


@given(st.sampled_from([None, True, False]), st.sampled_from([0, 2**12]), KEYS, st.sampled_from(["i8", "f8"]))
def test_a_plan_says_what_the_transport_counts_whatever_is_asked_for(noisy, compress, cache, key, dtype):
    """What a packed answer is asked for by was left out: 17 bytes a request."""
    there = noisy[compress, cache]
    view = there[key].astype(dtype)
    planned, before = view.plan().bytes_on_wire, moved(there)
    assert np.array_equal(view.compute().to_numpy(), NOISE[key].astype(dtype))
    assert moved(there) - before in ({planned, 0} if cache else {planned})


def moved(there):
    [found] = there._connections.counters()
    return found.bytes_sent_on_wire + found.bytes_received_on_wire


def test_what_comes_packed_is_less_than_planned_and_asked_for_as_planned():
    with (
        tw.serve({"x": np.zeros(2**14), "y": NOISE.reshape(-1)[: 2**14].view("f8")}) as server,
        tw.connect(server.address, compress=True) as remote,
    ):
        sent, came = [], []
        for name in ("x", "y"):
            view = remote[name].view()
            planned, before = view.plan().bytes_on_wire, remote.counters
            view.compute()
            after = remote.counters
            sent.append(after.bytes_sent_on_wire - before.bytes_sent_on_wire)
            came.append(after.bytes_received_on_wire - before.bytes_received_on_wire)
        assert sent[0] == sent[1] == planned - came[1]
        assert came[0] < came[1] / 50


@pytest.mark.parametrize(
    ("frames", "dtype", "count"),
    [
        ((b"12345678", b""), "f8", 1),
        ((b"1234567",), "f8", 1),
        ((b"1" * 16,), "f8", 1),
        ((b"\2",), "?", 1),
        ((b"",), "T", 0),
    ],
)
def test_answers_of_other_sizes_are_refused(frames, dtype, count):
    known = np.dtypes.StringDType() if dtype == "T" else np.dtype(dtype)
    with pytest.raises(RemoteProtocolError):
        elements_of(tuple(map(memoryview, frames)), known, count)


# The short way of one small selection.


@st.composite
def keys(draw, extents):
    key = []
    for n in extents:
        ends = st.one_of(st.none(), st.integers(-n - 1, n + 1))
        part = st.builds(slice, ends, ends, st.sampled_from([None, 1, 2, -1]))
        key.append(draw(st.one_of(st.integers(-n, n - 1), part)))
    return tuple(key)


@given(keys(X.shape))
def test_the_short_way_reads_what_the_general_way_reads(key):
    view = OPEN["remote"]["x"][key]
    # Whoever says how many threads copy has a plan.
    plan = view.compute(threads=1)
    for _ in range(2):
        found = view.compute()
        assert np.asarray(found).tobytes() == np.asarray(plan).tobytes() == X[key].tobytes()
        assert found.shape == plan.shape
        assert found.layout == plan.layout
        assert not found.is_readonly


@given(st.lists(st.integers(0, X.size - 1), min_size=1, max_size=9))
def test_the_short_way_reads_points_as_the_general_way_does(numbers):
    places = np.unravel_index(np.array(numbers), X.shape)
    view = OPEN["remote"]["x"].view().vindex[places]
    assert view.compute().tolist() == view.compute(threads=1).tolist() == X[places].tolist()


@pytest.mark.parametrize("kind", ["box", "points", "bands"])
def test_both_ways_take_the_bytes_that_a_plan_says(kind):
    array = np.arange(100.0 * 64).reshape(100, 64)
    bands = np.add.outer(np.arange(50, 90) * 64, [3, 4, 5, 20, 21]).reshape(-1)
    numbers = bands if kind == "bands" else np.arange(0, 6400, 37)
    places = np.unravel_index(numbers, array.shape)
    with tw.serve({"x": array}) as server, tw.connect(server.address) as remote:
        there = remote["x"].view()
        view = there[3, :20] if kind == "box" else there.vindex[places]
        for options in ({}, {"threads": 1}, {}):
            before, said = remote.counters, view.plan().bytes_on_wire
            found = view.compute(**options)
            after = remote.counters
            assert said == (
                after.bytes_sent_on_wire
                - before.bytes_sent_on_wire
                + after.bytes_received_on_wire
                - before.bytes_received_on_wire
            )
            assert np.array_equal(found, array[3, :20] if kind == "box" else array[places])


def error_of(call):
    with pytest.raises(Exception) as info:  # noqa: PT011 - the two must be alike, whatever they are
        call()
    return type(info.value), str(info.value)


@pytest.mark.parametrize("change", ["replaced", "dropped", "closed"])
def test_both_ways_fail_alike(change):
    with tw.serve({"x": X}) as server, tw.connect(server.address) as remote:
        view = remote["x"][1, 2]
        view.compute()
        if change == "replaced":
            server.replace("x", X + 1)
        elif change == "dropped":
            server.remove("x")
        else:
            remote.close()
        assert error_of(view.compute) == error_of(lambda: view.compute(threads=1))


def test_a_short_read_that_is_interrupted_leaves_nothing_under_way():
    class AlarmError(Exception):
        pass

    def ring(*_):
        raise AlarmError

    with tw.serve({"x": X}) as server, tw.connect(server.address) as remote:
        view = remote["x"][1, 2]
        view.compute()
        before = signal.signal(signal.SIGALRM, ring)
        try:
            with server.editing("x"):
                signal.setitimer(signal.ITIMER_REAL, 0.1)
                with pytest.raises(AlarmError):
                    view.compute()
        finally:
            signal.signal(signal.SIGALRM, before)
        connection = view.expression.node.source.connections.here()
        assert not connection._pending
        assert remote["x"][1, 2].compute().tolist() == X[1, 2].tolist()


def test_a_short_read_waits_no_longer_than_its_deadline():
    with tw.serve({"x": X}) as server, tw.connect(server.address, deadline=0.2) as remote:
        view = remote["x"][1, 2]
        view.compute()
        with server.editing("x"), pytest.raises(TransportTimeoutError):
            view.compute()


def test_a_short_read_is_kept_as_others_are():
    with tw.serve({"x": X}) as server, tw.connect(server.address, cache_bytes=2**20) as remote:
        view = remote["x"][1, 2]
        view.compute()
        sent = remote.counters.messages_sent
        assert view.compute().tolist() == view.compute(threads=1).tolist() == X[1, 2].tolist()
        assert remote.counters.messages_sent == sent


def test_a_short_read_that_is_packed_goes_the_general_way():
    zeros = np.zeros((4, 2000))
    with tw.serve({"x": zeros}) as server, tw.connect(server.address, compress=True) as remote:
        view = remote["x"][1:3]
        assert np.array_equal(np.asarray(view.compute()), zeros[1:3])
        assert remote.counters.bytes_received < 4000


@pytest.mark.parametrize(
    ("extents", "order"),
    [((1, 400_000), "C"), ((5, 80_000), "F"), ((400_000,), "C"), ((1, 1, 400, 1000), "C")],
)
def test_who_may_be_told_to_stop_looks_often_while_an_answer_is_written(extents, order):
    class Looks:
        count = 0

        def is_set(self):
            self.count += 1
            return False

    array, looks = np.arange(400_000.0).reshape(extents), Looks()
    out = np.zeros(extents, order=order)
    with tw.serve({"x": array}) as server, tw.connect(server.address) as remote:
        remote["x"].compute(out, cancel=looks)
    assert np.array_equal(out, array)
    # An answer has 2 MiB, and half a MiB is written at a time.
    assert looks.count >= 6


def test_a_view_of_a_tensor_that_was_written_to_is_of_its_new_version():
    with tw.serve({"x": X.copy()}, writable=True) as server, tw.connect(server.address) as remote:
        there = remote["x"]
        before = there.view()
        assert there.view() is before
        there[0] = 7
        assert there.view() is not before
        assert (np.asarray(there.view()[0].compute()) == 7).all()


@pytest.mark.parametrize("nulls", [False, True])
def test_strings_that_are_longer_than_an_answer_are_asked_for_in_pieces(nulls):
    """A tensor of 100 000 texts of 1000 letters could not be read at all."""
    texts = [chr(97 + k % 26) * 200 for k in range(300)] + ([None] if nulls else [])
    words = tw.strings(texts)
    with (
        tw.serve({"x": words}, limits=ServeLimits(answer_bytes=2**10)) as server,
        tw.connect(server.address) as remote,
    ):
        assert remote["x"].compute().tolist() == texts
        assert remote["x"][::-3].compute().tolist() == texts[::-3]
        server.replace("y", tw.strings(["a" * 2**15]))
        with pytest.raises(RequestRefusedError, match="the server's"):
            remote["y"].compute()


NARROW = ["c16", "f4", "?"]


@pytest.fixture(scope="module")
def bounded():
    """A server whose answers are small, and numbers of every type there."""
    numbers = np.arange(900).reshape(30, 30) % 2
    rows = tw.Shape.jagged(np.arange(25) * 3)
    tensors = {f"box {own}": numbers.astype(own) for own in NARROW}
    tensors |= {f"rows {own}": tw.from_buffer(numbers.reshape(-1).astype(own), rows) for own in NARROW}
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(tw.serve(tensors, limits=ServeLimits(answer_bytes=500)))
        yield tensors, stack.enter_context(tw.connect(server.address))


@pytest.mark.parametrize("held", NARROW)
@pytest.mark.parametrize("wanted", NARROW)
@pytest.mark.parametrize("kind", ["box", "rows"])
def test_a_cast_asks_for_no_more_than_the_server_counts(bounded, kind, held, wanted):
    """The server counts what it casts, and the client counted what comes of it: 8 bytes for 1."""
    tensors, remote = bounded
    here = tw.as_tensor(tensors[f"{kind} {held}"])
    there = remote[f"{kind} {held}"]
    keys = [..., [1, 20, 4]]
    for key in keys if kind == "rows" else [*keys, (slice(None), slice(None, None, -3))]:
        expected = here[key].astype(wanted)
        view = there[key].astype(wanted)
        for found in (view, remote.pushed(view), there.astype(wanted)[key]):
            planned, before = found.plan().bytes_on_wire, moved(there)
            computed = found.compute()
            assert computed.dtype == expected.dtype
            assert computed.array_equal(expected)
            assert moved(there) - before == planned
