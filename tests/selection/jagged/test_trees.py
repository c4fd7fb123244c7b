"""Random trees over leaves of every kind: elements, routes, blocks, threads, JSON and requests."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, TensorWrapperError
from tests.support.long_runs import IS_LONG
from tests.support.selection.counting_source import CountingSource
from tests.support.selection.kinds import KINDS, OPERATIONS, again, bytes_read

NAMES = [name for name in OPERATIONS if name not in {"astype", "JSON", "one for each row"}]
PLAIN = [kind for kind in KINDS if kind not in {"sparse", "strings", "rows of strings", "nested"}]


BOXES = {"box", "tiled", "nested"}
NAMED = 16  # bytes that naming one element takes at most


def least_bytes(view, names):
    """Return how many bytes are needed: what the elements come from, if each comes from one, by its route."""
    if view.size > 150 or {name for name, _ in names} & {"minimum", "maximum"}:
        return bytes_read(view)
    routes = [view.route(view.shape.index(number)) for number in range(view.size)]
    found = {(id(own.source), own.index) for own in routes if isinstance(own.source, tw.Tensor)}
    return 8 * len(found)


def chain(view, other, names):
    """Return a view after operations with meaning, each with itself or with another leaf."""
    for name, alone in names:
        try:
            made = OPERATIONS[name](view, view if alone else other)
        except (TensorWrapperError, ValueError, IndexError):
            continue
        if 0 < made.size < 3000 and made.rank < 6:
            view = made
    return view


@given(
    st.sampled_from(PLAIN),
    st.lists(st.tuples(st.sampled_from(NAMES), st.booleans()), min_size=1, max_size=4),
    st.integers(8, 400),
)
@settings(max_examples=20_000 if IS_LONG else 60, deadline=None)
def test_trees_over_every_kind(kind, names, most):
    tensors = [KINDS[kind](1, first) for first in (0, 30)]
    sources = [CountingSource(own) for own in tensors]
    away = chain(*map(sel.as_view, sources), names)
    here = chain(*map(sel.as_view, tensors), names)
    assert away.shape == here.shape
    lists = here.compute().tolist()
    before = sum(source.nbytes for source in sources)
    assert away.compute().tolist() == lists
    assert sum(source.nbytes for source in sources) - before == bytes_read(away)
    least = least_bytes(here, names)
    # Of boxes a source is asked for all combinations where naming single elements would take more.
    assert bytes_read(here) == least
    assert least <= bytes_read(away) <= least + (NAMED * least // 8 if kind in BOXES else 0)
    assert away.compute(threads=2).tolist() == lists
    elements = here.elements().tolist()
    for number in range(0, here.size, max(here.size // 5, 1)):
        route = here.route(here.shape.index(number))
        if route.casts == () and isinstance(route.source, tw.Tensor):
            ordinal = route.source.shape.ordinal(route.index)
            assert route.source.elements()[ordinal] == elements[number]
    whole, blocks = here.compute(), list(away.blocks(most))
    for region, block in blocks:
        assert block.elements().tolist() == whole.window(region).elements().tolist()
    assert sum(block.size for _, block in blocks) == here.size
    try:
        read = again(here)
    except ConversionError:
        return
    assert read.shape == here.shape
    assert read.compute().tolist() == lists


@given(
    st.sampled_from(sorted(KINDS)),
    st.lists(st.tuples(st.sampled_from(NAMES), st.booleans()), min_size=1, max_size=4),
)
@settings(max_examples=20_000 if IS_LONG else 60, deadline=None)
def test_trees_of_every_kind_are_filled_sent_and_written(kind, names):
    tensors = [KINDS[kind](1, first) for first in (0, 30)]
    view = chain(*map(sel.as_view, tensors), names)
    found = view.compute()
    lists = found.tolist()
    assert found.shape == view.shape
    for number in range(0, view.size, max(view.size // 5, 1)):
        route = view.route(view.shape.index(number))
        if route.casts == () and isinstance(route.source, tw.Tensor):
            shape = route.source.shape
            element = route.source.elements().tolist()[shape.ordinal(route.index)]
            assert element == found.elements().tolist()[number]
    assert [
        own for _, block in view.blocks(400) for own in block.elements().tolist()
    ] == found.elements().tolist()
    try:
        read = again(view)
        assert (read.shape, read.compute().tolist()) == (view.shape, lists)
    except ConversionError:
        pass
    if kind in {"sparse", "strings", "rows of strings"} or view.dtype.kind not in "iuf":
        return
    target = tw.from_buffer(np.zeros(view.size, view.dtype), view.shape)
    assert view.compute(out=target).tolist() == lists
    assert target.tolist() == lists
    if view.is_readonly:
        return
    before = [own.elements().copy() for own in tensors]
    new = np.arange(1000, 1000 + view.size).astype(view.dtype)
    view.assign(tw.from_buffer(new, view.shape))
    assert view.compute().elements().tolist() == new.tolist()
    # Nothing else was written: as many elements differ as the view has, and those have the new values.
    after = [own.elements() for own in tensors]
    changed = np.concatenate([b[a != b] for a, b in zip(before, after, strict=True)])
    assert sorted(changed.tolist()) == new.tolist()
