"""Nodes are numbered after what they are made of, each once, however deep they nest."""

import numpy as np

from tensorwrapper import selection as sel
from tensorwrapper.selection.routing._routes import Order


def test_a_node_has_a_greater_number_than_what_it_is_made_of():
    view = sel.as_view(np.arange(4))
    for _ in range(3000):
        view = sel.minimum(view, view[::-1])
    order = Order(lambda part: part.node)

    top = order.number(view.expression.node)

    below = [order.number(part.node) for part in view.expression.node.operands]
    assert max(below) < top
    assert top == 3000
    assert order.number(view.expression.node) == top
