"""`.tens` files by ranges: the same names and tensors as by path, and no bytes that are not needed."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError, OutOfBoundsError, TensorNameError
from tests.support.store.served_files import served

LENGTHS = np.random.default_rng(5).integers(0, 10, 20_000)
SPLITS = np.concatenate([[0], np.cumsum(LENGTHS)])
ROWS = tw.from_buffer(np.arange(float(SPLITS[-1])), tw.Shape.from_offsets(SPLITS))
BOX = np.arange(60_000.0).reshape(300, 200)


def kinds():
    """One tensor of each kind that a file keeps, of more elements than come with the structure."""
    many = np.arange(3000)
    tiling = tw.Tiling([20, 30], [25, 25])
    return {
        "box": BOX,
        "fortran": np.asfortranarray(BOX[:100]),
        "bytes": many.astype("u1").reshape(30, 100),
        "big_endian": many.astype(">i4"),
        "truths": many % 3 == 0,
        "times": many.astype("M8[s]"),
        "scalar": np.array(5),
        "empty": np.zeros((0, 4)),
        "named": tw.as_tensor(many.reshape(30, 100)).named("x", "y"),
        "placed": tw.from_buffer(many, tw.Shape(30, 100, origin=(5, -2))),
        "layers": tw.from_buffer(many, tw.Shape.nested(tw.Shape(30, 10, 10), layers=(1, 2))),
        "rows": ROWS,
        "few_rows": tw.jagged([[1, 2], [], [3]]),
        "rows_of_rows": tw.jagged([[[1, 2], [3]], [], [[4]]]),
        "cells": tw.from_buffer(np.arange(3600), tw.Shape.jagged([tw.Shape(k % 5, 2) for k in range(900)])),
        "tiled": tw.as_tensor(np.arange(2500.0).reshape(50, 50)).tiled(tiling),
        "triangular": tw.from_buffer(np.arange(1275.0), tw.Shape.triangular(50)),
        "sparse": tw.sparse([(0, 2), (1, 0)], [5.0, 6.0], (1000, 3)),
        "words": tw.strings(["a", "longer", None] * 500),
        "nulls": tw.nullable(many, many % 2 == 0),
        "rows_with_nulls": tw.nullable(tw.jagged([[1, 2], [3]]), tw.jagged([[True, False], [True]])),
        "blocks": tw.blocks({(0, 0): np.ones((20, 25))}, tiling),
        "symmetric": tw.from_packed(np.arange(1275.0), "s2", (50, 50)),
    }


def file_of(tmp_path, tensors=None, **options):
    path = tmp_path / "run.tens"
    tw.save(path, kinds() if tensors is None else tensors, metadata={"run": 7}, **options)
    return path


@pytest.mark.parametrize("options", [{}, {"compress": "zlib"}, {"piece_bytes": 20_000}])
def test_all_kinds_of_tensors_are_as_they_are_by_path(tmp_path, options):
    path = file_of(tmp_path, **options)
    with path.open("rb") as opened, served(path.read_bytes()) as server, tw.open(path) as expected:
        for source in (server.url, opened, path.read_bytes()):
            found = tw.open(source)
            assert list(found) == list(expected)
            assert found.metadata == expected.metadata == {"run": 7}
            assert found.losses == expected.losses
            for name, tensor in expected.items():
                own = found[name]
                assert (own.shape, own.dtype) == (tensor.shape, tensor.dtype), name
                assert own.tolist() == tensor.tolist(), name
                assert found.describe(name).packing == expected.describe(name).packing
                assert found.tensor_metadata(name) == expected.tensor_metadata(name)
            found.ranges.close()


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    path = file_of(tmp_path_factory.mktemp("many"), {"rows": ROWS, "box": BOX, "words": tw.strings(["a"])})
    with served(path.read_bytes()) as server:
        yield server, tw.open(server.url)


LISTS = st.lists(st.integers(-300, 299), min_size=1, max_size=5)
SLICES = st.builds(
    slice,
    st.one_of(st.none(), st.integers(-400, 400)),
    st.one_of(st.none(), st.integers(0, 400)),
    st.integers(1, 40),
)


@given(rows=st.one_of(LISTS, SLICES), columns=st.one_of(SLICES, st.just(slice(None)), st.integers(0, 199)))
def test_selections_of_a_box_fetch_what_their_plan_says(many, rows, columns):
    server, found = many
    view = found["box"][rows][:, columns]
    plan, before = view.plan(), (server.requests, server.nbytes)
    assert view.tolist() == BOX[rows][:, columns].tolist()
    assert (server.requests - before[0], server.nbytes - before[1]) == (plan.requests, plan.bytes_fetched)
    assert plan.bytes_fetched >= plan.bytes_read


@given(rows=st.one_of(LISTS, SLICES))
def test_selections_of_rows_fetch_what_their_plan_says(many, rows):
    server, found = many
    view = found["rows"][rows]
    plan, before = view.plan(), (server.requests, server.nbytes)
    assert view.tolist() == ROWS[rows].tolist()
    assert (server.requests - before[0], server.nbytes - before[1]) == (plan.requests, plan.bytes_fetched)


@given(rows=st.lists(st.integers(-20_000, 19_999), max_size=6))
def test_rows_that_are_taken_are_those_of_the_tensor(many, rows):
    _, found = many
    assert found.take("rows", rows).tolist() == [ROWS[row].tolist() for row in rows]
    assert found.take("box", np.array(rows, int) % 300).tolist() == BOX[np.array(rows, int) % 300].tolist()


def test_a_million_rows_are_opened_and_ten_of_them_read_by_few_requests(tmp_path):
    rng = np.random.default_rng(3)
    splits = np.concatenate([[0], np.cumsum(rng.integers(0, 10, 10**6))])
    rows = tw.from_buffer(np.arange(float(splits[-1])), tw.Shape.from_offsets(splits))
    raw = file_of(tmp_path, {"rows": rows}).read_bytes()
    far, near = sorted(rng.choice(10**6 - 1, 10, replace=False).tolist()), [*range(500_000, 500_010)]
    for wanted, most in [(far, (26, 98_304)), (near, (7, 32_768))]:
        with served(raw) as server:
            found = tw.open(server.url)
            assert found.take("rows", wanted).tolist() == [rows[row].tolist() for row in wanted]
            assert server.requests <= most[0]
            assert server.nbytes <= most[1]
            before = server.requests
            assert found.take("rows", [row + 1 for row in wanted]).tolist() == [
                rows[row + 1].tolist() for row in wanted
            ]
            assert server.requests - before <= (20 if wanted is far else 1)


def test_a_file_that_grew_and_records_are_read_as_they_are_by_path(tmp_path):
    path = tmp_path / "run.tens"
    with tw.open(path, "a") as file:
        for k in range(5):
            file.extend("hits", tw.jagged([[k, k + 1], [], [k]]))
            file.extend("box", np.full((2, 700), k))
            file.extend("ev", {"t": tw.jagged([[k], []]), "run": [k, k + 10]})
            file.flush()
    with served(path.read_bytes()) as server, tw.open(path) as expected:
        found = tw.open(server.url)
        assert list(found) == list(expected)
        for name, tensor in expected.items():
            assert found[name].tolist() == tensor.tolist()
            assert found.take(name, [3, 0, -1]).tolist() == [tensor[k].tolist() for k in (3, 0, -1)]
        assert found.records("ev").to_dict() == expected.records("ev").to_dict()


def test_a_file_without_an_index_is_read_all_the_same(tmp_path):
    path = tmp_path / "run.tens"
    file = tw.open(path, "a")
    file["x"], file["y"] = BOX, ROWS
    raw = path.read_bytes()
    file.close()
    found = tw.open(raw)
    assert found["x"][7].tolist() == BOX[7].tolist()
    assert found.take("y", [9]).tolist() == [ROWS[9].tolist()]


def test_rows_by_number_are_checked(many):
    _, found = many
    with pytest.raises(OutOfBoundsError, match="rows 20000 to 20000 were requested"):
        found.take("rows", [20_000])
    with pytest.raises(OutOfBoundsError, match="there are 300"):
        found.take("box", [-301])
    with pytest.raises(TensorNameError, match="has no tensor 'none'"):
        found.take("none", [0])


def test_taking_by_path_is_the_same(tmp_path):
    path = file_of(tmp_path)
    with tw.open(path) as file:
        assert file.take("rows", [5, -1, 5]).tolist() == [ROWS[k].tolist() for k in (5, -1, 5)]
        assert file.take("few_rows", [2, 0]).tolist() == [[3], [1, 2]]
        assert file.take("box", [1]).tolist() == BOX[[1]].tolist()
        assert file.take("words", [1]).tolist() == ["longer"]


def values_of(source):
    """Return what a file has by name, or that it was refused."""
    try:
        file = tw.open(source, kind="tens")
    except DataFileError:
        return "refused"
    found = {}
    with file:
        for name in file:
            try:
                found[name] = file[name].tolist()
            except DataFileError:
                found[name] = "refused"
            with contextlib.suppress(DataFileError, OutOfBoundsError):
                assert len(file.take(name, [0])) == 1
    return found


@pytest.mark.filterwarnings("ignore::tensorwrapper.errors.DamagedFileWarning")
def test_damaged_files_are_read_and_refused_as_they_are_by_path(tmp_path):
    rows = tw.from_buffer(np.arange(3000.0), tw.Shape.jagged([1500] * 2))
    path = file_of(tmp_path, {"x": BOX[:10], "rows": rows, "words": tw.strings(["a", "b"])})
    raw = path.read_bytes()
    starts = [place for place in range(0, len(raw), 64) if raw[place : place + 5] == b"\x89TENS"]
    rng = np.random.default_rng(1)
    n_refused = 0
    for _ in range(300):
        spoilt = bytearray(raw)
        if rng.random() < 0.2:
            spoilt = spoilt[: rng.integers(len(raw))]
        else:
            spoilt[int(rng.choice(starts)) + int(rng.integers(500))] ^= 1 << int(rng.integers(8))
        path.write_bytes(spoilt)
        found = values_of(bytes(spoilt))
        assert found == values_of(path)
        n_refused += "refused" in str(found)
    assert n_refused > 50


def test_what_is_said_of_pieces_and_fields_is_as_by_path(tmp_path):
    path = tmp_path / "run.tens"
    with tw.open(path, "w", piece_bytes=20_000) as file:
        file["x"] = BOX
        file.append("ev", tw.records({"t": tw.jagged([[1], [2, 3]]), "run": [1, 2]}))
    found = tw.open(path.read_bytes())
    with tw.open(path) as expected:
        for name in expected:
            assert found.describe(name) == expected.describe(name)


def test_a_label_that_says_no_field_is_refused(tmp_path):
    path = tmp_path / "run.tens"
    with tw.open(path, "a") as file:
        file.append("ev", tw.records({"t": tw.jagged([[1], [2, 3]]), "run": [1, 2]}))
    raw = path.read_bytes().replace(b'"records":[', b'"recordz":[')
    path.write_bytes(raw)
    for source in (raw, path):
        file = tw.open(source)
        with pytest.raises(DataFileError):
            file.take("ev.t", [0])
        file.close()
