"""Views that are used many times, or nest deeply: work is linear in what they are made of."""

import copy
import pickle
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from dask.base import tokenize

from tensorwrapper import selection as sel
from tensorwrapper.selection.expressions._traversal import operands_first

COUNT = 10


@contextmanager
def calls_counted():
    """Count calls inside the package: work that no clock and no other process disturbs."""
    counts = [0]

    def count(frame, event, _):
        if event == "call" and "tensorwrapper" in frame.f_code.co_filename:
            counts[0] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield counts
    finally:
        sys.setprofile(before)


def _greatest(steps):
    view, array = sel.as_view(np.arange(COUNT)), np.arange(COUNT)
    for k in range(steps):
        turn = 1 << k % 3
        view = sel.maximum(view, view.rotate((turn,)) if k % 2 else view[::-1])
        array = np.maximum(array, np.roll(array, turn) if k % 2 else array[::-1])
    return view, array


def _chosen(steps):
    mask = np.arange(COUNT) % 3 == 0
    view, array = sel.as_view(np.arange(COUNT)), np.arange(COUNT)
    for k in range(steps):
        turn = k % 4 + 1
        view = sel.where(mask, view.rotate((turn,)), view)
        array = np.where(mask, np.roll(array, turn), array)
    return view, array


def _dealt(steps):
    """Nothing is computed here: what is shared is only shared out."""
    view, array = sel.as_view(np.arange(COUNT)), np.arange(COUNT)
    for _ in range(steps):
        view = sel.concat([view[1::2], view.rotate((3,))])[:COUNT]
        array = np.concatenate([array[1::2], np.roll(array, 3)])[:COUNT]
    return view, array


def _padded(steps):
    view, array = sel.as_view(np.arange(3)), np.arange(3)
    for k in range(steps):
        view = sel.pad(view, [(0, 1)], fill_value=k)[1:]
        array = np.append(array, k)[1:]
    return view, array


def _mixed(steps):
    """Both operands select alike: there is nothing to push twice, and yet all would be computed twice."""
    mask = np.arange(COUNT) % 2 == 0
    view, array = sel.as_view(np.arange(COUNT)), np.arange(COUNT)
    for k in range(steps):
        view = sel.minimum(sel.where(mask, view, k), view)
        array = np.minimum(np.where(mask, array, k), array)
    return view, array


def _masked(steps):
    """Each mask is a choice between masks before it, and chooses between elements before it."""
    picks = np.arange(COUNT) % 3 == 0
    mask, is_odd = sel.as_view(picks), picks
    view, array = sel.as_view(np.arange(COUNT)), np.arange(COUNT)
    for k in range(steps):
        turn = k % 4 + 1
        mask = sel.where(mask, mask.rotate((turn,)), mask[::-1])
        is_odd = np.where(is_odd, np.roll(is_odd, turn), is_odd[::-1])
        view = sel.where(mask, view.rotate((turn,)), view)
        array = np.where(is_odd, np.roll(array, turn), array)
    return view, array


def _nested(steps):
    """Each view is the mask of the next one, and what that chooses between."""
    view, array = sel.as_view(np.arange(COUNT) % 2 == 0), np.arange(COUNT) % 2 == 0
    for k in range(steps):
        turn = k % 4 + 1
        view = sel.where(view, view.rotate((turn,)), view[::-1])
        array = np.where(array, np.roll(array, turn), array[::-1])
    return view, array


def _cast(steps):
    view, array = sel.as_view(np.arange(COUNT)), np.arange(COUNT)
    mask = array % 2 == 0
    for k in range(steps):
        view = sel.where(mask, view.astype("f8" if k % 2 else "i4").astype("i8"), view[::-1])
        array = np.where(mask, array, array[::-1])
    return view, array


def _all_of(view):
    return np.arange(view.shape.size)[:, None] + np.array(view.shape.origin)


GRAPHS = [_greatest, _chosen, _dealt, _padded, _mixed, _masked, _nested, _cast]
WORK = {
    "normal": lambda view: view.normal_form(),
    "plan": lambda view: view.plan().reads,
    "compute": lambda view: view.compute(),
    "explain": lambda view: view.explain(),
    "html": lambda view: view._repr_html_(),
    "repr": lambda view: (repr(view), repr(view.expression)),
    "hash": lambda view: hash(view.expression),
    "token": tokenize,
    "pickle": lambda view: pickle.loads(pickle.dumps(view)),
    "expression": lambda view: copy.deepcopy(view.expression),
    "deepcopy": copy.deepcopy,
    "sources": sel.sources,
    "route": lambda view: view.route((view.shape.origin[0] + 1,)),
    "routes": lambda view: view.route_many(_all_of(view)),
    "elements": lambda view: [group.read() for group in view.route_many(_all_of(view))],
    "svg": lambda view: view.to_svg(),
    "json": lambda view: sel.from_json(sel.to_json(view), sources=sel.sources(view)),
    "normal json": lambda view: sel.from_json(sel.to_json(view, form="normal"), sources=sel.sources(view)),
}


@pytest.mark.parametrize("build", GRAPHS)
@pytest.mark.parametrize("steps", [1, 2, 5, 18, 60])
def test_w2_elements_are_those_of_numpy(build, steps):
    view, array = build(steps)
    assert view.compute().tolist() == array.tolist()
    assert view[2:].compute().tolist() == array[2:].tolist()
    assert view[::-1].compute().tolist() == array[::-1].tolist()
    assert view.gather(0, [1, 0, 1]).compute().tolist() == array[[1, 0, 1]].tolist()


@pytest.mark.parametrize("build", GRAPHS)
@pytest.mark.parametrize("work", WORK)
def test_w2_work_is_linear_in_the_nodes(build, work):
    """Four times the nodes are less than five times the calls."""
    found = []
    for steps in (30, 120):
        view, _ = build(steps)
        with calls_counted() as calls:
            WORK[work](view)
        found.append(calls[0])
    assert found[1] <= 5 * found[0] + 100, found


@pytest.mark.parametrize("build", GRAPHS)
def test_w2_the_normal_form_has_no_more_nodes_than_it_was_made_of(build):
    for steps in (18, 100):
        view, _ = build(steps)
        written = len(operands_first([view.expression]))
        assert len(operands_first([view.normal_form()])) <= 5 * written


@pytest.mark.parametrize("build", [_greatest, _padded])
def test_section_4_views_that_nest_deeply_go_through_pickle_json_and_copies(build):
    view, array = build(600)
    again = pickle.loads(pickle.dumps(view))
    assert again.compute().tolist() == array.tolist()
    assert copy.deepcopy(view).compute().tolist() == array.tolist()
    for form in ("steps", "normal"):
        read = sel.from_json(sel.to_json(view, form=form), sources=sel.sources(view))
        assert read.compute().tolist() == array.tolist()
    assert view.expression == copy.copy(view).expression
    assert view.expression != again.expression  # Its source is another one.
    assert len(view.explain()) < 200_000


@pytest.mark.parametrize("build", GRAPHS)
@pytest.mark.parametrize("steps", [1, 2, 5, 18, 60])
def test_w2_routes_lead_to_the_elements_of_shared_views(build, steps):
    view, array = build(steps)
    found = np.zeros_like(array)
    for group in view.route_many(_all_of(view)):
        found[group.rows] = group.read()
    assert found.tolist() == array.tolist()
    (origin,) = view.shape.origin
    for k in (0, len(array) - 1):
        (group,) = view.route_many([[k + origin]])
        assert group.read().tolist() == [array[k]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "steps"), [(build, 1000) for build in GRAPHS if build is not _greatest] + [(_greatest, 3000)]
)
def test_w2_routes_and_plans_of_thousands_of_shared_views_end(build, steps):
    view, array = build(steps)
    if build is _greatest:
        assert view.compute().tolist() == array.tolist()
    (group,) = view.route_many([[view.shape.origin[0] + 1]])
    assert group.read().tolist() == [array[1]]
    if build is _nested:
        assert sum([own.nbytes for own in view.plan().reads]) <= COUNT


def test_w2_a_route_through_many_operands_looks_at_one():
    view = sel.concat([[k] for k in range(20_000)])
    with calls_counted() as calls:
        assert view.route((12_345,)).index == (0,)
    assert calls[0] < 200


def _shared_out(node, monkeypatch):
    """Return how many positions a node shares out, and how often its operands are listed for it."""
    listed, operands = [], type(node).operands
    if isinstance(operands, property):
        monkeypatch.setattr(
            type(node), "operands", property(lambda own: listed.append(1) or operands.fget(own))
        )
    positions = np.stack(np.unravel_index(np.arange(node.size), node.extents), axis=-1)
    shared = list(node.shares(positions, []))
    monkeypatch.undo()
    return sum([node.size if isinstance(which, slice) else len(which) for _, which, _ in shared]), len(listed)


@pytest.mark.parametrize(
    "join",
    [
        sel.concat,
        sel.stack,
        sel.interleave,
        lambda parts: sel.interleave(parts)[1:],
        lambda parts: sel.concat(parts).gather(0, np.arange(len(parts))[::-1] ** 2 % len(parts)),
    ],
)
def test_w2_each_position_is_shared_out_once_and_operands_are_not_listed_for_each(join, monkeypatch):
    view = join([sel.as_view(np.arange(4) + k) for k in range(200)])
    made = operands_first([view.expression, view.normal_form()])
    nodes = {id(own.node): own.node for own in made if own.node.operands}
    assert nodes
    for node in nodes.values():
        counted, listed = _shared_out(node, monkeypatch)
        assert counted == node.size
        assert listed <= 3


def test_w2_what_is_read_where_a_mask_chooses_among_many_parts_takes_linear_work():
    found = []
    for count in (100, 400):
        parts = [sel.as_view(np.arange(4)) for _ in range(count)]
        view = sel.where(np.arange(4 * count) % 3 == 0, sel.concat(parts), 0)
        with calls_counted() as calls:
            assert view.plan().bytes_read == 8 * -(-4 * count // 3)
            view.explain()
        found.append(calls[0])
    assert found[1] <= 5 * found[0]


def test_w2_what_is_shared_stays_shared_where_it_arrives():
    view, _ = _chosen(60)
    count = len(operands_first([view.expression]))
    assert len(operands_first([pickle.loads(pickle.dumps(view)).expression])) == count
    text = sel.to_json(view)
    read = sel.from_json(text, sources=sel.sources(view))
    nodes = {id(own.node) for own in operands_first([read.expression]) if own.node.operands}
    assert len(nodes) <= 62
    assert sel.to_json(read) == text


def test_section_4_equal_graphs_are_equal_and_others_are_not():
    source = sel.as_view(np.arange(4))

    def build(last):
        view = source
        for k in range(500):
            view = sel.maximum(view, view.rotate((k % 3 + 1,)))
        return sel.maximum(view[::-1], last)

    assert build(3).expression == build(3).expression
    assert hash(build(3).expression) == hash(build(3).expression)
    assert build(3).expression != build(2).expression
    assert build(3).normal_form() == build(3).normal_form()


def test_w7_appending_copies_no_more_than_a_few_operands_each_time():
    found = []
    for count in (1200, 3600):
        with calls_counted() as calls:
            view = sel.as_view([0])
            for k in range(1, count):
                view = sel.concat([view, [k]])
            assert view.compute().tolist() == list(range(count))
        found.append(calls[0])
        assert len(operands_first([view.expression])) < 2 * count
    assert found[1] <= 5 * found[0]  # of what grew with the square it would be 9


def test_w7_views_that_double_themselves_have_few_parts():
    view, array = sel.as_view([1, 2]), np.array([1, 2])
    for _ in range(12):
        view, array = sel.concat([view, view]), np.concatenate([array, array])
    assert len(operands_first([view.expression])) < 40
    assert view.compute().tolist() == array.tolist()
    empty = sel.as_view(np.zeros(0, dtype="i8"))
    for _ in range(200):
        empty = sel.concat([empty, empty])
    assert empty.compute().tolist() == []
