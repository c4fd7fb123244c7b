"""Random chains of views of rows, against lists of lists: elements, shapes, plans, JSON and routes."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel

Lists = list[list[int]]
rows_of_numbers = st.lists(st.lists(st.integers(-99, 99), max_size=5), min_size=1, max_size=6)


def tensor(rows: Lists) -> Any:
    return tw.jagged(rows, dtype="i8")


def steps():
    ends = st.none() | st.integers(-7, 7)
    return st.builds(slice, ends, ends, st.none() | st.sampled_from([-3, -2, -1, 1, 2, 3]))


def step_of(draw, view: Any, rows: Lists, leaves: list[Any]) -> tuple[Any, Lists]:  # noqa: C901, PLR0912 - a table of steps
    """Return a view after one more step, and the lists that it should be."""
    kind = draw(
        st.sampled_from(
            [
                "rows",
                "inner",
                "gather",
                "concat",
                "turns",
                "beside",
                "where",
                "pad",
                "cast",
                "least",
                "mask",
                "rotate",
                "stack",
                "numbers",
                "itself",
            ]
        )
    )
    match kind:
        case "rows":
            key = draw(steps())
            return view[key], rows[key]
        case "inner":
            key = draw(steps())
            return view[:, key], [row[key] for row in rows]
        case "gather" if rows:
            numbers = draw(st.lists(st.integers(-len(rows), len(rows) - 1), max_size=6))
            return view[np.array(numbers, dtype=int)], [rows[n] for n in numbers]
        case "concat":
            other = draw(rows_of_numbers)
            leaves.append(tensor(other))
            before = draw(st.booleans())
            parts = [leaves[-1], view] if before else [view, leaves[-1]]
            return sel.concat(parts), other + rows if before else rows + other
        case "turns":
            return sel.interleave([view, view[::-1]]), [
                row for pair in zip(rows, rows[::-1], strict=True) for row in pair
            ]
        case "beside":
            return sel.concat([view, view[:, ::-1]], mode=1), [row + row[::-1] for row in rows]
        case "where":
            mask = view > 0 if rows and any(rows) else None
            if mask is None:
                return view, rows
            return sel.where(mask, view, -view), [[abs(n) for n in row] for row in rows]
        case "pad":
            length = draw(st.integers(0, 6))
            return view.pad_rows(length, fill_value=7), [row + [7] * (length - len(row)) for row in rows]
        case "cast":
            return view.astype("f8").astype("i8"), rows
        case "least":
            return sel.minimum(view, 3), [[min(n, 3) for n in row] for row in rows]
        case "mask" if rows:
            keep = draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
            return view[np.array(keep)], [row for row, kept in zip(rows, keep, strict=True) if kept]
        case "rotate" if rows:
            by = draw(st.integers(-3, 3))
            return view.rotate((by, 0)), rows[-by % len(rows) :] + rows[: -by % len(rows)]
        case "stack":
            both = sel.stack([view, view])
            return both[1], rows
        case "numbers" if not view.shape.is_box:
            first = draw(st.integers(0, 4))
            leaves.append(tw.as_tensor(np.arange(9 + len(rows)) * 10))
            window = sel.as_view(leaves[-1])[first : first + len(rows)]
            return window.broadcast(view.shape), [[10 * (first + n)] * len(row) for n, row in enumerate(rows)]
        case "itself":
            return sel.concat([view, view]), rows * 2
        case _:
            return view, rows


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_chains_are_what_lists_are(data):
    rows = data.draw(rows_of_numbers)
    leaves = [tensor(rows)]
    view = sel.as_view(leaves[0])
    for _ in range(data.draw(st.integers(1, 6))):
        view, rows = step_of(data.draw, view, rows, leaves)
    computed = view.compute()
    assert computed.tolist() == rows
    assert view.shape == computed.shape
    assert view.size == sum(map(len, rows))
    assert view.plan().nbytes == 8 * view.size
    assert pickle.loads(pickle.dumps(view)).compute().tolist() == rows
    assert view.optimize().compute().tolist() == rows


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_chains_come_back_from_json(data):
    rows = data.draw(rows_of_numbers)
    leaves = [tensor(rows)]
    view = sel.as_view(leaves[0])
    for _ in range(data.draw(st.integers(1, 4))):
        view, rows = step_of(data.draw, view, rows, leaves)
    try:
        text = sel.to_json(view)
    except tw.errors.ConversionError:
        return
    again = sel.from_json(text, sources=sel.sources(view))
    assert again.shape == view.shape
    assert again.compute().tolist() == rows


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_routes_lead_to_the_elements(data):
    rows = data.draw(rows_of_numbers)
    leaves = [tensor(rows)]
    view = sel.as_view(leaves[0])
    for _ in range(data.draw(st.integers(1, 3))):
        view, rows = step_of(data.draw, view, rows, leaves)
    for index in list(view.shape.indices())[:8]:
        route = view.route(index)
        expected = rows[index[0]][index[1]]
        if isinstance(route.source, tw.Tensor):
            assert route.source.buffer.read(route.source.layout.offsets_of([route.index])).item() == expected


@pytest.mark.parametrize("depth", [2, 3])
@given(st.data())
@settings(max_examples=40, deadline=None)
def test_deeper_rows(depth, data):
    nested: Any = rows_of_numbers
    for _ in range(depth - 1):
        nested = st.lists(nested, min_size=1, max_size=3)
    one, two = data.draw(nested), data.draw(nested)
    a, b = [tw.jagged(own, dtype="i8") for own in (one, two)]
    if a.shape.rank != b.shape.rank:
        return
    assert sel.concat([a, b]).compute().tolist() == one + two
    keep = data.draw(steps())
    assert sel.concat([a, b])[keep].compute().tolist() == (one + two)[keep]
    assert sel.concat([a, a], mode=1).compute().tolist() == [row + row for row in one]
    assert sel.stack([a, a])[:, keep].compute().tolist() == [one[keep], one[keep]]
    assert sel.interleave([a, a[::-1]])[::2].compute().tolist() == one
