"""Blocks that are boxes, and messages of them as a receiver has them."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.wire import Block, decode, encode


def received(*blocks, **options):
    return decode([bytes(frame) for frame in encode([*blocks], **options)])


def block(array, origin, name, total):
    return Block(
        tw.from_buffer(np.asarray(array).reshape(-1), Shape(*np.shape(array), origin=origin)), name, total
    )
