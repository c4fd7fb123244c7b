"""What a view costs: which elements it reaches, and in how many pieces."""

import numpy as np

__all__ = ["pieces_of", "places_of"]


def places_of(view):
    """Return for each buffer the places that an expression reaches, each once."""
    found = {}
    for leaf in _leaves(view):
        source = leaf.node.source
        found.setdefault(source, set()).update(np.unique(leaf.layout.to_numpy()).tolist())
    return found


def pieces_of(view):
    """Return how many parts of sources and generators an expression has."""
    operands = view.node.operands
    if view.node.name == "pad":
        # A constant before and after, in each mode that has them.
        return pieces_of(operands[0]) + sum((before > 0) + (after > 0) for before, after in view.node.widths)
    return sum(map(pieces_of, operands)) if operands else 1


def _leaves(view):
    if view.node.name == "source":
        yield view
    for operand in view.node.operands:
        yield from _leaves(operand)
