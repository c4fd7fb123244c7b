"""Whatever a public function is given in place of what it takes is refused by an error of the library.

The functions are found by introspection, so that a new one cannot be left out.
"""

import inspect
import warnings
from types import FunctionType

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Mask, Shape, Tiling, buffer, layout, shape, sharding, store, wire
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError, TensorWrapperError


class Odd:
    """What nothing takes."""

    def __repr__(self):
        return "<odd>"


ODD = {"object": Odd(), "integer": 5, "text": "x", "None": None, "list": [], "float": 1.5}

X, ROWS = tw.as_tensor(np.arange(6.0).reshape(2, 3)), tw.jagged([[1, 2], [3]])
RECEIVERS = [
    X,
    sel.as_view(X),
    ROWS,
    sel.as_view(ROWS),
    X.shape,
    ROWS.shape,
    X.layout,
    ROWS.layout,
    Tiling([1, 2], [2]),
    BlockPattern(Tiling([1, 2], [2, 1]), [(0, 0), (1, 1)]),
    tw.contraction("ij,ij->", *[BlockPattern(Tiling([1, 2], [2, 1]), [(0, 0), (1, 1)])] * 2),
    Mask(Shape(4, 6), slice(None, None, 2), [1, 4, 5]),
    X.shape.indices(),
    X.shape.indices().iterator(),
    tw.records({"x": ROWS, "n": [1, 2]}),
]
MODULES = [tw, sel, wire, store, buffer, layout, shape, sharding]

# Why these take what they are given at its word.
TRUSTED = {
    "Node.from_json": "called by the reader of JSON, with its own fields",
    "LossReport.of": "made by the library",
    "Rows.whole": "made by the library",
    "Runs.of": "positions that a source was asked for",
    "BoxTable.from_boxes": "made by the library",
    "Partition.by_volume": "offsets of the library",
    "Rows.of_lengths": "lengths of the library",
    "lazy_names": "loads modules",
    "register_node": "code of an extension",
}


def methods():
    for receiver in RECEIVERS:
        for name in dir(type(receiver)):
            if name.startswith("_"):
                continue
            try:
                found = getattr(receiver, name)
            except TensorWrapperError:
                continue
            if callable(found):
                yield f"{type(receiver).__name__}.{name}", found


def functions():
    for module in MODULES:
        for name in dir(module):
            found = getattr(module, name)
            if name.startswith("_") or not getattr(found, "__module__", "").startswith("tensorwrapper"):
                continue
            if isinstance(found, FunctionType):
                yield name, found
            elif inspect.isclass(found):
                for own in dir(found):
                    made = getattr(found, own, None)
                    if not own.startswith("_") and inspect.ismethod(made):
                        yield f"{name}.{own}", made


def required(function):
    """Return how many arguments a function needs by position, and the names of those by keyword."""
    parameters = inspect.signature(function).parameters.values()
    needed = [p for p in parameters if p.default is p.empty]
    by_place = [p for p in needed if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    # What takes "odd" ones takes anything, and answers it as a call that it does not take.
    loose = [p for p in needed if p.kind is p.VAR_POSITIONAL and p.name != "odd"]
    return len(by_place) or len(loose), [p.name for p in needed if p.kind is p.KEYWORD_ONLY]


CALLS = {}
for label, function in [*methods(), *functions()]:
    if label not in TRUSTED and any(required(function)):
        CALLS.setdefault(label, []).append(function)


def test_there_is_much_to_call():
    assert len(CALLS) > 250
    assert {"Tensor.to_layout", "View.element", "Tiling.is_congruent", "zeros", "join"} <= set(CALLS)


@pytest.mark.parametrize("label", CALLS)
def test_an_odd_argument_is_refused_by_an_error_of_the_library(label, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for function in CALLS[label]:
        count, names = required(function)
        for what, odd in ODD.items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    function(*[odd] * count, **dict.fromkeys(names, odd))
            except TensorWrapperError:
                pass
            except Exception as error:
                error.add_note(f"{label} was given the {what} {odd!r}")
                raise


LARGE = {
    "array": np.arange(1e4).reshape(100, 100),
    "list": [0.5] * 3000,
    "text": "a\nb" * 3000,
    "rows": tw.Shape.jagged(range(3000)),
}


@pytest.mark.parametrize("label", CALLS)
def test_an_error_quotes_no_more_than_a_line_of_what_was_given(label, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function = CALLS[label][0]
    count, names = required(function)
    said = []
    for large in LARGE.values():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function(*[large] * count, **dict.fromkeys(names, large))
        except Exception as error:  # noqa: BLE001 - of whatever kind
            said.append(str(error))
    assert [text for text in said if len(text) >= 600 or "\n" in text] == []


@pytest.mark.parametrize("dtype", ["real", Odd(), 5, [("a",)], "f3"], ids=str)
@pytest.mark.parametrize(
    "make",
    [
        lambda dtype: tw.zeros((2,), dtype=dtype),
        lambda dtype: tw.empty((2,), dtype=dtype),
        lambda dtype: tw.full((2,), 1, dtype=dtype),
        lambda dtype: tw.eye(2, dtype=dtype),
        lambda dtype: tw.jagged([[1]], dtype=dtype),
        lambda dtype: tw.sparse([(0,)], [1], (2,), dtype=dtype),
        lambda dtype: tw.from_buffer(b"12345678", (8,), dtype=dtype),
        X.astype,
        lambda dtype: sel.as_view(X).astype(dtype),
        lambda dtype: sel.zeros((2,), dtype=dtype),
        lambda dtype: sel.full((2,), 1, dtype=dtype),
        lambda dtype: sel.iota((2,), dtype=dtype),
        X.__array__,
        lambda dtype: buffer.constant(1, 2, dtype=dtype),
        lambda dtype: buffer.from_functions(2, dtype, lambda places: places),
        X.layout.to_array_interface,
        lambda dtype: np.add(X, 1, dtype=dtype),
        lambda dtype: np.add.reduce(ROWS, axis=-1, dtype=dtype),
        lambda dtype: np.concatenate([ROWS, ROWS], dtype=dtype),
    ],
)
def test_what_is_no_type_of_elements_is_a_dtype_error(make, dtype):
    with pytest.raises(DTypeError):
        make(dtype)
