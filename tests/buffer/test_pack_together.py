"""Elements of several buffers for one layout: what each gives by itself, and no more copies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.buffer import Dense, Nullable, count_copies
from tensorwrapper.buffer.lowlevel import pack_together


def buffers(size):
    rng = np.random.default_rng(0)
    numbers = [rng.integers(0, 100, size).astype(kind) for kind in ("f8", "i2", "?", "c16")]
    dense = [Dense(own) for own in numbers]
    strings = tw.strings([f"text {k}" for k in range(size)]).buffer
    sparse = tw.sparse([(0,)], [1.5], (max(size, 1),)).buffer
    return [*dense, Nullable(dense[0], dense[2]), strings, sparse]


@pytest.mark.parametrize("few", [0, 1, 7])
@given(
    st.lists(st.integers(0, 5) | st.sampled_from([600, 1000]), min_size=1, max_size=6),
    st.sampled_from(["packed", "reversed", "gathered", "turned", "chosen"]),
)
def test_each_is_what_its_buffer_packs(few, lengths, form):
    shape = tw.Shape.jagged(lengths)
    tensor = tw.from_buffer(np.arange(shape.size), shape)
    made = {
        "packed": lambda: tensor,
        "reversed": lambda: tensor[::-1],
        "gathered": lambda: tensor.gather(0, np.arange(len(lengths))[::2]),
        "turned": lambda: tensor[:, ::-1],
        "chosen": lambda: tensor.oindex[tensor % 2 == 0],
    }[form]()
    layout = made.layout.implementation
    given = buffers(shape.size)[:few]

    found = pack_together(given, layout)

    assert list(map(type, found)) == list(map(type, [own.pack(layout) for own in given]))
    for one, own in zip(found, given, strict=True):
        wanted = own.pack(layout)
        packed = tw.Layout(made.shape).implementation
        assert one.objects_of(packed).tolist() == wanted.objects_of(packed).tolist()
        assert one.dtype == own.dtype


def test_copies_are_counted():
    rows = tw.from_buffer(np.arange(6.0), tw.Shape.jagged([3, 1, 2]))
    with count_copies() as count:
        pack_together([rows.buffer, rows.buffer], rows[::-1].layout.implementation)
    assert count.nbytes == 96
