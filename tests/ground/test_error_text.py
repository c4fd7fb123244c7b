"""What errors say of what was given, and where warnings point."""

import warnings

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper._error_text import brief, counted, shortened, warn_caller
from tensorwrapper.errors import PositionWarning, TensorWrapperWarning


@pytest.mark.parametrize("value", [1, "a", b"a", [1, 2], (1.5, None), {"a": [1]}, {1}, Shape(2, 3), 10**100])
def test_what_is_small_is_quoted_as_it_is(value):
    assert brief(value) == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        np.ones((200, 200)),
        [0.5] * 10**6,
        ("a" * 100,) * 100,
        "a\nb" * 10**5,
        b"a\n" * 10**5,
        {str(k): [k] * 100 for k in range(1000)},
        10**5000,
        -(10**5000),
        [10**5000] * 20,
        Shape.jagged(range(3000)),
        [[[[[1] * 100] * 100] * 100] * 100],
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_large_is_quoted_on_a_line(value):
    text = brief(value)

    assert "\n" not in text
    assert len(text) < 250


def test_a_text_keeps_its_beginning_and_its_end():
    assert shortened("short") == "short"
    assert shortened("first " + "x" * 1000 + " last").startswith("first xxx")
    assert shortened("first " + "x" * 1000 + " last").endswith("xxx last")


@pytest.mark.parametrize("sign", ["\x1b", "\0", "\x01", "\x7f", "\r", "\t", "\u202e"])
def test_a_terminal_gets_no_control_characters(sign):
    assert shortened(f"a{sign}b") == repr(f"a{sign}b")[1:-1]
    assert shortened("été 日本") == "été 日本"


def test_one_thing_is_named_in_the_singular():
    assert [counted(n, "more tensor") for n in range(3)] == [
        "0 more tensors",
        "1 more tensor",
        "2 more tensors",
    ]
    assert [counted(n, what) for n, what in [(1, "entry"), (0, "entry"), (2, "array")]] == [
        "1 entry",
        "0 entries",
        "2 arrays",
    ]


def test_a_warning_names_the_line_of_the_caller_however_deep_it_arises():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_caller("here", TensorWrapperWarning)
        tw.as_tensor(np.ones(3)).translate_to((5,)).oindex[5:7]

    assert [one.category for one in caught] == [TensorWrapperWarning, PositionWarning]
    assert {one.filename for one in caught} == {__file__}
    assert caught[1].lineno == caught[0].lineno + 1
