"""Limits that a holder sets, frames, and memory that was not given away."""

import json
import tracemalloc

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import SelectionError

MEMORY = tw.as_tensor(np.arange(24).reshape(4, 6))


def _reason(text, frames=(), limits=None, **sources):
    with pytest.raises(SelectionError) as caught:
        sel.from_json(text, sources=sources or {"0": MEMORY}, frames=frames, limits=limits)
    return caught.value.reason


LONG = sel.as_view(MEMORY).gather(0, [0, 1, 2] * 10)
NESTED = sel.stack([sel.concat([MEMORY, MEMORY])] * 3)


@pytest.mark.parametrize(
    ("view", "least"),
    [
        (LONG, {"positions": 30}),
        (LONG, {"text": len(sel.to_json(LONG))}),
        (LONG, {"depth": 4}),
        (LONG, {"items": sum(map(sel.to_json(LONG).count, "[{,"))}),
        (LONG, {"nodes": 2}),
        (LONG, {"nbytes": 30 * 48}),
        (NESTED, {"nodes": 10}),
        (NESTED, {"depth": 8}),
        (NESTED, {"nbytes": 3 * 2 * 192 * 3}),
        (sel.as_view(MEMORY).rotate((1, 2)), {"work": 2 + 4 + 6}),
        (sel.as_view(MEMORY).repeat((1, 5)), {"positions": 30}),
        (sel.as_view(MEMORY).pad([(0, 0), (9, 9)], boundary="edge"), {"positions": 24}),
    ],
)
def test_what_just_keeps_to_a_limit_is_read_and_one_less_is_not(view, least):
    text, sources = sel.to_json(view), sel.sources(view)
    assert sel.from_json(text, sources=sources, limits=sel.SchemaLimits(**least)).shape == view.shape
    ((name, value),) = least.items()
    assert _reason(text, limits=sel.SchemaLimits(**{name: value - 1}), **sources) == "limit"


def test_a_part_of_what_is_huge_is_read_and_all_of_it_is_not():
    noise = sel.random((10**6, 10**6), seed=1)
    part = noise[-2:, ::1000]
    assert np.array_equal(sel.from_json(sel.to_json(part), sources={}).compute(), part.compute())
    assert _reason(sel.to_json(noise)) == "limit"
    assert _reason(sel.to_json(sel.minimum(noise, noise))) == "limit"


def test_chains_that_are_read_are_computed_too():
    view = sel.as_view(MEMORY)
    for _ in range(60):
        view = view.permute((1, 0)).reshape((24,)).reshape((4, 6))
    read = sel.from_json(sel.to_json(view), sources=sel.sources(view))
    assert np.array_equal(read.compute(), view.compute())
    assert read.explain() == view.explain()
    assert read._repr_html_()


def _gather(table):
    return json.dumps(
        {
            "view": 1,
            "dtype": "<i8",
            "range": {"start": [0], "end": [2]},
            "of": {"source": "0"},
            "ops": [["chip", 0, 0], ["gather", 0, table]],
        }
    )


@pytest.mark.parametrize(
    ("table", "frames", "reason"),
    [
        ({"frame": 0}, [], "source"),
        ({"frame": 1}, [b"\0" * 16], "source"),
        ({"frame": -1}, [b"\0" * 16], "limit"),
        ({"frame": 0.0}, [b"\0" * 16], "schema"),
        ({"frame": True}, [b"\0" * 16] * 2, "schema"),
        ({"frame": "0"}, [b"\0" * 16], "schema"),
        ({"frame": 0, "more": 1}, [b"\0" * 16], "schema"),
        ({}, [b"\0" * 16], "schema"),
        ({"frame": 0}, [b"\0" * 15], "limit"),
        ({"frame": 0}, [b"\0" * 17], "limit"),
        ({"frame": 0}, [b"\0" * 24], "bounds"),
        ({"frame": 0}, [bytes(8 << 24) + bytes(8)], "limit"),
        ({"frame": 0}, [b"\xff" * 16], "bounds"),
        ({"frame": 0}, [b"\x7f" * 16], "limit"),
        ({"frame": 0}, [b"\6" + bytes(15)], "bounds"),
        (5, [], "schema"),
        ("0", [], "schema"),
        (None, [], "schema"),
    ],
)
def test_tables_in_frames_are_checked(table, frames, reason):
    assert _reason(_gather(table), frames) == reason


def test_a_frame_that_changes_after_the_check_changes_nothing():
    frame = bytearray(b"\1" + bytes(7) + b"\2" + bytes(7))
    read = sel.from_json(_gather({"frame": 0}), sources={"0": MEMORY}, frames=[memoryview(frame)])
    frame[6] = 0x7F
    assert read.compute().tolist() == [1, 2]


def test_one_frame_may_be_named_twice_and_counts_twice():
    text = _gather({"frame": 0}).replace("]]", '],["gather",0,{"frame":0}]]')
    frame = np.array([0, 1], "<i8").tobytes()
    assert sel.from_json(text, sources={"0": MEMORY}, frames=[frame]).compute().tolist() == [0, 1]
    assert _reason(text, [frame], sel.SchemaLimits(positions=3)) == "limit"


def _memory(offset, *strides, name="0"):
    modes = [{"extent": n, "stride": s} for n, s in strides]
    return json.dumps(
        {
            "view": 1,
            "dtype": "<i8",
            "range": {"start": [0] * len(modes), "end": [n for n, _ in strides]},
            "of": {"memory": name},
            "layout": {"offset": offset, "modes": modes},
        }
    )


@pytest.mark.parametrize(
    ("offset", "strides", "allowed"),
    [
        (7, [(2, 6), (2, 1)], True),
        (14, [(2, -6), (2, -1)], True),
        (7, [(3, 0), (2, 7)], True),
        (8, [], True),
        (7, [(3, 1)], False),
        (6, [(2, 1)], False),
        (9, [], False),
        (8, [(2, 5)], True),
        (8, [(2, 4)], False),
        (0, [(4, 6), (6, 1)], False),
        (23, [], False),
        (13, [(0, 100)], True),
    ],
)
def test_memory_beside_the_part_that_was_given_is_not_read(offset, strides, allowed):
    text, part = _memory(offset, *strides), MEMORY[1:3, 1:3]
    if allowed:
        places = part.layout.to_numpy().tolist()
        read = sel.from_json(text, sources={"0": part})
        assert set(np.asarray(read.compute()).reshape(-1).tolist()) <= {
            place for row in places for place in row
        }
    else:
        assert _reason(text, **{"0": part}) == "bounds"


@pytest.mark.parametrize(
    ("part", "selected"),
    [
        (lambda t: t[:, 7:900], lambda v: v[::-3, 5:10]),
        (lambda t: t[::2, ::4], lambda v: v.permute((1, 0))[1:, ::5]),
        (lambda t: t[5:, :10].permute((1, 0)), lambda v: v.rotate((1, 2)).gather(0, [3, 3, 0])),
    ],
)
def test_parts_of_large_tensors_are_found_inside_without_a_table(part, selected):
    large = part(tw.as_tensor(np.zeros((5000, 1000), "i1")))
    view = selected(sel.as_view(large))
    text = sel.to_json(view, form="normal")
    small = sel.SchemaLimits(positions=5000, work=1 << 16)
    read = sel.from_json(text, sources={"0": large}, limits=small)
    assert read.normal_form() == view.normal_form()


def test_one_position_beside_a_large_part_is_refused():
    large = tw.as_tensor(np.zeros((5000, 1000), "i1"))[:, 7:900]
    text = sel.to_json(sel.as_view(large)[:, :5], form="normal")
    for wrong in ('"offset":6', '"offset":896'):
        changed = text.replace('"offset":7', wrong)
        assert changed != text
        assert _reason(changed, **{"0": large}) == "bounds"


def test_two_parts_that_were_given_may_be_read_as_one():
    even, odd = MEMORY[0::2], MEMORY[1::2]
    text = _memory(0, (4, 6), (6, 1))
    assert np.array_equal(sel.from_json(text, sources={"0": even, "1": odd}).compute(), MEMORY)
    assert _reason(text, **{"0": even}) == "bounds"
    other = tw.as_tensor(np.arange(24).reshape(4, 6))[1::2]
    assert _reason(text, **{"0": even, "1": other}) == "bounds"


@pytest.mark.parametrize("turns", [3, 300])
def test_pieces_in_turns_are_checked_whatever_their_number(turns):
    view = sel.interleave([sel.full((5,), k, dtype="i8") for k in range(turns)])
    text = sel.to_json(view, form="normal")
    assert sel.from_json(text, sources={}).compute().tolist() == list(range(turns)) * 5
    wrong = text.replace(f"[1,{turns},", f"[2,{turns},")
    assert wrong != text
    assert _reason(wrong, **{"0": MEMORY}) == "cover"


def test_pieces_may_come_in_any_order_and_be_empty():
    view = sel.concat([sel.full((2,), 1), sel.full((0,), 2), sel.full((3,), 3)])
    value = json.loads(sel.to_json(view, form="normal"))
    pieces = value["of"]["pieces"]
    nothing = {"of": {"full": 2, "dtype": "<i8", "range": {"start": [0], "end": [0]}}}
    for changed in (pieces[::-1], [[2, 1, nothing], *pieces], [*pieces, [7, 5, nothing]]):
        value["of"]["pieces"] = changed
        read = sel.from_json(json.dumps(value), sources={})
        assert read.compute().tolist() == [1, 1, 3, 3, 3]
        assert read[::-1].compute().tolist() == [3, 3, 3, 1, 1]


def test_pieces_of_ten_million_positions_are_checked_without_a_table():
    view = sel.concat([sel.zeros((10**7,), dtype="i1"), sel.ones((10**7,), dtype="i1")])
    text = sel.to_json(sel.interleave([view, view[::-1]]), form="normal")
    tracemalloc.start()
    try:
        read = sel.from_json(text, sources={})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read.shape.size == 4 * 10**7
    assert peak < 1 << 20
