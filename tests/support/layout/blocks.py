"""The elements of the layers of a shape, and where a layout puts them, index by index."""

from hypothesis import strategies as st


def depths(shape):
    """How many modes lead to the elements of each layer."""
    return [sum(shape.layers[: k + 1]) for k in range(len(shape.layers))]


def blocks(layout, depth):
    """The offsets of what lies under each prefix of `depth` indices, in row-major order; some are empty."""
    found = {prefix: [] for prefix in layout.shape.leading(depth).indices()}
    for index in layout.shape.indices():
        found[index[:depth]].append(layout.offset_of(index))
    return found


def runs(offsets):
    """How many runs of consecutive places a set of offsets is."""
    places = set(offsets)
    return sum(place - 1 not in places for place in places)


@st.composite
def orders_of(draw, shape):
    """One order for each layer: a word, or a permutation of its modes, the fastest first."""
    one = [st.sampled_from(["C", "F"]) | st.permutations(range(count)) for count in shape.layers]
    return [draw(order) for order in one]


def slowest_first(order, count):
    """The modes of a layer from the slowest to the fastest."""
    if isinstance(order, str):
        return list(range(count))[:: 1 if order == "C" else -1]
    return list(order)[::-1]
