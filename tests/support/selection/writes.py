"""What writing through a tree of selections must do: a model that follows the address of every element."""

import numpy as np
import pytest

from tensorwrapper import selection as sel
from tensorwrapper.errors import ReadOnlyError, SizeOverflowError
from tensorwrapper.selection.expressions._elementwise import Casting, Choosing, Extreme
from tensorwrapper.selection.expressions._joining import Interleaving, Joining, Stacking
from tensorwrapper.selection.expressions._ordinals import Whole
from tensorwrapper.selection.expressions._padding import Padding
from tensorwrapper.selection.expressions._routing import Routing
from tensorwrapper.selection.expressions._source_node import Reading
from tests.support.selection.brute import elements_of

__all__ = ["accumulates", "assigns"]

_NONE = -1  # an element that no source has
_BASE = 1 << 32  # from here on each buffer has addresses of its own


def _places(view, owners):
    """Return for each element of an expression its buffer and address, as one number."""
    while view.written is not None and not view.calls:
        view = view.written
    node = view.node
    if isinstance(node, Reading):
        own = node.source.owner
        number = next((k for k, known in enumerate(owners) if known is own), len(owners))
        if number == len(owners):
            owners.append(own)
        return view.layout.to_numpy().astype("i8") + number * _BASE
    ranks = view.layout.to_numpy()
    return _of_node(node, owners).reshape(-1)[ranks.reshape(-1)].reshape(ranks.shape)


def _of_node(node, owners):  # noqa: C901 - one case per kind of node
    parts = [_places(own, owners) for own in node.operands]
    match node:
        case Joining(mode):
            return np.concatenate(parts, mode)
        case Stacking(mode):
            return np.stack(parts, mode)
        case Whole():
            return parts[0]
        case Interleaving(mode):
            out = np.empty(node.extents, "i8")
            for k, part in enumerate(parts):
                out[(slice(None),) * mode + (slice(k, None, len(parts)),)] = part
            return out
        case Padding(_, widths, _):
            out = np.full(node.extents, _NONE)
            inside = [slice(a, a + n) for (a, _), n in zip(widths, parts[0].shape, strict=True)]
            out[tuple(inside)] = parts[0]
            return out
        case Routing(mode, extents, pieces):
            out = np.full(extents, _NONE)
            for piece, part in zip(pieces, parts, strict=True):
                stop = piece.start + piece.step * piece.count(mode)
                out[(slice(None),) * mode + (slice(piece.start, stop, piece.step),)] = part
            return out
        case Choosing():
            return np.where(elements_of(node.operands[0]), parts[1], parts[2])
        case Extreme():
            same = np.logical_and.reduce([part == parts[0] for part in parts])
            return np.where(same, parts[0], _NONE)
        case Casting() if node.operand.dtype == node.dtype:
            return parts[0]
    return np.full(node.extents, _NONE)


def _has_choice(view):
    below = [view.written] if view.written is not None else []
    return isinstance(view.node, Choosing | Extreme) or any(map(_has_choice, [*view.node.operands, *below]))


def _read_all(owners):
    return [np.array(own.read(np.arange(own.size))) for own in owners]


def _restore(owners, before):
    for own, values in zip(owners, before, strict=True):
        if not own.is_readonly:
            own.write(np.arange(own.size), values)


def _values(rng, array):
    numbers = np.arange(array.size).reshape(array.shape)
    if array.dtype.kind == "T":
        words = [f"{rng.choice('abc')}{k}" for k in range(array.size)]
        return np.array(words, dtype=array.dtype).reshape(array.shape)
    return (numbers % 50 + rng.randint(0, 9)).astype(array.dtype)


def _check_buffers(owners, expected):
    for own, values in zip(owners, expected, strict=True):
        assert own.read(np.arange(own.size)).tolist() == values.tolist()


def assigns(tree, rng):
    """Check that a write changes just the elements of the view, or is refused and changes nothing."""
    view, owners = tree.view, []
    flat = _places(view._expression, owners).reshape(-1)
    values, before = _values(rng, tree.array), _read_all(owners)
    if not flat.size:
        assert not view.is_readonly
        view.assign(values)
        return
    met = [own for number, own in enumerate(owners) if (flat // _BASE == number).any()]
    read = [source for source in sel.sources(view).values() if any(source.owner is own for own in met)]
    stored = (flat != _NONE).all() and len(np.unique(flat)) == len(flat)
    writable = stored and all(not source.tensor.buffer.is_readonly for source in read)
    # What a mask or a minimum chooses is not writable, unless the normal form knows the choice.
    assert view.is_readonly is not writable or (_has_choice(view._expression) and view.is_readonly)
    if view.is_readonly:
        with pytest.raises(ReadOnlyError):
            view.assign(values)
        _check_buffers(owners, before)
        return
    view.assign(values)
    assert elements_of(view._expression).tolist() == values.tolist()
    expected = [own.copy() for own in before]
    for place, value in zip(flat.tolist(), values.reshape(-1), strict=True):
        expected[place // _BASE][place % _BASE] = value
    _check_buffers(owners, expected)
    _restore(owners, before)


def accumulates(tree, _rng):
    """Check that every index adds what it has to the element that it stands for."""
    view, owners = tree.view, []
    flat = _places(view._expression, owners).reshape(-1)
    if (
        view.dtype.kind not in "iuf"
        or not flat.size
        or (flat == _NONE).any()
        or _has_choice(view._expression)
    ):
        return
    if not all(not own.is_readonly for own in owners):
        return
    before = _read_all(owners)
    values = (np.arange(flat.size) % 7).astype(view.dtype).reshape(tree.array.shape)
    sums = [own.astype(object) if own.dtype.kind in "iu" else own.copy() for own in before]
    for place, value in zip(flat.tolist(), values.reshape(-1), strict=True):
        sums[place // _BASE][place % _BASE] += value.item() if value.dtype.kind in "iu" else value
    added = sel.as_view(values).translate_to(view.shape.origin)
    ends = [np.iinfo(own.dtype).max if own.dtype.kind in "iu" else np.inf for own in before]
    if any(own.size and own.max() > end for own, end in zip(sums, ends, strict=True)):
        with pytest.raises(SizeOverflowError):
            added.accumulate_into(view)
        expected = before
    else:
        added.accumulate_into(view)
        expected = [own.astype(old.dtype) for own, old in zip(sums, before, strict=True)]
    _check_buffers(owners, expected)
    _restore(owners, before)
