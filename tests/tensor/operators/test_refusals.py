"""What NumPy raises is an error of ours, which is the builtin that it raised as well."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentError,
    ExtentMismatchError,
    LabelError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
    TensorWrapperError,
)
from tensorwrapper.tensor.operators._refusals import refusals


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (IndexError("far"), OutOfBoundsError),
        (OverflowError("large"), SizeOverflowError),
        (TypeError("unexpected keyword argument 'x'"), ConversionError),
        (TypeError("no loop matching the argument types"), DTypeError),
        (ValueError("operands could not be broadcast"), ExtentError),
    ],
)
def test_an_error_of_numpy_has_a_name_of_ours(raised, error):
    # Of types that no loop is for NumPy says nothing that helps: ours says what works.
    said = "NumPy does not compute this" if error is DTypeError else str(raised)
    with pytest.raises(error, match=f"add: {said}") as caught, refusals("add"):
        raise raised

    assert isinstance(caught.value, type(raised))


@pytest.mark.parametrize("raised", [LabelError("ours"), FloatingPointError("asked for")])
def test_our_own_and_those_that_were_asked_for_pass(raised):
    with pytest.raises(type(raised)) as caught, refusals("add"):
        raise raised

    assert caught.value is raised


@pytest.mark.parametrize(
    "call",
    [
        lambda: tw.as_tensor([1, 2]) ** -1,
        lambda: tw.jagged([[1], [2, 3]]) ** -1,
        lambda: sel.as_view(tw.jagged([[1], [2, 3]])) ** -1,
        lambda: np.power.reduce(tw.as_tensor([2, -1])),
        lambda: np.power.outer(tw.as_tensor([2]), [-1]),
    ],
)
def test_negative_powers_of_integers_are_a_matter_of_types_and_of_values(call):
    for kind in (DTypeError, ValueError):
        with pytest.raises(kind, match=r"`t\.astype\('f8'\) \*\* -1`"):
            call()
    assert (tw.as_tensor([1, 2]).astype("f8") ** -1).tolist() == [1.0, 0.5]


def test_lists_of_several_lengths_are_rows_where_somebody_says_so():
    rows = tw.jagged([[1], [2, 3]])
    with pytest.raises(ConversionError, match=r"`tw\.jagged\(\[\[1\], \[2, 3\]\]\)`"):
        rows + [[1], [2, 3]]  # noqa: RUF005 - a sum
    assert (rows + tw.jagged([[1], [2, 3]])).tolist() == [[2], [4, 6]]


def test_values_of_several_modes_do_not_go_where_a_mask_selects():
    for own in (tw.as_tensor([1.0, 2.0]), tw.as_tensor([[1.0, 2.0], [3.0, 4.0]])):
        for target in (own, sel.as_view(own)):
            with pytest.raises(ExtentMismatchError, match=r"\(2, 2\)"):
                target[target > 0] = np.zeros((2, 2))
        assert own.elements().tolist() == [1.0, 2.0, 3.0, 4.0][: own.size]


def test_all_elements_are_joined_without_a_mode_as_the_advice_has_it():
    for t in (tw.jagged([[1], [2, 3]]), tw.as_tensor([[1, 2, 3]])):
        for own in (t, sel.as_view(t)):
            with pytest.raises(
                ConversionError, match=r"`np\.concatenate\(\[t\.elements\(\), t\.elements\(\)\]\)`"
            ):
                np.concatenate([own, own], axis=None)
        assert np.concatenate([t.elements(), t.elements()]).tolist() == [1, 2, 3, 1, 2, 3]


def test_ufuncs_of_other_types_are_refused_by_every_kind_of_tensor():
    """NumPy's own TypeError came through where zeros decide which tiles a result has."""
    x = np.arange(12.0).reshape(3, 4)
    tiles = tw.as_tensor(x).tiled(tw.Tiling([1, 2], [2, 2]))
    few = tiles.keep_tiles([(0, 0), (1, 1)])
    kinds = {
        "box": (tw.as_tensor(x), x),
        "view": (sel.as_view(x), x),
        "rows": (tw.jagged([[1.0], [2.0, 3.0]]), tw.jagged([[1.0], [2.0, 3.0]])),
        "tiles": (tiles, tiles),
        "blocks": (few, few),
        "blocks beside a box": (few.untiled(), tw.as_tensor(x)),
        "blocks beside an array": (few.untiled(), x),
        "blocks beside numbers of tiles": (few, np.ones((2, 2))),
        "sparse": (tw.sparse([(0, 1)], [1.0], (3, 4)), tw.sparse([(0, 1)], [1.0], (3, 4))),
        "packed": (tw.from_packed([1.0, 2.0, 3.0], "s2", (2, 2)), np.ones((2, 2))),
        "nulls": (tw.nullable(x), x),
        "Dask": (tw.jagged([[1.0], [2.0, 3.0]]).to_dask(), 1.0),
    }
    for kind, (one, other) in kinds.items():
        for ufunc in (np.bitwise_and, np.left_shift, np.gcd):
            for pair in ((one, other), (other, one)):
                try:
                    ufunc(*pair)
                except TensorWrapperError:
                    continue
                pytest.fail(f"{ufunc.__name__} of {kind} was not refused")


@pytest.mark.parametrize("of", [lambda t: t, sel.as_view], ids=["a tensor", "a view"])
@pytest.mark.parametrize(
    "call",
    [
        *(lambda t, name=name: getattr(np, name)(t, axis=3) for name in ("mean", "sort", "median", "flip")),
        lambda t: np.moveaxis(t, 0, 4),
        lambda t: np.expand_dims(t, 5),
        lambda t: np.roll(t, 1, axis=-3),
        lambda t: np.add.accumulate(t, axis=2),
        lambda t: np.mean(t[0], axis=-1),
    ],
)
def test_a_mode_that_does_not_exist_is_an_error_of_ours_and_of_numpy(of, call):
    with pytest.raises(RankError) as caught:
        call(of(tw.as_tensor([1.5, 2.0])))
    assert isinstance(caught.value, np.exceptions.AxisError)
