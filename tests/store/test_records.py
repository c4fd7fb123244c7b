"""Records in files: all fields of a unit grow by the same rows, in one record, or not at all."""

import json
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, wire
from tensorwrapper.errors import (
    ConversionError,
    DataFileError,
    DTypeError,
    ExtentMismatchError,
    LocalProtocolError,
    RankError,
    ReadOnlyError,
    TensorNameError,
)
from tensorwrapper.store import compact, convert, verify
from tensorwrapper.store.records import _record
from tests.support.store.page_reader import file_records, read_records, read_tensors

ROWS = {"t": [[5, 1, 7], [], [2, 9]], "q": [[0.5, 1.5, 2.5], [], [3.5, 4.5]], "run": [10, 20, 30]}
MORE = {"t": [[1], [2, 3]], "q": [[0.25], [0.75, 1.0]], "run": [40, 50]}
BOTH = {name: ROWS[name] + MORE[name] for name in ROWS}


def records_of(rows):
    fields = {name: tw.jagged(own) if isinstance(own[0], list) else own for name, own in rows.items()}
    return tw.records(fields)


def rows_of(rows, dtype):
    return tw.from_buffer(np.array([*chain(*rows)], dtype), Shape.jagged([*map(len, rows)], rank=2))


def joined(batches):
    return {name: [*chain(*[own[name].tolist() for own in batches])] for name in batches[0].names}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.tens"


@pytest.fixture
def grown(path):
    with tw.open(path, "a", metadata={"run": 3}) as f:
        f["x"] = [1, 2]
        f.extend("ev", records_of(ROWS))
        f.extend("ev", MORE)
        f.extend("y", tw.jagged([[1], []]))
    return path


def test_records_come_back_and_fields_are_tensors(grown):
    with tw.open(grown) as f:
        assert list(f) == ["x", "ev.t", "ev.q", "ev.run", "y"]
        assert (len(f), "ev.t" in f, "ev" in f, "ev.z" in f) == (5, True, False, False)
        events = f.records("ev")
        assert events.names == ("t", "q", "run")
        assert events.shape == Shape.jagged([3, 0, 2, 1, 2])
        assert events.to_dict() == BOTH
        assert events[1:4].to_dict() == {name: rows[1:4] for name, rows in BOTH.items()}
        assert {name: f[f"ev.{name}"].tolist() for name in BOTH} == BOTH
        assert f["ev.t"][3:].tolist() == [[1], [2, 3]]
        with pytest.raises(TensorNameError, match=r"f\.records\('ev'\)"):
            f["ev"]
        with pytest.raises(TensorNameError, match=r"no tensor 'ev\.z'"):
            f["ev.z"]
        with pytest.raises(TensorNameError, match="no records 'x'"):
            f.records("x")
        with pytest.raises(TensorNameError, match=r"no records 'ev\.t'"):
            f.records("ev.t")
    assert events.to_dict() == BOTH  # also when the file is closed
    assert verify(grown).ok
    assert verify(grown).tensors == 5


def test_any_tensors_whose_rows_agree_are_records(grown):
    with tw.open(grown) as f:
        assert f.records(["x", "y"]).to_dict() == {"x": [1, 2], "y": [[1], []]}
        assert f.records(["ev.run", "ev.t"]).names == ("ev.run", "ev.t")
        with pytest.raises(ExtentMismatchError, match=r"'ev\.t'"):
            f.records()
        with pytest.raises(TensorNameError, match="no tensor 'z'"):
            f.records(["x", "z"])
    with tw.open(grown, "w") as f:
        f["a"], f["b"] = [1, 2], [[1.5], [2.5]]
    with tw.open(grown) as f:
        assert f.records().to_dict() == {"a": [1, 2], "b": [[1.5], [2.5]]}


def test_what_was_saved_at_once_shares_one_shape(path):
    tw.save(path, {"ev": records_of(ROWS), "x": [1]}, compress={"ev": "zlib"})
    with tw.open(path) as f:
        assert list(f) == ["ev.t", "ev.q", "ev.run", "x"]
        events = f.records("ev")
        assert events.to_dict() == ROWS
        assert events["t"].shape is events["q"].shape is events.shape
        assert [f.describe(name).packing for name in f] == ["zlib", "zlib", "dense", "dense"]
        assert [f.describe(name).nbytes for name in ("ev.t", "ev.run")] == [40, 24]
        assert f.tensor_metadata("ev.q") == {}
        assert "ev.run" in f.to_svg()


def test_the_file_has_the_splits_once(path):
    shape = Shape.jagged(np.random.default_rng(5).integers(0, 8, 10**5))
    fields = {f"f{k}": tw.from_buffer(np.zeros(shape.size, "f4"), shape) for k in range(4)}
    tw.save(path, {"ev": tw.records(fields)})
    assert path.stat().st_size <= 16 * shape.size + 8 * (10**5 + 1) + 2000


def test_other_kinds_of_files_have_a_tensor_for_each_field(tmp_path):
    tw.save(tmp_path / "a.npz", {"ev": tw.records({"x": [1, 2], "y": [3.5, 4.5]}), "z": [5]})
    assert {name: t.tolist() for name, t in tw.open(tmp_path / "a.npz").items()} == {
        "ev.x": [1, 2],
        "ev.y": [3.5, 4.5],
        "z": [5],
    }


def test_one_extension_is_one_record_of_the_file(grown):
    labels = [label for label, _ in file_records(grown.read_bytes())]
    said = [label["record"] for label in labels if label["record"]["kind"] == "records"]
    assert said == [{"kind": "records", "name": "ev"}, {"extends": 3, "kind": "records", "name": "ev"}]
    assert labels[-1]["record"]["records"] == {"ev": ["t", "q", "run"]}


def test_a_reader_made_from_the_pages_reads_them_and_one_that_knows_no_records_the_others(grown):
    raw = grown.read_bytes()
    assert read_records(raw) == {"ev": BOTH}
    assert read_tensors(raw) == {"x": [1, 2], "y": [[1], []]}


BAD = [
    ({"t": [[1]], "q": [[1.5]]}, TensorNameError, "'run' is missing"),
    ({**MORE, "z": [1, 2]}, TensorNameError, "not 'z'"),
    ({**MORE, "run": [1]}, ExtentMismatchError, "'run'"),
    ({**MORE, "q": [[1.5], [2.5]]}, ExtentMismatchError, "'q'"),
    ({**MORE, "run": []}, ExtentMismatchError, "'run' has no rows"),
    ({**MORE, "run": [0.5, 1.5]}, DTypeError, "ev.run"),
    ({**MORE, "run": [[1], [2]]}, RankError, "ev.run"),
    ({**MORE, "t": tw.strings([["a"], ["b", "c"]])}, DTypeError, "ev.t"),
    ([1, 2], ConversionError, "a mapping of all fields"),
    (tw.jagged([[1]]), ConversionError, "a mapping of all fields"),
]


@pytest.mark.parametrize(("given", "error", "said"), BAD, ids=str)
def test_rows_that_do_not_go_on_leave_the_file_as_it_is(grown, given, error, said):
    for flushed in (False, True):
        with tw.open(grown, "a") as f:
            if flushed:
                f.extend("ev", {"t": [[8]], "q": [[8.5]], "run": [80]})
            before = grown.read_bytes()
            with pytest.raises(error, match=said):
                f.extend("ev", given)
            assert grown.read_bytes() == before
    with tw.open(grown) as f:
        assert f.records("ev")["run"].tolist() == [*BOTH["run"], 80]


def test_names_are_taken_by_fields_and_the_other_way_round(grown):
    with tw.open(grown, "a") as f:
        for name in ("ev", "ev.t"):
            with pytest.raises(TensorNameError, match="is taken"):
                f[name] = [1]
            with pytest.raises(TensorNameError, match="is taken"):
                f[name] = records_of(ROWS)
        with pytest.raises(TensorNameError, match=r"f\.extend\('ev', \.\.\.\)"):
            f.extend("ev.t", [[1]])
        with pytest.raises(ConversionError, match="'x' is a tensor"):
            f.extend("x", MORE)
        f["new.t"] = [1]
        with pytest.raises(TensorNameError, match=r"'new\.t'"):
            f.extend("new", records_of(MORE))
        with pytest.raises(ConversionError, match="metadata"):
            f.append("m", records_of(ROWS), metadata={"a": 1})
        with pytest.raises(RankError, match=r"e\[:1\]"):
            f.append("m", records_of(ROWS)[0])
        f.append("m", records_of(ROWS)[:1])
    with tw.open(grown) as f, pytest.raises(ReadOnlyError):
        f.extend("ev", MORE)


def test_dots_in_names_of_records_and_of_fields(path):
    with tw.open(path, "a") as f:
        f.extend("a.b", {"c.d": [1], "e": [2]})
        with pytest.raises(TensorNameError, match=r"'a\.b\.c\.d'"):
            f.extend("a.b.c", {"d": [1]})
        with pytest.raises(TensorNameError, match=r"'a\.b' is taken"):
            f.extend("a", {"b": [3]})
        f.extend("a", {"c": [3]})
    with tw.open(path) as f:
        assert {name: f[name].tolist() for name in f} == {"a.b.c.d": [1], "a.b.e": [2], "a.c": [3]}
        assert f.records("a").to_dict() == {"c": [3]}


def test_lists_are_read_as_what_the_fields_have(path):
    with tw.open(path, "a") as f:
        f.extend("ev", {"t": tw.jagged([[1], [2, 3]]), "q": tw.jagged([[1], [2, 3]]), "n": [1, 2]})
        # Rows that are all alike, empty ones, none at all, another order of names, views.
        f.extend("ev", {"q": [[1, 2], [3, 4]], "t": [[5, 6], [7, 8]], "n": [3, 4]})
        f.extend("ev", {"t": [[]], "q": [[]], "n": [5]})
        f.extend("ev", {"t": [], "q": [], "n": []})
        f.extend("ev", tw.records({"t": tw.jagged([[9], [9]]), "q": tw.jagged([[9], [9]]), "n": [6, 6]})[::2])
    with tw.open(path) as f:
        assert f.records("ev").to_dict() == {
            "t": [[1], [2, 3], [5, 6], [7, 8], [], [9]],
            "q": [[1], [2, 3], [1, 2], [3, 4], [], [9]],
            "n": [1, 2, 3, 4, 5, 6],
        }
    assert verify(path).ok


def test_records_of_boxes_grow(path):
    with tw.open(path, "a") as f:
        f.extend("ev", {"energy": [1.0, 2.0], "xyz": np.zeros((2, 3))})
        f.extend("ev", {"energy": [3], "xyz": [[1, 2, 3]]})
    with tw.open(path) as f:
        assert f.records("ev").shape == Shape(3)
        assert f.records("ev")["xyz"].tolist() == [[0, 0, 0], [0, 0, 0], [1, 2, 3]]


KINDS = {
    "strings": lambda k: {"s": tw.strings([["a" * k, None], []]), "n": [k, 2]},
    "sparse": lambda k: {"s": tw.sparse([(0, k % 2)], [5.0 + k], (2, 2)), "n": [k, 2]},
    "cells": lambda k: {
        "xyz": tw.from_buffer(np.arange(3 * k + 3), Shape.from_cells((2,), [(k, 3), (1, 3)])),
        "t": tw.jagged([[*range(k)], [1]]),
    },
    "rows in rows": lambda k: {"d": tw.jagged([[[1] * k, []], [[2]]]), "t": tw.jagged([[1, 2], [3]])},
    "nulls": lambda k: {"x": tw.jagged([[k, None], [3]]), "n": tw.as_tensor([None, k])},
    "times": lambda k: {"t": np.array(["2026-01-01", "NaT"], "M8[s]"), "b": [k % 2 == 0, True]},
    "named": lambda k: {
        "t": tw.jagged([[k], [1, 2]]).named("event", "hit"),
        "n": tw.as_tensor([k, 1]).named("event"),
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_fields_of_every_kind_grow_and_are_compacted(kind, path):
    make = KINDS[kind]
    batches = [tw.records(make(k)) for k in range(1, 5)]
    with tw.open(path, "a") as f:
        for batch in batches:
            f.extend("ev", batch)
    want = joined(batches)
    for _ in range(2):
        with tw.open(path) as f:
            assert f.records("ev").to_dict() == want
            assert f.records("ev").rank == batches[0].rank
            assert {name: f[f"ev.{name}"].tolist() for name in want} == want
        assert verify(path).ok
        compact(path)


@pytest.mark.parametrize("piece_bytes", [1, 30, 64, 200])
def test_pieces_are_cut_at_the_same_rows(path, piece_bytes):
    with tw.open(path, "a", piece_bytes=piece_bytes) as f:
        f.extend("ev", records_of(ROWS))
        f.extend("ev", MORE)
    raw = path.read_bytes()
    pieces = [label for label, _ in file_records(raw) if label["record"]["kind"] == "records"]
    assert len(pieces) == {1: 5, 30: 5, 64: 3, 200: 2}[piece_bytes]
    assert read_records(raw) == {"ev": BOTH}
    with tw.open(path) as f:
        assert f.records("ev").to_dict() == BOTH
    with tw.open(path, "a", piece_bytes=piece_bytes) as f:
        f.extend("ev", MORE)
        assert f.records("ev").to_dict() == {name: BOTH[name] + MORE[name] for name in BOTH}
    assert verify(path).ok
    found = compact(path)
    assert found.kept == 1
    with tw.open(path) as f:
        assert f.records("ev").to_dict() == {name: BOTH[name] + MORE[name] for name in BOTH}


@pytest.mark.parametrize(
    "limits", [wire.DEFAULT_LIMITS, wire.Limits(parts=1000)], ids=["alike", "one by one"]
)
def test_many_small_extensions_are_read_at_once_as_one_by_one(path, limits):
    made = [
        tw.records(
            {
                "t": rows_of([[k] * (k % 3), [k]], "i4"),
                "n": np.array([k, -k]),
                "xyz": np.full((2, 3), k / 2),
                "d": tw.from_buffer(np.arange(k % 3 + 1) == 1, Shape.jagged([k % 3, 1])),
            }
        )
        for k in range(60)
    ]
    with tw.open(path, "a") as f:
        for k, batch in enumerate(made):
            f.extend("ev", batch)
            if k == 30:
                f.extend(
                    "ev",
                    tw.records({name: field[:0] for name, field in batch.items()}, shape=batch[:0].shape),
                )
    want = joined(made)
    with tw.open(path, limits=limits) as f:
        events = f.records("ev")
        assert events.to_dict() == want
        assert events[::7].to_dict() == {name: rows[::7] for name, rows in want.items()}
        assert events["t"].shape is events["d"].shape
        for name in want:
            assert f[f"ev.{name}"].tolist() == want[name]
    assert verify(path).ok


def test_a_small_extension_whose_field_is_damaged_is_refused(path):
    with tw.open(path, "a") as f:
        for k in range(40):
            f.extend("ev", {"t": tw.jagged([[k], [k, 77]]), "n": [k, k]})
    raw = bytearray(path.read_bytes())
    place = raw.index(np.array([20, 20, 77], "<i8").tobytes())
    splits = raw.index(np.array([0, 1, 3], "<i8").tobytes(), place)
    raw[splits + 8] = 9
    path.write_bytes(raw)
    with tw.open(path) as f, pytest.raises(DataFileError, match="is invalid"):
        f["ev.t"].compute()
    assert not verify(path).ok


def test_compact_keeps_records_names_and_compression(path):
    with tw.open(path, "a", metadata={"m": 1}) as f:
        f.extend("ev", {"x": np.zeros(1000), "y": np.zeros(1000)}, compress="zlib")
        f["z"] = [1]
        f.extend("ev", {"x": np.ones(1000), "y": np.zeros(1000)}, compress="zlib")
    assert compact(path).records == 3
    with tw.open(path) as f:
        assert (list(f), f.metadata) == (["ev.x", "ev.y", "z"], {"m": 1})
        assert f.describe("ev.x").packing == "zlib"
        assert f.records("ev")["x"][998:1002].tolist() == [0, 0, 1, 1]
        assert f.records("ev").shape == Shape(2000)


def test_convert_takes_the_name_of_records_for_all_fields(grown, tmp_path):
    assert convert(grown, tmp_path / "b.tens", only="ev").names == ("ev.t", "ev.q", "ev.run")
    with tw.open(tmp_path / "b.tens") as f, tw.open(grown) as g:
        assert f.records("ev").array_equal(g.records("ev"))
    assert convert(grown, tmp_path / "c.npz", only=["ev", "x"], skip="ev.[tq]").names == ("x", "ev.run")
    assert convert(grown, tmp_path / "d.tens", skip="ev").names == ("x", "y")


def test_convert_keeps_records_or_takes_some_fields(grown, tmp_path):
    assert convert(grown, tmp_path / "b.tens").names == ("x", "ev.t", "ev.q", "ev.run", "y")
    with tw.open(tmp_path / "b.tens") as f:
        assert list(f) == ["x", "ev.t", "ev.q", "ev.run", "y"]
        assert f.records("ev").to_dict() == BOTH
    told = []
    convert(grown, tmp_path / "c.tens", only="ev.t", progress=lambda done, total: told.append((done, total)))
    assert told == [(64, 64)]
    with tw.open(tmp_path / "c.tens") as f:
        assert {name: f[name].tolist() for name in f} == {"ev.t": BOTH["t"]}
        with pytest.raises(TensorNameError):
            f.records("ev")
    convert(grown, tmp_path / "d.npz", only=["ev.run", "x"])
    assert {name: t.tolist() for name, t in tw.open(tmp_path / "d.npz").items()} == {
        "ev.run": BOTH["run"],
        "x": [1, 2],
    }


def test_what_lists_records_as_a_tensor_hides_nothing(grown, monkeypatch):
    # A writer that knows no records adds to the file, and lists all it finds in one index.
    keep = _record.encode_index
    monkeypatch.setattr(
        "tensorwrapper.store.append._writer.encode_index",
        lambda *given, **named: keep(*given, **named | {"records": {}}),
    )
    with tw.open(grown, "a") as f:
        for k in range(9):
            f[f"more {k}"] = [k]
    monkeypatch.undo()
    with tw.open(grown) as f:
        assert "ev" in f
        with pytest.raises(TensorNameError, match=r"f\.records\('ev'\)"):
            f["ev"]
        assert "ev.t" in list(f)
    with tw.open(grown) as f:
        assert f["ev.t"].tolist() == BOTH["t"]
    with tw.open(grown, "a") as f:
        f.extend("ev", MORE)
    assert verify(grown).ok
    compact(grown)
    with tw.open(grown) as f:
        assert f.records("ev")["run"].tolist() == BOTH["run"] + MORE["run"]
        assert "ev" not in f


def test_an_index_that_says_other_fields_is_told(grown):
    with tw.open(grown, "a") as f:
        f._directory.records["ev"] = ("t", "q", "no")
        f["z"] = [1]
        for k in range(8):
            f[f"z{k}"] = [k]
    (problem, *_) = verify(grown).problems
    assert "t, q, no" in problem
    with tw.open(grown) as f:
        with pytest.raises(DataFileError, match="was expected"):
            f.records("ev")
        assert f["x"].tolist() == [1, 2]


def test_records_do_not_go_on_as_a_tensor_or_with_other_fields(grown):
    raw = grown.read_bytes()
    other = _record.encode_records({"t": tw.as_tensor([1])}, 1, "ev", extends=5)
    tensor = _record.encode_tensor([1], "ev", extends=5)
    from tensorwrapper.store.records._checksum import checksum_of
    from tensorwrapper.store.records._format import pack_header

    for body in (other, tensor):
        length = sum(map(len, body))
        grown.write_bytes(raw + b"".join([pack_header(length, 0, checksum_of(body, 0)), *body]))
        with tw.open(grown) as f:
            assert f.records("ev").to_dict() == BOTH
            assert "continues 'ev'" in str(f.losses)


def test_too_many_fields_for_an_index_are_refused_before_anything_is_written(path, monkeypatch):
    monkeypatch.setattr(_record, "_FEW_FIELDS", 2)
    monkeypatch.setattr(_record, "_MOST_FIELDS", 4)
    with tw.open(path, "a") as f:
        f.extend("a", {"x": [1], "y": [1], "z": [1]})
        f.extend("b", {"x": [1]})
        size = path.stat().st_size
        with pytest.raises(LocalProtocolError, match="at most 4 fields"):
            f.extend("c", {"x": [1]})
        assert path.stat().st_size == size
        f.extend("a", {"x": [1], "y": [1], "z": [1]})


HOSTILE = [
    {"kind": "records"},
    {"kind": "records", "name": "a/b"},
    {"kind": "records", "name": "ev", "extends": -1},
    {"kind": "index", "previous": None, "records": []},
    {"kind": "index", "previous": None, "records": {"ev": []}},
    {"kind": "index", "previous": None, "records": {"ev": ["t", "t"]}},
    {"kind": "index", "previous": None, "records": {"ev": [7]}},
    {"kind": "index", "previous": None, "records": {"..": ["t"]}},
]


@pytest.mark.parametrize("record", HOSTILE, ids=json.dumps)
def test_hostile_labels_of_records_are_refused(record):
    tens = {"tensors": [{}], "records": [{"fields": [["t", 0]], "rank": 1, "version": 1}]}
    with pytest.raises(DataFileError):
        _record.read_facts({"TENS": tens, "record": record})


@pytest.mark.parametrize(
    "records", [None, [], [{}], [{"fields": []}], [{"fields": [7]}], [{"fields": [["t", 0]]}] * 2]
)
def test_hostile_records_in_a_record_are_refused(records):
    with pytest.raises(DataFileError):
        _record.read_facts(
            {"TENS": {"tensors": [], "records": records}, "record": {"kind": "records", "name": "ev"}}
        )


@given(
    batches=st.lists(st.lists(st.lists(st.integers(-9, 9), max_size=3), max_size=4), min_size=1, max_size=4),
    piece_bytes=st.sampled_from([1, 40, 2**20]),
    flush=st.booleans(),
)
def test_batches_of_any_rows_come_back(tmp_path_factory, batches, piece_bytes, flush):
    path = tmp_path_factory.mktemp("run") / "run.tens"
    made = [
        tw.records(
            {
                "t": rows_of(rows, "i4"),
                "n": np.arange(len(rows)),
                "u": rows_of(rows, "f8"),
            }
        )
        for rows in batches
    ]
    with tw.open(path, "a", piece_bytes=piece_bytes) as f:
        for batch in made:
            f.extend("ev", batch)
            if flush:
                f.flush()
    with tw.open(path) as f:
        assert f.records("ev").to_dict() == joined(made)
    assert verify(path).ok


def test_records_without_a_name_are_refused_with_advice_that_works(path):
    records = tw.records({"t": tw.jagged([[1, 2], []]), "run": [3, 4]})
    with pytest.raises(ConversionError, match=r"\{'ev': r\}.*\{\*\*r\}"):
        tw.save(path, records)
    tw.save(path, {**records})
    with tw.open(path) as f:
        assert f.records().compute().array_equal(records)


@given(
    st.lists(st.sampled_from(["extend", "read", "field", "records", "other", "flush", "again"]), max_size=12),
    st.sampled_from([1, 400]),
)
def test_records_are_read_between_extensions_of_one_session(tmp_path_factory, steps, wide):
    path = tmp_path_factory.mktemp("session") / "a.tens"
    f = tw.open(path, "a")
    rows, model = 0, []
    for number, step in enumerate(["extend", *steps, "extend", "field", "records"]):
        if step == "extend":
            more = [[float(rows + own)] * wide for own in range(1 + number % 2)]
            f.extend("ev", {"t": more, "run": list(range(rows, rows + len(more)))})
            rows, model = rows + len(more), [*model, *more]
        elif step == "read":
            assert f["ev.run"].tolist() == list(range(rows))
        elif step == "field":
            assert f["ev.t"].tolist() == model
        elif step == "records":
            assert f.records("ev")["run"].tolist() == list(range(rows))
        elif step == "other":
            f[f"x{number}"] = np.arange(200)
        elif step == "flush":
            f.flush()
        else:
            f.close()
            f = tw.open(path, "a")
    f.close()
