"""What an expression means, node by node: all elements of what it is made of, then some of them."""

import numpy as np

from tensorwrapper.selection.expressions._elementwise import Casting, Choosing, Extreme
from tensorwrapper.selection.expressions._generators import Generator, RandomField
from tensorwrapper.selection.expressions._joining import Interleaving, Joining, Stacking
from tensorwrapper.selection.expressions._ordinals import Once, Sampling, Whole
from tensorwrapper.selection.expressions._padding import Padding
from tensorwrapper.selection.expressions._routing import Routing
from tensorwrapper.selection.expressions._source_node import Reading

__all__ = ["elements_of"]


def elements_of(view):
    """Return the elements of an expression, in normal form or not."""
    node = view.node
    if isinstance(node, Reading):
        return node.source.tensor.buffer.read(np.asarray(view.layout.to_numpy()))
    ranks = view.layout.to_numpy()
    return _elements(node).reshape(-1)[ranks.reshape(-1)].reshape(ranks.shape)


def _elements(node):
    parts = [elements_of(own) for own in node.operands]
    if isinstance(node, RandomField | Sampling):
        return _drawn(node, parts)
    if isinstance(node, Generator):
        places = np.indices(node.extents, sparse=True) if node.extents else ()
        return np.array(np.broadcast_to(node.values(places), node.extents))
    if isinstance(node, Routing | Joining | Interleaving | Stacking | Padding):
        return _joined(node, parts)
    match node:
        case Choosing():
            return np.where(*parts)
        case Extreme(kind):
            return np.asarray({"minimum": np.minimum, "maximum": np.maximum}[kind].reduce(parts))
        case Casting():
            return parts[0].astype(node.dtype)
        case Whole() | Once():
            return parts[0]
    raise TypeError(node)


def _drawn(node, parts):
    field, layout = (node.field, node.layout) if isinstance(node, Sampling) else (node, None)
    places = np.indices(field.extents, sparse=True) if field.extents else ()
    if layout is not None and field.extents:
        places = np.unravel_index(layout.to_numpy(), field.extents)
    return np.array(np.broadcast_to(field.values(places, parts), node.extents))


def _joined(node, parts):
    match node:
        case Routing(mode, extents, pieces):
            return _routed(mode, extents, pieces, parts, node.dtype)
        case Joining(mode):
            return np.concatenate(parts, mode)
        case Stacking(mode):
            return np.stack(parts, mode)
        case Interleaving(mode):
            out = np.empty(node.extents, node.dtype)
            for k, part in enumerate(parts):
                out[(slice(None),) * mode + (slice(k, None, len(parts)),)] = part
            return out
        case Padding(_, widths, fill):
            out = np.full(node.extents, elements_of(fill).item(), node.dtype)
            inside = [slice(a, a + n) for (a, _), n in zip(widths, parts[0].shape, strict=True)]
            out[tuple(inside)] = parts[0]
            return out
    raise TypeError(node)


def _routed(mode, extents, pieces, parts, dtype):
    out = np.empty(extents, dtype)
    met = np.zeros(extents[mode], dtype=int)
    for piece, part in zip(pieces, parts, strict=True):
        count = piece.count(mode)
        assert count, "an empty piece"
        own = slice(piece.start, piece.start + piece.step * (count - 1) + 1, piece.step)
        met[own] += 1
        out[(slice(None),) * mode + (own,)] = part
    assert (met == 1).all(), "pieces share out the mode exactly once"
    return out
