import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.tensor.operators import _elementwise
from tensorwrapper.tensor.operators._elementwise import call

WHOLE = [np.int8, np.uint8, np.int16, np.int32, np.uint64, np.int64]
BINARY = [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.pow]


@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize("dtype", WHOLE)
def test_whole_numbers_become_what_checkers_are_told(operation, dtype):
    t = tw.full(tw.Shape(2, 3), 3, dtype=dtype)
    assert operation(t, 2).dtype == dtype
    assert operation(2, t).dtype == dtype
    for result in (operation(t, 1.5), operation(1.5, t)):
        assert result.dtype == np.float64


@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_stay_beside_numbers_of_python(operation, dtype):
    t = tw.full(tw.Shape(2, 3), 3, dtype=dtype)
    for number in (2, 1.5):
        assert operation(t, number).dtype == operation(number, t).dtype == dtype


ROWS = st.lists(st.integers(0, 3), min_size=1, max_size=4)


def spellings(lengths, values):
    """The same rows as tensors that say it in several ways."""
    plain = tw.as_tensor(values).unflatten(lengths)
    yield plain
    yield tw.as_tensor(values.copy()).unflatten(list(lengths))
    yield tw.as_tensor(np.concatenate([values, [7]])).unflatten([*lengths, 1])[: len(lengths)]
    yield tw.as_tensor(values).unflatten([*lengths, 0])
    yield plain.named("a", "b")
    yield plain.named(None, "b")
    layered = tw.Shape.nested(plain.shape, layers=(1, 1))
    yield tw.from_buffer(values.copy(), layered)
    yield plain.translate_to((2, 0))
    yield plain[::-1][::-1]
    if len(set(lengths)) == 1:
        yield tw.as_tensor(values.reshape(len(lengths), -1))


def outcome(compute):
    try:
        made = compute()
    except tw.errors.TensorWrapperError as error:
        return type(error), str(error)
    return made.shape, made.layout, made.dtype, made.tolist()


@given(ROWS, ROWS, st.data())
def test_rows_beside_rows_go_the_short_way_as_the_general_one(lengths, others, data):
    one = data.draw(st.sampled_from([*spellings(lengths, np.arange(sum(lengths), dtype=np.float64))]))
    same = data.draw(st.booleans())
    wanted = lengths if same else others
    other = data.draw(st.sampled_from([*spellings(wanted, np.arange(sum(wanted)) * 10)]))
    quick = outcome(lambda: one + other)
    assert quick == outcome(lambda: call(np.add, (one, other), {}))
    assert quick == outcome(lambda: one + other)


@st.composite
def boxes(draw):
    """Two tensors over equal boxes, anywhere in memory: parts, permuted, reversed, in steps."""
    extents = tuple(draw(st.lists(st.integers(0, 3), min_size=1, max_size=3)))
    made = []
    for _ in range(2):
        order = tuple(draw(st.permutations(range(len(extents)))))
        back = tuple(sorted(range(len(order)), key=order.__getitem__))
        steps = [draw(st.sampled_from([1, 1, -1, 2])) for _ in extents]
        sizes = [5 + 2 * n for n in extents]
        room = np.arange(float(np.prod(sizes))).reshape(sizes)
        part = tw.as_tensor(room.transpose(order)).permute(back)
        begins = [draw(st.integers(0, 2)) for _ in extents]
        for mode, (n, step, begin) in enumerate(zip(extents, steps, begins, strict=True)):
            part = part[(slice(None),) * mode + (slice(begin, begin + abs(step) * n, abs(step)),)]
            part = part[(slice(None),) * mode + (slice(None, None, 1 if step > 0 else -1),)]
        made.append(part if draw(st.booleans()) else part.copy())
    return made


@given(boxes(), st.sampled_from([np.add, np.multiply, np.less]))
def test_boxes_anywhere_in_memory_go_the_short_way_as_the_general_one(pair, ufunc):
    one, other = pair
    by_operator = {np.add: operator.add, np.multiply: operator.mul, np.less: operator.lt}[ufunc]
    array = np.asarray(other.copy())
    arrays = (
        array,
        np.asfortranarray(array),
        array[..., :1],
        array[:1],
        np.ones(array.shape[-1:]),
        np.array(2.0),
        array > 3,
        array.astype("m8"),
    )
    for operands in (
        (one, other),
        (one, 2.0),
        (3, one),
        (one, one),
        *[(one, own) for own in arrays],
        (array, one),
    ):
        general = outcome(lambda operands=operands: call(ufunc, operands, {}))
        assert outcome(lambda operands=operands: ufunc(*operands)) == general
        if operands[0] is one:
            assert outcome(lambda operands=operands: by_operator(*operands)) == general


@given(ROWS, st.data())
def test_what_is_no_plain_box_goes_beside_arrays_as_the_general_way(lengths, data):
    values = np.arange(float(sum(lengths)))
    one = data.draw(st.sampled_from([*spellings(lengths, values)]))
    array = data.draw(
        st.sampled_from(
            [values, values.reshape(len(lengths), -1) if values.size % len(lengths) == 0 else values[:1]]
        )
    )
    general = outcome(lambda: call(np.add, (one, array), {}))
    assert outcome(lambda: one + array) == outcome(lambda: np.add(one, array)) == general


@pytest.mark.parametrize("key", [slice(2, None), slice(None), slice(1, 3)])
def test_names_and_origin_are_kept_behind_the_start_of_memory(key):
    t = tw.as_tensor(np.arange(8.0).reshape(4, 2)).named("x", "y")[key]
    for own in (t, t.translate_to((5, 1)), t[0]):
        for made in (own + own, own * 2, 3 - own):
            assert made.shape == own.shape
            assert made.layout == tw.Layout(own.shape)


def test_a_row_or_a_tile_of_a_tensor_takes_the_short_way(monkeypatch):
    def general(*_):
        raise AssertionError("this is the general way")

    monkeypatch.setattr(_elementwise, "call", general)
    rows = tw.jagged([[1, 2], [3, 4], [5]])
    tiles = tw.as_tensor(np.arange(36).reshape(6, 6)).tiled(tw.Tiling([2, 4], [3, 3]))
    assert (rows[1] * 2).tolist() == [6, 8]
    assert (rows[1] + np.array([1, 2])).tolist() == (np.array([1, 2]) + rows[1]).tolist() == [4, 6]
    assert (rows[1] + rows[0]).tolist() == [4, 6]
    assert (tiles[1, 1] + tiles[1, 0]).tolist() == [[27, 29, 31], [39, 41, 43], [51, 53, 55], [63, 65, 67]]


@given(data=st.data())
@pytest.mark.parametrize("operation", [operator.add, operator.lt, operator.truediv, np.minimum, np.equal])
def test_arrays_beside_tensors_are_as_tensors_beside_them(operation, data):
    """The way for arrays of the same extents in order equals that for any others."""
    extents = tuple(data.draw(st.lists(st.integers(0, 3), max_size=3)))
    dtypes = st.sampled_from([np.bool_, np.int8, np.uint64, np.float16, np.float64, np.complex64])
    if operation in (operator.lt, np.minimum):
        dtypes = dtypes.filter(lambda dtype: dtype is not np.complex64)
    mine, theirs = [
        (np.arange(np.prod(extents, dtype=int)) % 5 + 1).reshape(extents).astype(data.draw(dtypes))
        for _ in "ab"
    ]
    kind = data.draw(st.sampled_from(["plain", "moved", "named", "turned", "tiled", "wider"]))
    t = tw.as_tensor(mine)
    if kind == "moved":
        t = t.translate_to((5,) * len(extents))
    elif kind == "named":
        t = t.named(*"xyz"[: len(extents)])
    elif kind == "turned":
        t = tw.as_tensor(np.asfortranarray(mine))
    elif kind == "tiled" and extents and all(extents):
        t = t.tiled(tw.Tiling(*[[n] for n in extents])).untiled()
    given_ = theirs[None] if kind == "wider" else theirs
    for one, other in ((t, given_), (given_, t)):
        found = outcome(lambda one=one, other=other: operation(one, other))
        wanted = outcome(lambda one=one, other=other: operation(*[general(own) for own in (one, other)]))
        assert found[0] == wanted[0]
        assert found[2:] == wanted[2:]
        if kind in ("plain", "moved", "named"):
            assert found[0] == t.shape


def general(operand):
    """Return an operand for which there is no short way: an array with gaps."""
    if isinstance(operand, tw.Tensor):
        return operand
    wide = np.repeat(np.asarray(operand)[..., None], 2, axis=-1)
    return wide[..., 0]
