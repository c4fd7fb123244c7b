"""What stands between the brackets of a shape: one entry per mode, or an error that names it."""

import numpy as np
import pytest

from tensorwrapper.errors import (
    ConversionError,
    OutOfBoundsError,
    RankError,
    StepError,
)
from tensorwrapper.shape import Shape, Smooth, SmoothView, as_shape


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ((), Shape(4, 5, 6)),
        (..., Shape(4, 5, 6)),
        (2, Shape(5, 6)),
        ((2, ...), Shape(5, 6)),
        ((..., 2), Shape(4, 5)),
        ((1, 2, 3), Shape()),
        ((1, 2, 3, ...), Shape()),
        ((slice(None), 2), Shape(4, 6)),
        ((..., slice(2, 5)), Shape(4, 5, 3, origin=(0, 0, 2))),
        ((slice(1, 3), ..., 0), Shape(2, 5, origin=(1, 0))),
        ((slice(None, None, 1), slice(2, None)), Shape(4, 3, 6, origin=(0, 2, 0))),
        (np.int64(2), Shape(5, 6)),
        (slice(np.int8(1), np.uint64(3)), Shape(2, 5, 6, origin=(1, 0, 0))),
    ],
)
def test_keys(key, expected):
    assert Shape(4, 5, 6)[key] == expected


@pytest.mark.parametrize(
    ("key", "error", "builtin", "match"),
    [
        (4, OutOfBoundsError, IndexError, r"index 4 is outside \[0, 4\)"),
        ((0, slice(0, 9)), OutOfBoundsError, IndexError, r"\[0, 9\).*mode 1"),
        ((0, slice(3, 2)), OutOfBoundsError, IndexError, r"\[3, 2\)"),
        ((..., ...), RankError, ValueError, "one ellipsis"),
        (slice(None, None, 2), StepError, ValueError, "step 2.*Mask"),
        (slice(None, None, -1), StepError, ValueError, "step -1"),
        (slice(None, None, 0), StepError, ValueError, "step 0"),
        (True, ConversionError, TypeError, "True"),
        (1.0, ConversionError, TypeError, r"1\.0"),
        (None, ConversionError, TypeError, "None"),
        ("a", ConversionError, TypeError, "'a'"),
        ([0, 1], ConversionError, TypeError, "Mask"),
        ((0, np.array([True])), ConversionError, TypeError, "mode 1.*Mask"),
        (slice(0.0, 2), ConversionError, TypeError, r"0\.0"),
        (slice(False, 2), ConversionError, TypeError, "False"),
        (slice(0, 2, True), ConversionError, TypeError, "True"),
    ],
)
def test_keys_that_are_refused(key, error, builtin, match):
    for shape in (Shape(4, 5, 6), as_shape(SmoothView.of_box(Smooth((4, 5, 6))))):
        with pytest.raises(error, match=match) as caught:
            shape[key]
        assert isinstance(caught.value, builtin)


def test_chips_drop_leading_modes():
    shape = Shape(10, 20, 30, origin=(0, 5, 0))
    assert shape.chip() == shape
    assert shape.chip(2) == shape[2] == Shape(20, 30, origin=(5, 0))
    assert shape.chip(2, 5, 29) == Shape()
    assert Shape(10, 20)[0:10, 2] == Shape(10)


@pytest.mark.parametrize(
    ("prefix", "error", "match"),
    [
        ((4,), OutOfBoundsError, r"index 4 is outside \[0, 4\) of mode 0"),
        ((0, -1), OutOfBoundsError, "index -1 .*mode 1"),
        ((0, 0, 0), RankError, "leaves no mode"),
        ((0.5,), ConversionError, r"0\.5"),
    ],
)
def test_a_prefix_outside_the_shape_is_refused(prefix, error, match):
    for question in (Shape(4, 5, 6).extent_at, Shape(4, 5, 6).origin_at):
        with pytest.raises(error, match=match):
            question(prefix)
