"""Records at a server: fields under dotted names and one version, whose rows come together."""

import pickle
import re
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import (
    ConversionError,
    OutOfBoundsError,
    ReadOnlyError,
    RemoteProtocolError,
    RequestRefusedError,
    TensorNameError,
    TooManyIndicesError,
    VersionChangedError,
)
from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.protocol import _limits
from tensorwrapper.remote.protocol._answers import receive_answer, send_answer
from tensorwrapper.remote.protocol._requests import receive_request, send_request
from tensorwrapper.remote.server._catalogue import Catalogue
from tensorwrapper.selection import Runs
from tensorwrapper.transport import CurveClient, CurveServer, KeyPair

LENGTHS = np.random.default_rng(4).integers(0, 8, 1000)
SHAPE = tw.Shape.jagged(LENGTHS)
EVENTS = tw.records(
    {
        "t": tw.from_buffer(np.arange(SHAPE.size), SHAPE),
        "q": tw.from_buffer(np.arange(SHAPE.size, dtype="f4") / 2, SHAPE),
        "good": tw.from_buffer(np.arange(SHAPE.size) % 3 == 0, SHAPE),
        "run": np.arange(1000),
    }
)
TABLE = tw.records(
    {
        "x": tw.jagged([[1], [2, 3], []]),
        "y": tw.jagged([[1, 2], [], [3]]),
        "z": np.arange(6.0).reshape(3, 2),
        "s": tw.strings(["a", "bc", "\u00e9"]),
        "w": tw.strings([["a", ""], [], ["bcd"]]),
    }
)
KEYS = [
    slice(10, 74),
    slice(None),
    slice(-3, None),
    [5, 3, 3, 999],
    np.array([7, 8]),
    12,
    -1,
    slice(None, None, -7),
    slice(3, 3),
]


@pytest.fixture(scope="module")
def remote():
    with tw.serve({"ev": EVENTS, "table": TABLE, "x": [1]}) as server, tw.connect(server.address) as remote:
        yield remote


def requests_of(remote, call):
    before = remote.stats()["requests"]
    found = call()
    return found, remote.stats()["requests"] - before - 1


def test_fields_are_tensors_for_everybody(remote):
    assert list(remote) == [
        "ev.good",
        "ev.q",
        "ev.run",
        "ev.t",
        "table.s",
        "table.w",
        "table.x",
        "table.y",
        "table.z",
        "x",
    ]
    assert remote["ev.t"][3:5].tolist() == EVENTS["t"][3:5].tolist()
    assert remote["ev.run"].is_readonly
    with pytest.raises(TensorNameError, match=r"'ev' is served, but records are: `remote.records\('ev'\)`"):
        remote["ev"]
    with pytest.raises(TensorNameError, match=r"'e' is served$"):
        remote["e"]
    for name in ("x", "eve", "ev.t", "e", "\ud800"):
        with pytest.raises(TensorNameError, match="no records"):
            remote.records(name)
    with pytest.raises(ConversionError):
        remote.records(7)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_rows_of_all_fields_are_one_request(remote, key):
    for name, records in {"ev": EVENTS, "table": TABLE}.items():
        if name == "table" and not isinstance(key, slice):
            continue
        there = remote.records(name)
        assert there.names == records.names
        assert (len(there), there.rank, there.nbytes) == (
            len(records),
            records.rank,
            sum(f.nbytes for f in there.view().values()),
        )
        got, count = requests_of(remote, lambda there=there, key=key: there[key])
        assert count <= 1
        assert got.to_dict() == records[key].to_dict()
        assert got.dtypes == records.dtypes
        assert not got.is_lazy


def test_rows_of_records_share_one_shape(remote):
    got = remote.records("ev")[10:74]
    assert got["t"].shape is got["q"].shape is got.shape


def test_keys_of_later_modes_masks_and_fields(remote):
    there = remote.records("ev")
    assert there[5:9, :1].to_dict() == EVENTS[5:9, :1].to_dict()
    assert there[["run", "q"]][:3].to_dict() == EVENTS[["run", "q"]][:3].to_dict()
    assert there["t"][7].tolist() == EVENTS["t"][7].tolist()
    mask = LENGTHS > 5
    assert there[mask].to_dict() == EVENTS[mask].to_dict()
    assert there.shape == EVENTS.shape
    assert there.view().is_lazy
    assert there.compute().array_equal(EVENTS)
    assert next(iter(there)).to_dict() == EVENTS[0].to_dict()
    with pytest.raises(TensorNameError, match="no field 'z'"):
        there["z"]
    with pytest.raises(OutOfBoundsError):
        there[1000]
    with pytest.raises(ConversionError, match=r"in r\.names"):
        "t" in there  # noqa: B015 - it raises


def test_no_field_is_selected_twice(remote):
    with pytest.raises(TensorNameError, match="'t' is selected twice"):
        remote.records("ev")[["t", "q", "t"]]
    with pytest.raises(TensorNameError, match="no field"):
        remote.records("ev")[["t", [1]]]


def test_what_records_have_and_these_have_not_is_said(remote):
    r = remote.records("table")
    missing = {own for own in dir(tw.Records) if not own.startswith("_")} - set(dir(type(r)))
    assert {"drop", "plan", "sort_by"} <= missing
    for name in sorted(missing):
        with pytest.raises(AttributeError, match=rf"`r\.view\(\)\.{name}`, `r\[:\]\.{name}`") as caught:
            getattr(r, name)
        for code in re.findall("`(.*?)`", str(caught.value)):
            eval(code)


@pytest.mark.parametrize(
    "mistake", ["r + 1", "-r", "r == r", "np.sum(r)", "np.add(r, 1)", "np.asarray(r)", "hash(r)", "r > r"]
)
def test_there_are_no_operators(remote, mistake):
    r = remote.records("ev")
    with pytest.raises(TypeError if "hash" in mistake else ConversionError) as caught:
        eval(mistake)
    advice = re.findall("`(.*?)`", str(caught.value))
    assert advice == ([] if "hash" in mistake else ["r['t']", "r[:]", "r.view()"])
    for code in advice:
        eval(code)
    with pytest.raises(ReadOnlyError):
        r["t"] = 1
    with pytest.raises(ReadOnlyError):
        del r["t"]


def test_functions_of_records_take_them(remote):
    there, rows = remote.records("ev"), EVENTS[:2]
    seen = tw.records(there)
    assert seen.is_lazy
    assert seen.array_equal(EVENTS)
    assert tw.records(there, shape=(1000,)).rank == 1
    assert tw.concat([there, rows]).array_equal(tw.concat([EVENTS, rows]).compute())
    assert tw.concat([rows, there]).array_equal(tw.concat([rows, EVENTS]).compute())
    assert tw.records(remote.records("table")).array_equal(tw.records(TABLE))
    text = tw.selection.to_json(there)
    assert tw.fields.records_from_json(text, sources=tw.selection.sources(there)).array_equal(EVENTS)


def test_they_pickle_as_tensors_do(remote):
    for there, want in ((remote.records("ev"), EVENTS), (remote.records("ev")[["run"]], EVENTS[["run"]])):
        again = pickle.loads(pickle.dumps(there))
        assert (again.name, again.names, again.version) == (there.name, there.names, there.version)
        assert again[3:9].to_dict() == want[3:9].to_dict()


def test_many_elements_are_views_and_their_lengths_come_once():
    shape = tw.Shape.jagged([400_000, 3, 400_000])
    big = tw.records(
        {
            "a": tw.from_buffer(np.arange(shape.size), shape),
            "b": tw.from_buffer(np.ones(shape.size), shape),
            "n": [1, 2, 3],
        }
    )
    with tw.serve({"big": big}) as server, tw.connect(server.address) as remote:
        there = remote.records("big")
        got, count = requests_of(remote, lambda: there[:2])
        assert (count, got.is_lazy) == (1, True)
        assert got.compute().array_equal(big[:2])
        assert not there[1:2].is_lazy


KINDS = {
    "sparse": tw.records({"s": tw.sparse([(0, 1), (2, 0)], [5.0, 7.0], (3, 2)), "n": [1, 2, 3]}),
    "rows in rows": tw.records({"d": tw.jagged([[[1], []], [[2, 3]]]), "n": [1, 2]}),
    "cells": tw.records(
        {"c": tw.from_buffer(np.arange(9), tw.Shape.from_cells((2,), [(1, 3), (2, 3)])), "n": [1, 2]}
    ),
    "views": tw.concat([EVENTS[:3], EVENTS[5:7]]),
    "tiled": tw.records({"x": tw.as_tensor(np.ones((4, 4))).tiled(tw.Tiling([1, 3], [2, 2])), "y": [1, 2]}),
    "nulls": tw.records(
        {"n": [1, None, 3], "x": tw.jagged([[1, None], [], [2]]), "y": tw.jagged([[1, 2], [], [3]])}
    ),
    "times": tw.records({"t": np.array(["2026-01-01", "NaT"], "M8[s]")}),
    "no rows": EVENTS[:0],
}


@pytest.mark.parametrize("kind", KINDS)
def test_fields_of_other_kinds_are_read_by_themselves(kind):
    with tw.serve({"k": KINDS[kind]}) as server, tw.connect(server.address) as remote:
        there = remote.records("k")
        assert there.names == KINDS[kind].names
        assert there[1:].to_dict() == KINDS[kind][1:].to_dict()
        assert there[::-1].to_dict() == KINDS[kind][::-1].to_dict()
        assert there.to_dict() == KINDS[kind].to_dict()


ALIKE = tw.records({"t": tw.jagged([[1], [2]]), "run": [0, 1]})
NO_ROWS = [
    slice(0),
    slice(9, 9),
    slice(-9, None, -1),
    [],
    np.zeros(0, int),
    (slice(0), slice(1)),
    (slice(0), 0),
]


@pytest.mark.parametrize("kind", ["alike", *KINDS])
def test_no_rows_of_any_kind_have_the_shapes_of_the_records(kind):
    records = KINDS.get(kind, ALIKE)
    with tw.serve({"k": records}) as server, tw.connect(server.address) as remote:
        there = remote.records("k")
        for key in [*NO_ROWS, np.zeros(len(records), bool)]:
            if isinstance(key, tuple) and records.rank == 1:
                with pytest.raises(TooManyIndicesError):
                    there[key]
                continue
            got, want = there[key].compute(), records[key]
            assert got.to_dict() == want.to_dict()
            assert (got.shape, got.dtypes) == (want.shape, want.dtypes)
            if kind != "tiled":  # rows that a list names are a slice there, and stay tiled
                assert [own.shape for own in got.values()] == [own.shape for own in want.values()]


def test_files_serve_their_records(tmp_path):
    for name in ("a", "b"):
        with tw.open(tmp_path / f"{name}.tens", "a") as f:
            f.extend("ev", EVENTS[:5])
            f.extend("ev", EVENTS[5:9])
            f["x"] = [1, 2]
            assert f.record_fields == {"ev": ("t", "q", "good", "run")}
    with tw.serve(tmp_path / "a.tens") as server, tw.connect(server.address) as remote:
        assert list(remote) == ["ev.good", "ev.q", "ev.run", "ev.t", "x"]
        there = remote.records("ev")
        got, count = requests_of(remote, lambda: there[3:7])
        assert (count, got.to_dict()) == (1, EVENTS[3:7].to_dict())
        with tw.open(tmp_path / "a.tens", "a") as f:
            f.extend("ev", EVENTS[:1])
        with pytest.raises(VersionChangedError):
            there[3:7]
    with tw.serve(tmp_path, writable=True) as server, tw.connect(server.address) as remote:
        assert remote.records("b/ev")[3:7].to_dict() == EVENTS[3:7].to_dict()
        assert remote["b/ev.run"].is_readonly


def test_all_fields_have_one_version_and_change_together():
    x, y = np.zeros(4), np.arange(4)
    served = tw.serve({"ev": tw.records({"x": x, "y": y})}, writable=True)
    with served as server, tw.connect(server.address) as remote:
        there = remote.records("ev")
        with server.editing("ev.x"):
            x[:] = 7
        with pytest.raises(VersionChangedError):
            there[:2]
        again = remote.records("ev")
        assert again[:2].to_dict() == {"x": [7, 7], "y": [0, 1]}
        server.replace("ev", tw.records({"y": [5, 6]}))
        assert list(remote) == ["ev.y"]
        with pytest.raises(TensorNameError):
            again[:2]
        with pytest.raises(VersionChangedError):
            again[["y"]][:2]
        assert remote.records("ev")[:].to_dict() == {"y": [5, 6]}
        server.replace("ev.z", [1])
        assert remote.records("ev").names == ("y",)
        server.remove("ev")
        assert list(remote) == ["ev.z"]
        with pytest.raises(TensorNameError):
            remote.records("ev")


def test_a_name_is_that_of_a_tensor_or_of_records_and_changes_as_a_whole():
    served = {"ev": tw.records({"t": [1, 2], "run": [3, 4]}), "x": [1], "y.a": [5]}
    with tw.serve(served) as server, tw.connect(server.address) as remote:
        had = remote.records("ev").version
        for change in (
            lambda: server.replace("ev.t", [1, 2, 3]),
            lambda: server.replace("ev.t", tw.records({"q": [1]})),
            lambda: server.remove("ev.t"),
        ):
            with pytest.raises(TensorNameError, match=r"'ev\.t' is a field of the records 'ev'.*as a whole"):
                change()
        with pytest.raises(TensorNameError, match=r"'y\.a' is already served; use `server.remove\('y\.a'\)`"):
            server.replace("y", tw.records({"a": [1]}))
        assert server.names == ["ev.run", "ev.t", "x", "y.a"]
        assert (remote.records("ev").version, remote.records("ev").names) == (had, ("t", "run"))
        server.replace("ev", [1, 2])
        assert server.names == ["ev", "x", "y.a"]
        with pytest.raises(TensorNameError):
            remote.records("ev")
        server.replace("x", tw.records({"t": [7]}))
        assert server.names == ["ev", "x.t", "y.a"]
        server.replace("ev.t", [1])
        server.remove("y.a")
        server.replace("y", tw.records({"a": [1]}))
        assert remote.records("y").to_dict() == {"a": [1]}
        assert server.names == ["ev", "ev.t", "x.t", "y.a"]
    with pytest.raises(TensorNameError, match="field of the records"):
        tw.serve({"ev": served["ev"], "ev.t": [1]})
    with pytest.raises(TensorNameError, match="already served"):
        tw.serve({"ev.t": [1], "ev": served["ev"]})


def test_a_snapshot_has_records_as_they_were():
    with tw.serve({"ev": EVENTS, "x": [1]}) as server, tw.connect(server.address) as there:
        with there.snapshot() as then:
            server.replace("ev", tw.records({"t": [1]}))
            assert then.records("ev").names == EVENTS.names
            assert then.records("ev")[3:9].to_dict() == EVENTS[3:9].to_dict()
            assert then.records("ev").compute().array_equal(EVENTS)
            assert there.records("ev").to_dict() == {"t": [1]}
            with pytest.raises(TensorNameError, match="no records"):
                then.records("x")
        with pytest.raises(ConversionError, match="closed"):
            then.records("ev")


def test_an_answer_is_of_one_version_while_fields_are_edited():
    x, y = np.zeros(2000), np.zeros(2000)
    with tw.serve({"ev": tw.records({"x": x, "y": y})}) as server, tw.connect(server.address) as remote:
        done = threading.Event()

        def edit():
            for k in range(60):
                with server.editing("ev.x"):
                    x[:] = k
                    y[:] = k
            done.set()

        thread = threading.Thread(target=edit)
        thread.start()
        seen = 0
        while not done.is_set() or not seen:
            try:
                got = remote.records("ev")[:]
            except VersionChangedError:
                continue
            seen += 1
            assert len(set(got["x"].tolist())) == 1
        thread.join()


def test_a_client_may_see_some_fields():
    ours, alice = KeyPair.make(), KeyPair.make()
    security, allow = (
        CurveServer(ours, allow=[alice.public]),
        {"ev.run": [alice.public], "ev.q": [alice.public]},
    )
    keys = CurveClient(alice, ours.public)
    served = tw.serve({"ev": EVENTS}, security=security, allow=allow)
    with served as server, tw.connect(server.address, security=keys) as remote:
        there = remote.records("ev")
        assert there.names == ("q", "run")
        assert there[:5].to_dict() == EVENTS[["q", "run"]][:5].to_dict()
        with pytest.raises(TensorNameError):
            remote._connections.here().ask(ev.AskRecords("ev", "", ("run", "t"), Runs(0, 1)))


def test_servers_without_the_capability_are_asked_field_by_field(monkeypatch):
    caps = tuple(own for own in _limits.CAPABILITIES if own != "records")
    monkeypatch.setattr("tensorwrapper.remote.server._catalogue.CAPABILITIES", caps)
    with tw.serve({"ev": EVENTS}) as server, tw.connect(server.address) as remote:
        there = remote.records("ev")
        assert set(there.names) == set(EVENTS.names)
        assert there[10:20][list(EVENTS.names)].to_dict() == EVENTS[10:20].to_dict()


# What a stranger may ask for.

CATALOGUE = Catalogue(None, ServeLimits(answer_bytes=4096))
CATALOGUE.put("ev", EVENTS)
CATALOGUE.put("k", KINDS["sparse"])
CATALOGUE.put("long", tw.records({f"s{k}": tw.strings(["x" * 3000]) for k in range(9)}))
CATALOGUE.put("vast", tw.records({"x": tw.zeros((1,)).broadcast((2**40,))}))


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (ev.AskRecords("ev", "", ("t", "no"), Runs(0, 1)), "missing"),
        (ev.AskRecords("no", "", ("t",), Runs(0, 1)), "missing"),
        (ev.AskRecords("ev", "other", ("t",), Runs(0, 1)), "changed"),
        (ev.AskRecords("ev", "", ("t",), Runs(999, 2)), "bounds"),
        (ev.AskRecords("ev", "", ("run",), Runs(0, 2**40)), "bounds"),
        (ev.AskRecords("ev", "", ("t",), Runs(0, 1000)), "limit"),
        (ev.AskRecords("k", "", ("s",), Runs(0, 1)), "unsupported"),
    ],
    ids=str,
)
def test_what_is_asked_wrongly_is_refused(request_, reason):
    answer = CATALOGUE.answer(request_, "")
    assert isinstance(answer, ev.Refused)
    assert answer.reason == reason


def test_no_answer_is_larger_than_it_may_be():
    found = CATALOGUE.answer(ev.AskRecords("ev", "", ("t", "q"), Runs(0, 60), 2**30), "")
    assert found.elements
    assert sum(f.nbytes for own in found.elements for f in own) <= 4096
    assert not CATALOGUE.answer(ev.AskRecords("ev", "", ("t", "q"), Runs(0, 200), 2**30), "").elements
    assert not CATALOGUE.answer(ev.AskRecords("ev", "", ("t", "q"), Runs(0, 60)), "").elements
    names = tuple(f"s{k}" for k in range(9))
    assert not CATALOGUE.answer(ev.AskRecords("long", "", names, Runs(0, 1), 2**30), "").elements
    assert len(CATALOGUE.answer(ev.AskRecords("long", "", names[:1], Runs(0, 1), 2**30), "").elements) == 1
    assert not CATALOGUE.answer(ev.AskRecords("vast", "", ("x",), Runs(0, 2**40), 2**30), "").elements


@pytest.mark.parametrize(
    "label",
    [
        b'{"name":"ev","version":"","fields":[],"rows":{"starts":[0,1,1],"lengths":1}}',
        b'{"name":"ev","version":"","fields":["t","t"],"rows":{"starts":[0,1,1],"lengths":1}}',
        b'{"name":"ev","version":"","fields":[7],"rows":{"starts":[0,1,1],"lengths":1}}',
        b'{"name":"ev","version":"","fields":"t","rows":{"starts":[0,1,1],"lengths":1}}',
        b'{"name":"ev","version":"","fields":["t"]}',
        b'{"name":"ev","version":"","fields":["t"],"rows":{"modes":[]}}',
        b'{"name":"ev","version":"","fields":["t"],"rows":{"starts":[0,1,1],"lengths":1},"bytes":-1}',
        b'{"name":"ev","version":"","fields":["t"],"rows":{"starts":[0,1,1],"lengths":1},"x":1}',
    ],
)
def test_requests_that_are_none_are_refused(label):
    good = [bytes(f) for f in send_request(1, ev.Ping())]
    with pytest.raises(RequestRefusedError):
        receive_request([b'ZIO0JSON{"tw":{"records":' + label + b"}}", *good[1:]])


def test_requests_and_answers_come_back():
    asked = ev.AskRecords("ev", "v", ("t", "q"), Runs([1, 5], [2, 1]), 9)
    number, found = receive_request(send_request(7, asked))
    assert (number, found.name, found.fields, found.rows, found.nbytes) == (
        7,
        "ev",
        ("t", "q"),
        asked.rows,
        9,
    )
    facts = receive_request(send_request(7, ev.AskFacts(("x",), records=True)))[1]
    assert facts.records
    tables = ((np.array([3]), np.array([1, 2**33])), (np.array([0]), np.array([4, 0])))
    answer = ev.FieldRows(
        "v",
        tables,
        (1, -1, 0),
        ((memoryview(b"a"),), (memoryview(b"b"), memoryview(b"c")), (memoryview(b""),)),
    )
    number, got = receive_answer(send_answer(7, answer))
    assert (number, got.version, got.fields) == (7, "v", (1, -1, 0))
    assert [[own.tolist() for own in table] for table in got.tables] == [
        [own.tolist() for own in table] for table in tables
    ]
    assert [[bytes(f) for f in own] for own in got.elements] == [[b"a"], [b"b", b"c"], [b""]]
    told = ev.Facts("ev.t", "v", "jagged", 2, 5, "<i8", records=("ev", 0, 2))
    assert receive_answer(send_answer(7, ev.FactsOf((told,))))[1].facts[0] == told


WRONG = {
    "a table that is not there": ev.FieldRows("v", (), (0,)),
    "an answer of fewer fields": ev.FieldRows("", ((np.array([0]), np.array([1])),), (0,)),
    "no table": ev.FieldRows("", (), (-1, -1)),
    "a box with a table": ev.FieldRows("", ((np.array([0]), np.array([1])),), (0, 0)),
    "fewer rows": ev.FieldRows("", ((np.array([0]), np.array([], int)),), (0, -1)),
    "fewer runs": ev.FieldRows("", ((np.array([], int), np.array([1])),), (0, -1)),
    "more elements than there are": ev.FieldRows("", ((np.array([0]), np.array([10**6])),), (0, -1)),
    "vast rows": ev.FieldRows("", ((np.array([0]), np.array([2**62])),), (0, -1)),
    "elements of another size": ev.FieldRows(
        "", ((np.array([0]), np.array([1])),), (0, -1), ((memoryview(b"x"),), (memoryview(bytes(8)),))
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_answers_that_are_wrong_are_refused(remote, monkeypatch, case):
    there = remote.records("ev")[["t", "run"]]
    connection = remote._connections.here()
    ask = type(connection).ask
    wrong = WRONG[case]

    def lie(self, request, *more):
        if not isinstance(request, ev.AskRecords):
            return ask(self, request, *more)
        told = ev.FieldRows(request.version, wrong.tables, wrong.fields, wrong.elements)
        return receive_answer(send_answer(1, told))[1]

    monkeypatch.setattr(type(connection), "ask", lie)
    with pytest.raises(RemoteProtocolError):
        there[3:4]


@given(
    start=st.integers(0, 999),
    count=st.integers(0, 60),
    step=st.integers(1, 5),
    names=st.lists(st.sampled_from(EVENTS.names), min_size=1, unique=True),
)
def test_rows_are_those_of_the_records(remote, start, count, step, names):
    key = slice(start, start + count, step)
    assert remote.records("ev")[names][key].to_dict() == EVENTS[names][key].to_dict()
