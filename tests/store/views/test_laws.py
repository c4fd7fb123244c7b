"""Laws of stored views: the elements that were saved, or an error; the same bytes again; and damage."""

import contextlib
import random
import shutil
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import TensorWrapperError
from tests.support.long_runs import IS_LONG

ROUNDS = 300 if IS_LONG else 75  # for each seed
BOX = np.arange(20.0).reshape(5, 4)
ROWS = [[1.0, 2.0], [], [3.0], [4.0, 5.0, 6.0], [7.0]]

# Each makes a view of rank 2 of others of that rank.
BOXES = {
    "reversed": lambda v: v[::-1],
    "columns": lambda v: v[:, ::-1],
    "some": lambda v: v[::2],
    "turned": lambda v: v.permute((1, 0)),
    "rotated": lambda v: v.rotate((1, 2)),
    "twice": lambda v: tw.concat([v, v]),
    "under": lambda v: tw.stack([v, v])[1],
    "padded": lambda v: sel.pad(v, [(0, 1), (1, 0)], fill_value=-1),
    "cast": lambda v: v.astype("f4").astype("f8"),
    "gathered": lambda v: v.gather(0, np.arange(70) % max(len(v), 1)) if len(v) else v,
    "least": lambda v: sel.minimum(v, 3.0),
}
RAGGED = {
    "reversed": lambda v: v[::-1],
    "first": lambda v: v[:, :1],
    "backwards": lambda v: v[:, ::-1],
    "some": lambda v: v[1::2],
    "twice": lambda v: tw.concat([v, v]),
    "many": lambda v: tw.concat([v] * 20)[: len(v) + 1],
    "cast": lambda v: v.astype("f4").astype("f8"),
}


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def sources(where):
    """Write three files, and return a box or rows of each, and of memory, by a number."""
    (where / "in").mkdir()
    tw.save(where / "a.tens", {"x": BOX, "r": tw.jagged(ROWS), "z": np.zeros((5, 4))})
    tw.save(where / "in" / "b.tens", {"x": BOX + 100, "r": tw.jagged(ROWS[::-1])}, compress="zlib")
    np.save(where / "c.npy", BOX + 200)
    with tw.open(where / "a.tens") as a, tw.open(where / "in" / "b.tens") as b:
        boxes = [a["x"], b["x"], tw.open(where / "c.npy")["array"], tw.as_tensor(BOX + 300), a["x"][1:, ::2]]
        return boxes, [a["r"], b["r"], tw.jagged(ROWS[1:])]


plans = st.lists(st.sampled_from(sorted(BOXES)), max_size=4)
row_plans = st.lists(st.sampled_from(sorted(RAGGED)), max_size=4)


def made(given, plan, steps):
    view = sel.as_view(given)
    for step in plan:
        view = steps[step](view)
    return view


def check(where, view):
    """Save a view, and compare what is read of it, there and elsewhere; return its file."""
    path = where / "v.tens"
    expected = view.compute()
    tw.save(path, {"v": view}, keep_views=True)
    with tw.open(path) as f:
        found = f["v"]
        assert found.shape == expected.shape
        assert found.tolist() == expected.tolist()
        assert found[: len(found) // 2 + 1].tolist() == expected[: len(expected) // 2 + 1].tolist()
        tw.save(where / "w.tens", {"v": found}, keep_views=True)
        assert tw.store.verify(path, deep=True).ok
    assert (where / "w.tens").read_bytes() == path.read_bytes()
    moved = where.parent / f"{where.name}-moved"
    shutil.copytree(where, moved)
    try:
        with tw.open(moved / "v.tens") as f:
            assert f["v"].tolist() == expected.tolist()
    finally:
        shutil.rmtree(moved)
    return expected


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, 4), plans), min_size=1, max_size=3), plans)
def test_a_stored_view_of_boxes_has_the_elements_that_it_had(parts, plan):
    with folder() as where:
        boxes, _ = sources(where)
        views = [made(boxes[number], own, BOXES) for number, own in parts]
        joined = views[0]
        for own in views[1:]:
            if own.shape.extents[1] == joined.shape.extents[1]:
                joined = tw.concat([joined, own])
        check(where, made(joined, plan, BOXES))


@settings(max_examples=2000 if IS_LONG else 30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, 2), row_plans), min_size=1, max_size=3), row_plans)
def test_a_stored_view_of_rows_has_the_elements_that_it_had(parts, plan):
    with folder() as where:
        _, rows = sources(where)
        views = [made(rows[number], own, RAGGED) for number, own in parts]
        check(where, made(tw.concat(views) if len(views) > 1 else views[0], plan, RAGGED))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=25), st.integers(0, 2), st.booleans())
def test_a_source_that_changes_is_an_error_and_never_other_numbers(order, changed, is_many):
    with folder() as where:
        for k in range(3):
            tw.save(where / f"{k}.tens", {"x": BOX + k})
        parts = []
        for k in order * (20 if is_many else 1):
            with tw.open(where / f"{k}.tens") as f:
                parts.append(f["x"])
        view = tw.concat(parts) if len(parts) > 1 else sel.as_view(parts[0])
        expected = np.asarray(view)
        tw.save(where / "v.tens", {"v": view}, keep_views=True)
        tw.save(where / f"{changed}.tens", {"x": BOX - 1})
        with tw.open(where / "v.tens") as f:
            found = f["v"]
            for row in range(0, len(expected), 7):
                try:
                    assert found[row].tolist() == expected[row].tolist()
                    assert order[row // 5 % len(order)] != changed
                except tw.errors.VersionChangedError:
                    assert order[row // 5 % len(order)] == changed


def spoilt(raw, rng):
    found = bytearray(raw)
    for _ in range(rng.choice((1, 1, 2))):
        place = rng.randrange(len(found))
        match rng.randrange(4):
            case 0:
                found[place] ^= 1 << rng.randrange(8)
            case 1:
                found[place] = rng.randrange(256)
            case 2:
                word = place // 8 * 8
                found[word : word + 8] = rng.choice((0, -1, 1, 2**40, 2**62, -(2**63))).to_bytes(
                    8, "little", signed=True
                )
            case _:
                del found[max(place, 1) :]
    return bytes(found)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::tensorwrapper.errors.DamagedFileWarning")
@pytest.mark.parametrize("seed", range(4))
def test_spoilt_files_of_views_are_read_or_refused(tmp_path, seed):
    boxes, rows = sources(tmp_path)
    views = {
        "v": tw.concat([boxes[0], boxes[1]])[::-1].gather(0, np.arange(80) % 10),
        "h": tw.stack([boxes[3], boxes[2]]),
        "m": tw.concat([boxes[0]] * 20)[::3],
        "r": tw.concat([rows[0]] * 18)[::-1, :2],
    }
    path, rng = tmp_path / "v.tens", random.Random(seed)
    tw.save(path, views, keep_views=True)
    raw, right, wrong = path.read_bytes(), 0, 0
    expected = {name: view.tolist() for name, view in views.items()}
    with tw.open(path) as f:
        starts = [f.describe(name).start for name in f]
        ends = [start + f.describe(name).nbytes for name, start in zip(f, starts, strict=True)]
    for _ in range(ROUNDS):
        path.write_bytes(spoilt(raw, rng))
        with contextlib.suppress(TensorWrapperError), tw.open(path) as f:
            for name in f:
                try:
                    found = f[name].tolist()
                    f.sources(name)
                    f.check_sources(name)
                    right += found == expected.get(name)
                except TensorWrapperError:
                    wrong += 1
    assert right > ROUNDS // 3
    assert wrong > ROUNDS // 15
    assert len(starts) == len(ends) == 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_spoilt_texts_are_read_or_refused(tmp_path, seed):
    boxes, rows = sources(tmp_path)
    view = tw.concat([*[boxes[0]] * 20, boxes[1][1:], boxes[3]])[::-1]
    path, rng = tmp_path / "v.tens", random.Random(seed)
    tw.save(path, {"v": view, "r": tw.concat([rows[0], rows[1]])[1:]}, keep_views=True)
    raw = path.read_bytes()
    digits = [k for k, byte in enumerate(raw) if 48 <= byte < 58 or byte in b'[]{},:"']
    for _ in range(ROUNDS):
        found = bytearray(raw)
        for place in rng.choices(digits, k=rng.choice((1, 2))):
            found[place] = rng.choice(b'0123456789-[]{},:"e.')
        path.write_bytes(bytes(found))
        with contextlib.suppress(TensorWrapperError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with tw.open(path, check_versions=False) as f:
                for name in f:
                    with contextlib.suppress(TensorWrapperError):
                        f[name].tolist()
                    with contextlib.suppress(TensorWrapperError):
                        f.check_sources(name)
