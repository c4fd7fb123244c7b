"""A model of hierarchical layouts in a few lines of plain Python, and layouts to try laws on."""

import itertools
import math

import numpy as np

from tensorwrapper.layout import make_layout
from tests.support.long_runs import IS_LONG

ORDERS = ("lex", "colex")


def leaves(tree):
    return [tree] if isinstance(tree, int) else [leaf for part in tree for leaf in leaves(part)]


def offsets(extents, strides, offset, order):
    """The offset at every ordinal, by the definition: an odometer over the leaves."""
    numbers, steps = leaves(extents), leaves(strides)
    if order == "colex":
        numbers, steps = numbers[::-1], steps[::-1]
    return [
        offset + sum(i * d for i, d in zip(index, steps, strict=True))
        for index in itertools.product(*map(range, numbers))
    ]


def model(layout):
    """The offsets of a layout of strides, by its extents and strides alone."""
    return offsets(layout.nested_extents, layout.nested_strides, layout.offset, layout.ordinal_order)


def table(layout):
    """The offsets at all ordinals in bulk, as the library gives them."""
    return layout.offsets_of_ordinals()


def extended(layout, ordinals):
    """The offsets at any ordinals from 0 on: the slowest mode counts on beyond its extent."""
    modes = list(zip(leaves(layout.nested_extents), leaves(layout.nested_strides), strict=True))
    if layout.ordinal_order == "lex":
        modes.reverse()
    rest = np.asarray(ordinals)
    found = np.full(rest.shape, layout.offset)
    for k, (extent, stride) in enumerate(modes):
        place = rest % extent if k + 1 < len(modes) else rest
        rest = rest // extent
        found = found + place * stride
    return found


def small_layouts(*, least_extent=1, sample=2000):
    """All layouts of up to 3 modes, extents up to 4, strides -8 to 8, in both orders; by day a sample.

    Those with modes that go down come as they are, and with the offset that makes the least offset 0.
    """
    modes = list(itertools.product(range(least_extent, 5), range(-8, 9)))
    for rank, share in enumerate((0.0005, 0.04, 0.36, 0.6)):
        total = 4 * len(modes) ** rank
        # Evenly spread over all of them; the step has no divisor in common with their number.
        step, count = (1, total) if IS_LONG else (104_729, min(total, math.ceil(share * sample)))
        for number in range(count):
            yield from _small_layout(modes, rank, number * step % total)


def _small_layout(modes, rank, number):
    """Layout `number` of a rank; none if its offset would make it one that comes anyway."""
    number, lifted = divmod(number, 2)
    number, order = divmod(number, 2)
    picked = [modes[number // len(modes) ** k % len(modes)] for k in range(rank)]
    extents, strides = tuple(n for n, _ in picked), tuple(d for _, d in picked)
    low = sum(min(d, 0) * (n - 1) for n, d in picked) if all(extents) else 0
    if low or not lifted:
        yield make_layout(extents, strides, offset=-low * lifted, order=ORDERS[order])


def nested(draw, extents, strides):
    """The same leaves, with some neighbours made one mode."""
    if len(extents) == 1 and draw.random() < 0.5:
        return extents[0], strides[0]
    if len(extents) < 2 or draw.random() < 0.5:
        return extents, strides
    cut = draw.randrange(len(extents))
    end = draw.randrange(cut + 1, len(extents) + 1)
    return (
        (*extents[:cut], extents[cut:end], *extents[end:]),
        (*strides[:cut], strides[cut:end], *strides[end:]),
    )


def random_layout(draw, order, *, rank=3, most=4, steps=range(-8, 9), lift=None):
    """A random layout; ``lift`` True makes its least offset 0, None leaves that to chance."""
    count = draw.randrange(rank + 1)
    extents = tuple(draw.randint(1, most) for _ in range(count))
    strides = tuple(draw.choice(steps) for _ in range(count))
    low = sum(min(d, 0) * (n - 1) for n, d in zip(extents, strides, strict=True))
    lifted = draw.random() < 0.5 if lift is None else lift
    return make_layout(*nested(draw, extents, strides), offset=-low if lifted else 0, order=order)
