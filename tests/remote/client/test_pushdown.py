"""Views that a server computes are what they are here, and are computed there if less travels."""

from typing import get_args

import ml_dtypes
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    JaggedModeError,
    OutOfBoundsError,
    RequestRefusedError,
    TensorNameError,
    TensorWrapperError,
    VersionChangedError,
)
from tensorwrapper.remote.client._pushdown import PushedSource, described
from tensorwrapper.remote.protocol._events import AskView, Described, Reduction
from tensorwrapper.remote.server import _evaluate
from tensorwrapper.selection import Outer, Runs

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(60, 50)), RNG.normal(size=(60, 50))
MASK = RNG.random((60, 50)) > 0.5
ROWS = tw.from_buffer(np.arange(4950), tw.Shape.jagged(np.arange(100)))
TILES = tw.as_tensor(np.arange(144.0).reshape(12, 12)).tiled(tw.Tiling([5, 7], [6, 6]))


@pytest.fixture(scope="module")
def remote():
    with (
        tw.serve(
            {"x": X, "y": Y, "mask": MASK, "rows": ROWS, "tiles": TILES, "words": tw.strings(["a"])}
        ) as server,
        tw.connect(server.address) as found,
    ):
        yield found


def on_wire(counters):
    return counters.bytes_sent_on_wire + counters.bytes_received_on_wire


VIEWS = {
    "where": (sel.where, np.where(MASK, X, Y)),
    "minimum": (lambda _, x, y: sel.minimum(x, y), np.minimum(X, Y)),
    "turned": (lambda _, x, y: sel.maximum(x, y).permute((1, 0))[::-1, 3:], np.maximum(X, Y).T[::-1, 3:]),
    "joined": (
        lambda m, x, y: sel.where(m, sel.concat([x[:30], y[:30]]), y),
        np.where(MASK, np.concatenate([X[:30], Y[:30]]), Y),
    ),
    "gathered": (
        lambda _, x, y: sel.minimum(x, y).gather(0, np.arange(60)[::-1]),
        np.minimum(X, Y)[::-1],
    ),
}


@pytest.mark.parametrize("name", VIEWS)
def test_what_puts_tensors_together_is_computed_where_they_are(remote, name):
    make, expected = VIEWS[name]
    view = make(remote["mask"].view(), remote["x"].view(), remote["y"].view())
    there = remote.pushed(view)
    assert isinstance(there.expression.node.source, PushedSource)
    assert np.array_equal(there.compute(), expected)
    assert np.array_equal(there[3:7, ::9].compute(), expected[3:7, ::9])

    plan, before = there.plan(), remote.counters
    out = np.empty(expected.shape)
    there.compute(out=out)
    after = remote.counters
    assert np.array_equal(out, expected)
    moved = on_wire(after) - on_wire(before)
    assert plan.bytes_received == expected.nbytes < view.plan().bytes_received
    assert plan.bytes_on_wire == moved


def test_what_moves_no_less_there_is_computed_here(remote):
    x, y = remote["x"].view(), remote["y"].view()
    for view in (
        x[3:5],
        sel.concat([x, y]),
        sel.minimum(x, sel.as_view(Y)),
        sel.minimum(x[:2, :2], y[:2, :2]),
        sel.minimum(x, y).gather(0, np.arange(60) // 2 * 2),
        sel.minimum(remote["x"].astype("f4").view(), remote["y"].astype("f4").view()),
        remote["words"].view(),
        remote["rows"][2:5],
    ):
        assert remote.pushed(view) is view
    with tw.serve({"y": Y}) as other, tw.connect(other.address) as second:
        view = sel.minimum(x, second["y"].view())
        assert remote.pushed(view) is view
        assert np.array_equal(view.compute(), np.minimum(X, Y))


def test_casts_go_to_where_the_elements_are(remote):
    narrow = remote["x"].view().astype("f4")
    assert narrow.plan().bytes_received == X.size * 4
    assert np.array_equal(narrow[5].compute(), X[5].astype("f4"))
    before = remote.counters
    plan = narrow.plan()
    narrow.compute()
    after = remote.counters
    moved = on_wire(after) - on_wire(before)
    assert moved == plan.bytes_on_wire < X.nbytes


@pytest.mark.parametrize("name", ["add", "minimum", "maximum", "fmin", "fmax", "multiply"])
@pytest.mark.parametrize("over", [0, 1, -1])
def test_modes_are_reduced_there(remote, name, over):
    ufunc = getattr(np, name)
    found = remote.reduce(ufunc, remote["x"], over)
    assert np.allclose(found, ufunc.reduce(X, axis=over))
    some = sel.where(remote["mask"].view(), remote["x"].view(), remote["y"].view())[5:, ::2]
    expected = ufunc.reduce(np.where(MASK, X, Y)[5:, ::2], axis=over)
    assert np.allclose(remote.reduce(ufunc, some, over), expected)


def test_a_mode_is_reduced_a_region_at_a_time(remote, monkeypatch):

    monkeypatch.setattr(_evaluate, "_BLOCK", 200)
    for over in (0, 1):
        for name in ("add", "maximum"):
            ufunc = getattr(np, name)
            assert np.allclose(remote.reduce(ufunc, remote["x"], over), ufunc.reduce(X, axis=over))


def test_rows_and_tiles_are_reduced_there(remote):
    before = remote.counters.bytes_received
    assert remote.reduce(np.add, remote["rows"], "rows").tolist() == [
        sum(ROWS[k].tolist()) for k in range(100)
    ]
    assert remote.counters.bytes_received - before < 2500 + ROWS.nbytes / 4
    assert np.array_equal(remote.reduce(np.maximum, remote["tiles"], "tiles"), TILES.reduce_tiles(np.maximum))
    flags = remote.reduce(np.logical_or, remote["mask"], 0)
    assert np.array_equal(flags, MASK.any(axis=0))
    assert flags.dtype == bool


@pytest.mark.parametrize("name", get_args(Reduction))
def test_every_function_that_a_server_knows_is_numpys(name):
    ufunc, numbers = getattr(np, name), np.random.default_rng(5).integers(0, 4, (7, 9))
    lengths = [2, 0, 3, 1]
    rows = tw.from_buffer(numbers.reshape(-1)[:6], tw.Shape.jagged(lengths))
    with tw.serve({"x": numbers, "rows": rows}) as server, tw.connect(server.address) as remote:
        expected = ufunc(numbers, axis=1) if name == "count_nonzero" else ufunc.reduce(numbers, axis=1)
        found = remote.reduce(ufunc, remote["x"], 1)
        assert np.array_equal(found, expected)
        if name == "count_nonzero":
            assert remote.reduce(ufunc, remote["rows"], "rows").tolist() == [
                int(np.count_nonzero(rows[k])) for k in range(4)
            ]
            return
        some = remote.reduce(ufunc, remote["x"], 0)
        assert np.array_equal(some, ufunc.reduce(numbers, axis=0))


FILLS = {"minimum": np.inf, "maximum": -np.inf, "fmax": np.nan, "add": 0.5, "multiply": 3, "logical_or": True}


@pytest.mark.parametrize(("name", "initial"), FILLS.items())
def test_what_is_empty_has_the_initial_number(name, initial):
    """As in memory: rows, tiles and modes of which some or all are empty."""
    ufunc = getattr(np, name)
    rows = tw.jagged([[1.0, 2.0], [], [3.0, 4.0, 5.0]])
    tiles = tw.as_tensor(np.arange(12.0).reshape(3, 4)).tiled(tw.Tiling([1, 0, 2], [3, 1]))
    given = {"rows": rows, "tiles": tiles, "x": X, "none": X[:0]}
    with tw.serve(given) as server, tw.connect(server.address) as remote:
        found = remote.reduce(ufunc, remote["rows"], "rows", initial=initial)
        assert np.array_equal(found, rows.rows().reduce(ufunc, initial=initial), equal_nan=True)
        found = remote.reduce(ufunc, remote["tiles"], "tiles", initial=initial)
        assert np.array_equal(found, tiles.reduce_tiles(ufunc, initial=initial), equal_nan=True)
        for own in ("x", "none"):
            found = remote.reduce(ufunc, remote[own], 0, initial=initial)
            expected = ufunc.reduce(given[own], axis=0, initial=initial)
            assert found.dtype == expected.dtype
            assert np.allclose(found, expected, equal_nan=True)


@pytest.mark.parametrize("initial", ["x", 1.5, 2**70, 1j, [1, 2]])
def test_an_initial_number_that_does_not_fit_is_refused_as_in_memory(initial):
    numbers = np.arange(6).reshape(2, 3)
    with tw.serve({"x": numbers}) as server, tw.connect(server.address) as remote:
        x = remote["x"]
        before = remote.counters.messages_sent
        with pytest.raises(TensorWrapperError) as here:
            tw.as_tensor(numbers).rows().reduce(np.maximum, initial=initial)
        with pytest.raises(type(here.value)) as there:
            remote.reduce(np.maximum, x, 0, initial=initial)
        assert str(there.value) == str(here.value)
        with pytest.raises(ConversionError, match="count_nonzero"):
            remote.reduce(np.count_nonzero, x, 0, initial=1)
        assert remote.counters.messages_sent == before


@pytest.mark.parametrize("initial", [b"x", 2**70, np.datetime64(1, "s"), np.float16(3)])
def test_an_initial_number_is_sent_as_what_the_elements_make_of_it(initial):
    """What JSON has no words for was tried again and again: all that was asked for later failed, too."""
    numbers = np.arange(6.0).reshape(2, 3)
    with tw.serve({"x": numbers}) as server, tw.connect(server.address) as remote:
        for ufunc in (np.logical_and, np.maximum):
            try:
                expected = tw.as_tensor(numbers).rows().reduce(ufunc, initial=initial)
            except TensorWrapperError as error:
                with pytest.raises(type(error)):
                    remote.reduce(ufunc, remote["x"], "rows", initial=initial)
            else:
                assert np.array_equal(remote.reduce(ufunc, remote["x"], 1, initial=initial), expected)
        assert remote["x"].tolist() == numbers.tolist()


@pytest.mark.parametrize("mode", [0, 1])
def test_a_mode_begins_with_its_initial_number_as_in_numpy(mode):
    """It came last: what was too large until then stayed infinite, and 0 times that is no number."""
    numbers = np.full((3, 2), 1e200)
    with tw.serve({"x": numbers}) as server, tw.connect(server.address) as remote:
        for initial in (0.0, 1e-300, 2.0):
            with np.errstate(over="ignore"):
                expected = np.multiply.reduce(numbers, axis=mode, initial=initial)
            assert np.array_equal(remote.reduce(np.multiply, remote["x"], mode, initial=initial), expected)


@pytest.mark.parametrize("dtype", [">i4", ">f8", "<u2"])
def test_what_is_held_in_another_order_of_bytes_is_computed_there(dtype):
    """Clients know no order of bytes: their views were refused as those of elements of another type."""
    numbers, rows = np.arange(6000).reshape(60, 100).astype(dtype), [np.array([3, 1], dtype), [2]]
    given = {"x": numbers, "y": numbers[::-1], "rows": tw.jagged(rows, dtype=np.dtype(dtype))}
    with tw.serve(given) as server, tw.connect(server.address) as remote:
        x, y = remote["x"], remote["y"]
        assert np.array_equal(remote.reduce(np.maximum, x, 0), numbers.max(axis=0))
        assert remote.reduce(np.maximum, remote["rows"], "rows").tolist() == [3, 2]
        least = remote.pushed(sel.minimum(x.view(), y.view()))
        assert isinstance(sel.sources(least)["0"], PushedSource)
        assert np.array_equal(least.compute(), np.minimum(numbers, numbers[::-1]))


def test_what_is_pushed_comes_packed_where_it_pays():
    """It never did, however slow the link."""
    zeros, noise = np.zeros((200, 300)), np.random.default_rng(1).random((200, 300))
    for numbers, least in ((zeros, 50), (noise, 1)):
        moved = []
        with tw.serve({"x": numbers, "y": numbers + 1}) as server:
            for compress in (False, True):
                with tw.connect(server.address, compress=compress) as remote:
                    there = remote.pushed(sel.minimum(remote["x"].view(), remote["y"].view()))
                    planned, before = there.plan().bytes_on_wire, remote.counters
                    assert np.array_equal(there.compute().to_numpy(), numbers)
                    sent = remote.counters.bytes_sent_on_wire - before.bytes_sent_on_wire
                    came = remote.counters.bytes_received_on_wire - before.bytes_received_on_wire
                    assert sent + came == planned or (compress and numbers is zeros)
                    moved.append(came)
        assert moved[0] >= least * moved[1]


def test_bits_of_fractions_are_not_combined(remote):
    with pytest.raises(DTypeError, match="bitwise_or"):
        remote.reduce(np.bitwise_or, remote["x"], 0)
    with pytest.raises(ConversionError, match="unsupported reduction"):
        remote.reduce(max, remote["x"], 0)


def test_what_is_not_reduced_there_says_so(remote):
    for ufunc, view, over in (
        (np.hypot, remote["x"], 0),
        (np.add, remote["x"], "columns"),
        (np.add, remote["x"], True),
    ):
        with pytest.raises(ConversionError):
            remote.reduce(ufunc, view, over)
    for view, over, error in ((remote["x"], 7, OutOfBoundsError), (remote["rows"], 0, JaggedModeError)):
        with pytest.raises(error):
            remote.reduce(np.add, view, over)
    with pytest.raises(DTypeError, match="strings"):
        remote.reduce(np.add, remote["words"], 0)


def test_a_tensor_that_changed_is_not_mixed_with_what_it_was():
    x, y = X.copy(), Y.copy()
    with tw.serve({"x": x, "y": y}) as server, tw.connect(server.address) as remote:
        there = remote.pushed(sel.minimum(remote["x"].view(), remote["y"].view()))
        sums = remote["x"].view()
        with server.editing("x"):
            x[:] = 0
        with pytest.raises(VersionChangedError):
            there.compute()
        with pytest.raises(VersionChangedError):
            remote.reduce(np.add, sums, 0)
        server.remove("y")
        with pytest.raises((TensorNameError, VersionChangedError)):
            there.compute()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 10_000, "schema"),
        ('{"view":1,"dtype":"<f8","range":{"start":[0,0],"end":[60,50]},"of":{"source":"other"}}', "schema"),
        ('{"view":1,"dtype":"<f8","range":{"start":[0],"end":[1]},"of":{"source":"x"}}', None),
        ('{"view":1}', "schema"),
        ("\x00", "schema"),
    ],
)
def test_hostile_views_are_refused_with_a_reason(remote, text, reason):
    version = remote["x"].version
    ask = AskView(Described(text, (), (("x", "x", version),)), (Outer([range(1), range(1)]),))
    with pytest.raises((RequestRefusedError, IndexError)) as caught:
        remote._connections.here().ask(ask)
    if reason is not None:
        assert caught.value.reason in {reason, "limit"}


def test_what_is_too_much_is_refused_before_it_is_computed(remote):
    wide = remote["x"].view().broadcast((2**40, 60, 50))
    found = described(remote._connections, wide)
    with pytest.raises(RequestRefusedError, match="limit"):
        remote._connections.here().ask(AskView(found, (Runs(0, 2**40),)))
    with pytest.raises(RequestRefusedError, match="limit"):
        remote.reduce(np.add, wide, 0)


@pytest.mark.parametrize("mode", [np.int64(1), -1, np.int8(-1)])
def test_a_mode_is_any_integer_and_is_counted_from_either_end(mode):
    with tw.serve({"x": X}) as server, tw.connect(server.address) as remote:
        assert np.array_equal(remote.reduce(np.maximum, remote["x"], mode), X.max(axis=-1))


@pytest.mark.parametrize("mode", [2, -3, 10**30, np.int64(64)])
def test_a_mode_that_there_is_not_is_refused_before_anything_is_asked(mode):
    """A negative one was beyond a limit of the server, in its words."""
    with tw.serve({"x": X}) as server, tw.connect(server.address) as remote:
        x = remote["x"]
        with pytest.raises(OutOfBoundsError, match="mode"):
            remote.reduce(np.maximum, x, mode)
        with pytest.raises(ConversionError, match="mode"):
            remote.reduce(np.maximum, x, True)


def test_strings_are_not_reduced_and_their_views_are_computed():
    words = tw.strings([["a", "b"], ["c", "d"]])
    with tw.serve({"words": words}) as server, tw.connect(server.address) as remote:
        view = remote["words"].view()
        for ufunc in (np.maximum, np.count_nonzero):
            with pytest.raises((DTypeError, RequestRefusedError), match="reduce"):
                remote.reduce(ufunc, view, 0)
        told = described(remote._connections, view[::-1])
        assert told is not None
        answer = remote._connections.here().ask(AskView(told, (Runs([0], [4]),)))
        assert [bytes(own) for own in answer.frames][1] == b"cdab"


@pytest.mark.parametrize("name", ["bfloat16", "float8_e5m2", "float8_e4m3fn"])
def test_what_json_has_no_name_for_is_not_pushed_and_is_answered(name):
    """float8_e5m2 was sent as "<f1", which no reader takes."""
    numbers = np.linspace(0, 4, 1000, dtype="f4").astype(getattr(ml_dtypes, name))
    with tw.serve({"x": numbers, "y": numbers[::-1].copy()}) as server, tw.connect(server.address) as remote:
        least = sel.minimum(remote["x"].view(), remote["y"].view())
        for view in (least, least[::-1], sel.as_view(least.astype("f4")), least.astype("f4").astype(name)):
            assert remote.pushed(view).compute().tolist() == view.compute().tolist()
        with pytest.raises(ConversionError, match="no name in JSON"):
            sel.to_json(least)


def test_a_view_that_calls_a_function_is_reduced_here(remote):
    """It was refused as one that is not made of whole tensors of the server, which it is."""
    called = sel.compute((60, 50), lambda i, j: (i - j) / 20, dtype="f8")
    least = sel.minimum(remote["x"].view(), called)
    expected = np.minimum(X, called.compute().to_numpy())
    assert np.allclose(remote.reduce(np.add, least, 0), expected.sum(axis=0))
    assert remote.reduce(np.count_nonzero, least, "rows").tolist() == (expected != 0).sum(axis=1).tolist()
    assert np.allclose(remote.reduce(np.add, called, 0), called.compute().to_numpy().sum(axis=0))
    assert np.array_equal(remote.reduce(np.add, X, 0), X.sum(axis=0))


def test_a_cast_that_does_not_fit_is_refused_by_the_word_of_the_protocol():
    with tw.serve({"x": np.array([300, -1])}) as server, tw.connect(server.address) as remote:
        view = remote["x"].astype("u1")
        with pytest.raises(RequestRefusedError, match="read: there are elements"):
            view.compute()
