"""NumPy's functions on tensors: three that select and join, and others by arrays of boxes."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Final, Literal, SupportsIndex, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import to_dtype
from tensorwrapper._error_text import shortened
from tensorwrapper._text_order import by_exact_order
from tensorwrapper.buffer import Dense, Nullable, Sparse, StringData
from tensorwrapper.buffer.lowlevel import (
    convert_elements,
    fit_number,
    holds_strings,
    is_fill,
    make_sparse,
    packed_layout,
)
from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError, JaggedModeError, RankError
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes, make_smooth, mode_of, unnamed_shape, wrap
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._lazy_imports import join_lazily
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._all_elements import OF_ALL_ELEMENTS, call_on_all
from tensorwrapper.tensor.operators._each_element import (
    OF_ONE_ELEMENT,
    call_for_each,
    clip,
    has_odd_bounds,
    writes,
)
from tensorwrapper.tensor.operators._elementwise import (
    array_of,
    flat_operands,
    over_array,
    over_rows,
)
from tensorwrapper.tensor.operators._nulls import is_nullable, valid_at
from tensorwrapper.tensor.operators._one_kind import with_one_kind
from tensorwrapper.tensor.operators._operand import (
    Operand,
    check_argument,
    first_tensor,
    has_no_origin,
    hidden_operand,
    is_tensor,
    is_tensor_or_view,
    is_text,
    origin_of,
    read_mask,
    read_operand,
    read_operands,
    read_where,
    refuse_strangers,
)
from tensorwrapper.tensor.operators._out_arguments import (
    WRITERS,
    finished_array,
    with_fitting_values,
    without_out,
)
from tensorwrapper.tensor.operators._promotion import check_elements_computed_in, promoted
from tensorwrapper.tensor.operators._reductions import finished
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.operators._row_functions import EXTREMES, ORDERED, ROW_FUNCTIONS, call_along_rows
from tensorwrapper.tensor.operators._shapes import (
    box_of_result,
    reference_of,
    rows_of_result,
    shape_of,
)
from tensorwrapper.tensor.operators._sparse import choose_sparse
from tensorwrapper.tensor.operators._stored_functions import call_on_stored, is_of_stored
from tensorwrapper.tensor.operators._strings import (
    as_tests,
    call_exactly,
    call_on_texts,
    data_of,
    isin,
    kind_of,
    places_of,
    strings_of,
    text_refusals,
)
from tensorwrapper.tensor.rows._nulls import over_valid, sides_of, zero_filled
from tensorwrapper.typing import Array, Extents, IntArray

_DType: TypeAlias = "npt.DTypeLike | None"
_ScalarT = TypeVar("_ScalarT", bound=np.generic)
_Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]


def call_function(
    function: Callable[..., Any], types: Iterable[type], arguments: "tuple[Any, ...]", options: dict[str, Any]
) -> object:
    """Return the result of a function of NumPy for tensors; see NEP 18."""
    function = _NAMES.get(function, function)
    own = _OWN.get(function)
    strangers = [kind for kind in types if not issubclass(kind, TensorCommon | np.ndarray)]
    if strangers:
        if not any(kind.__module__.startswith("tensorwrapper.") for kind in strangers):
            refuse_strangers(strangers, f"np.{function.__name__}")
        return NotImplemented
    if own is not None:
        return own(*arguments, **options)
    of_rows = _call_of_rows(function, arguments, options)
    if of_rows is not None:
        return of_rows(function, arguments, options)
    arguments = _with_hidden_nulls(function.__name__, arguments)
    room = function.__module__.partition(".")[2]
    name = f"np.{room}.{function.__name__}" if room in ("linalg", "strings") else f"np.{function.__name__}"
    if function is np.clip and has_odd_bounds(arguments, options):
        return clip(*arguments, **options)
    if function.__name__ in OF_ONE_ELEMENT and arguments and _has_rows(arguments[0]):
        tensor: TensorBase[Any] = arguments[0]._as_operand()
        if tensor.buffer.fill_value is None and not writes(function, arguments, options):
            rest = [_as_arrays(own, name, function.__name__) for own in arguments[1:]]
            named = {key: _as_arrays(own, name, function.__name__) for key, own in options.items()}
            return call_for_each(function, name, tensor, rest, named)
    if room == "strings" and not _are_boxes((*arguments, *options.values())):
        return call_on_texts(function, name, arguments, options)
    if function.__name__ in _MOVE and _first_of(arguments, is_nullable_number):
        return _moved_with_nulls(function, name, arguments, options)
    out, arguments, options = without_out(function, arguments, options, name)
    _refuse_lost_writes(function.__name__, arguments, options, name)
    arguments, options = with_fitting_values(function, arguments, options, name)
    plain = [_option(number, own, name, function.__name__) for number, own in enumerate(arguments)]
    named = {key: _option(key, own, name, function.__name__) for key, own in options.items()}
    _check_type(function.__name__, plain, named, name)
    values, named = with_one_kind(function, plain, named, name)
    with text_refusals(name) if room == "strings" else refusals(name):
        # The partition of a text has the name of that of an array.
        found = NotImplemented if room == "strings" else by_exact_order(function, values, named)
        found = call_exactly(function, values, named) if found is NotImplemented else found
    return found if out is None else finished_array(found, (*arguments, out), out, name, options)


_NAMES: "Final[dict[Callable[..., Any], Callable[..., Any]]]" = {np.amax: np.max, np.amin: np.min}
"""Other names of functions."""


def _call_of_rows(
    function: Callable[..., Any], arguments: "tuple[Any, ...]", options: dict[str, Any]
) -> Callable[..., object] | None:
    """Return the implementation of a function for sparse, jagged or nullable tensors; otherwise None."""
    if is_of_stored(function, arguments, options):
        return call_on_stored
    if function.__name__ in ROW_FUNCTIONS and arguments and _has_rows(arguments[0]):
        first = arguments[0]
        is_text = first.dtype.kind in "TO"
        # NumPy has other answers for boxes of text.
        is_other = is_text and first.shape.flatten().is_box and function.__name__ not in (*ORDERED, *EXTREMES)
        return None if is_other else call_along_rows
    if function.__name__ in OF_ALL_ELEMENTS and arguments and _is_no_array(arguments[0]):
        return call_on_all
    return None


_MOVE: Final = frozenset(
    (
        *("broadcast_to", "column_stack", "diagonal", "dstack", "expand_dims", "flip", "fliplr"),
        *("flipud", "hstack", "moveaxis", "ravel", "repeat", "reshape", "roll", "rot90", "squeeze"),
        *("swapaxes", "take", "take_along_axis", "tile", "transpose", "vstack"),
    )
)
"""NumPy functions whose results only have elements of their first argument."""


def is_nullable_number(value: object) -> bool:
    """Return True if a value is a tensor or view of numbers that may be nulls."""
    return is_tensor_or_view(value) and value.is_nullable and value.dtype.kind not in "TO"


def _first_of(arguments: "tuple[Any, ...]", check: "Callable[[object], bool]") -> bool:
    """Return True if the first argument, or an item of it, is of a kind."""
    first: Any = arguments[0] if arguments else None
    return any(map(check, cast("list[object]", first))) if isinstance(first, list | tuple) else check(first)


def _moved_with_nulls(
    function: Callable[..., Any], name: str, arguments: "tuple[Any, ...]", options: dict[str, Any]
) -> object:
    """Return the result of a function that moves elements, for values and for their validity."""
    out, arguments, options = without_out(function, arguments, options, name)
    first: Any = arguments[0]
    several = isinstance(first, list | tuple)
    given: list[Any] = list(cast("list[object]", first)) if several else [first]
    parts: list[Any] = [own._as_operand() if is_tensor_or_view(own) else own for own in given]
    rest = [_option(place, own, name, function.__name__) for place, own in enumerate(arguments[1:], 1)]
    named = {key: _option(key, own, name, function.__name__) for key, own in options.items()}
    sides: list[Array] = []
    for side in (
        [zero_filled(own) if isinstance(cast("object", own), TensorBase) else own for own in parts],
        [
            own.is_valid()
            if isinstance(cast("object", own), TensorBase)
            else np.ones(np.shape(own), np.bool_)
            for own in parts
        ],
    ):
        arrays = [_as_arrays(own, name, function.__name__) for own in side]
        with refusals(name):
            sides.append(np.asarray(function(arrays if several else arrays[0], *rest, **named), order="C"))
    values, valid = (Dense(cast("Any", own.reshape(-1))) for own in sides)
    layout = packed_layout(Shape(*sides[0].shape))
    return finished(first_tensor(parts)._make(layout, Nullable(values, cast("Any", valid))), out, name)


_SEVERAL: Final = frozenset(("column_stack", "dstack", "hstack", "vstack"))
"""Functions that move elements of several arrays, which are the items of the first argument."""


def _with_hidden_nulls(short: str, arguments: "tuple[Any, ...]") -> "tuple[Any, ...]":
    """Return arguments in which those of several arrays that have nulls are nullable tensors."""
    if short not in _SEVERAL or not arguments or not isinstance(arguments[0], list | tuple):
        return arguments
    given: list[Any] = list(cast("list[object]", arguments[0]))
    found = [hidden_operand(own, short) for own in given]
    return ([own if new is None else new for own, new in zip(given, found, strict=True)], *arguments[1:])


def _has_rows(value: object) -> bool:
    """Return True if a value has rows or is nullable, which NumPy does not support."""
    return is_tensor_or_view(value) and (not value.shape.flatten().is_box or value.is_nullable)


def _is_no_array(value: object) -> bool:
    """Return True if a value is of rows, or of numbers or strings that may be nulls; not if it is sparse."""
    if not is_tensor_or_view(value) or (value.shape.flatten().is_box and not value.is_nullable):
        return False
    return cast("Any", value)._as_operand().buffer.fill_value is None


_COMPUTE_IN: Final = {
    **dict.fromkeys(["sum", "prod", "cumsum", "cumprod", "mean", "std", "var"], 2),
    **dict.fromkeys(["nansum", "nanprod", "nancumsum", "nancumprod", "nanmean", "nanstd", "nanvar"], 2),
    **dict.fromkeys(["cumulative_sum", "cumulative_prod"], 1),
    "trace": 4,
}
"""Functions that reduce, with the position of their ``dtype`` argument, or their number of arguments."""


def _check_type(short: str, arguments: "list[Any]", options: dict[str, Any], name: str) -> None:
    """Raise if a reduction would compute in a dtype to which elements cannot be cast."""
    place = _COMPUTE_IN.get(short)
    if place is None or not arguments:
        return
    dtype = arguments[place] if len(arguments) > place else options.get("dtype")
    if dtype is not None and isinstance(arguments[0], np.ndarray):
        check_elements_computed_in(arguments[0], dtype, name)


def _are_boxes(values: Iterable[object]) -> bool:
    """Return True if all tensors and views among values have one extent in each mode."""
    return all(not isinstance(value, TensorCommon) or value.shape.flatten().is_box for value in values)


def _refuse_lost_writes(short: str, arguments: "tuple[Any, ...]", options: dict[str, Any], name: str) -> None:
    """Raise if a function would write into a temporary array of a tensor without memory."""
    out = options.get("out")
    outs = cast("tuple[object, ...]", out if isinstance(out, tuple) else (out,))
    for target in (*outs, *(arguments[:1] if short in WRITERS else ())):
        if is_tensor(target):
            if target.buffer.memory_of(target.layout.implementation) is None:
                raise ConversionError(
                    f"{name} writes into arrays, and {target!r} is over none: assign() writes"
                )
        elif isinstance(target, TensorCommon):
            raise ConversionError(
                f"{name} writes into arrays, and a view is none: assign() writes through it"
            )


def _as_arrays(value: object, name: str, short: str) -> object:
    """Return an argument with boxes replaced by arrays, also inside lists and tuples."""
    if is_tensor_or_view(value):
        tensor = value._as_operand()
        if tensor.buffer.fill_value is not None:
            shape = shortened(repr(tensor.shape))
            labels = tensor.buffer.in_tiles and short in _CONTRACTIONS
            raise ConversionError(
                f"{name} is given a sparse tensor of shape {shape}, which is not an array: "
                + ('`tw.contract("ij,jk->ik", a, b)` multiplies those in tiles, ' if labels else "")
                + "`s.to_dense()` has all its elements"
            )
        if not tensor.shape.flatten().is_box:
            shape = shortened(repr(tensor.shape))
            hint = _HINTS.get(short, _PARTS).replace("{name}", name)
            raise ConversionError(
                f"{name} is given a tensor of shape {shape}, which is not an array: {hint}"
                + ("" if hint == _PARTS else ", or `r.to_padded()` first")
            )
        has_none = short in _MOVE and tensor.buffer.nullable and tensor.dtype.kind == "O"
        return np.asarray(tensor._flat(), dtype=object if has_none else None)
    operand = hidden_operand(value, name)
    if operand is not None:
        return _as_arrays(operand, name, short)
    if type(value) in (list, tuple):
        items = [_as_arrays(item, name, short) for item in cast("list[object]", value)]
        return items if type(value) is list else tuple(items)
    check_argument(value, name)
    return value


_LISTS_AT: "Final[dict[str, tuple[int | str, ...]]]" = {
    "block": (0, "arrays"),
    "choose": (1, "choices"),
    "piecewise": (1, 2, "condlist", "funclist"),
    "select": (0, 1, "condlist", "choicelist"),
    **dict.fromkeys(_SEVERAL, (0, "tup")),
}
"""Functions, and the places and names of arguments that are lists of operands, and no operands."""


def _option(key: "int | str", value: object, name: str, short: str) -> object:
    """Return an argument as `_as_arrays` does; NumPy takes bytes of any length to begin with."""
    if key == "initial" and is_tensor_or_view(value) and value.dtype.kind == "O" and not value.shape.rank:
        value = cast("Any", value).item()
    if key == "initial" and isinstance(value, bytes):
        return value
    if short == "take_along_axis" and key in (1, "indices") and isinstance(value, list | tuple):
        value = read_operand(value, name)  # NumPy takes arrays alone.
    if key in _LISTS_AT.get(short, ()) and isinstance(value, list | tuple):
        return [_as_arrays(own, name, short) for own in cast("list[object]", value)]
    return _as_arrays(read_where(value, name) if key == "where" else value, name, short)


_CONTRACTIONS = ("dot", "einsum", "inner", "outer", "tensordot", "vdot")
_PARTS = "`r.to_padded()` fills it, `r.cells()` has its parts"
_ALL = "`{name}(r.elements())` takes all elements"
_HINTS = {
    "bincount": _ALL,
    "searchsorted": "`r.rows().searchsorted(r)` looks in each row",
    "norm": "`np.linalg.norm(r.elements())`",
    **dict.fromkeys(
        ["isclose", "allclose", "array_equal"],
        "`r.array_equal(r)`, and of numbers `np.allclose(r.elements(), r.elements())`",
    ),
    **dict.fromkeys(["concatenate", "vstack", "hstack"], "`tw.concat([r, r])`"),
    "stack": "`tw.stack([r, r])`",
    "take": "`r[[1, 0]]` takes rows",
    **dict.fromkeys(["flip", "roll"], "`r[::-1]` reverses the rows"),
    **dict.fromkeys(["isin", "digitize"], "`r.elements()` are all its elements"),
    **dict.fromkeys(["ravel", "copy"], "`r.elements()` are all elements, `r.copy()` is a tensor"),
    "pad": "`r.pad_rows(3)`",
    **dict.fromkeys(["zeros_like", "empty_like"], "`tw.zeros(r.shape)`"),
    **dict.fromkeys(["ones_like", "full_like"], "`tw.full(r.shape, 1.0)`"),
    **dict.fromkeys(["save", "savez", "savetxt"], "`tw.save('f.tens', {'t': r})`"),
    **dict.fromkeys(
        _CONTRACTIONS,
        '`tw.contract("ij,jk->ik", a, b)` multiplies tensors in tiles, '
        "`[np.asarray(cell) for _, cell in r.cells()]` are boxes",
    ),
}
"""Alternatives to NumPy's functions that have no meaning for rows."""


def _are_lazy(operands: Iterable[object]) -> bool:
    """Return True if a view is among the operands, so that the result is one."""
    return any(
        isinstance(operand, TensorCommon) and not isinstance(operand, TensorBase) for operand in operands
    )


def _stores_orbits(operand: object) -> bool:
    """Return True if an operand is a symmetric tensor, of which views unpack what they need."""
    return isinstance(operand, TensorBase) and operand.buffer.stores_orbits


def _cast(view: Any, given: Sequence[object], dtype: _DType, casting: _Casting) -> object:  # noqa: ANN401 - a view, which lives above
    """Return the view of the operands, each cast to a dtype as in NumPy."""
    if dtype is None:
        return view
    for own in given:
        _check_casting(getattr(own, "dtype", view.dtype), to_dtype(dtype), casting)
    return view.astype(dtype, casting="unsafe" if casting == "unsafe" else "checked")


def _check_casting(given: "np.dtype[Any]", dtype: "np.dtype[Any]", casting: _Casting) -> None:
    if not np.can_cast(given, dtype, casting):
        raise DTypeError(f"elements of {given} do not become ones of {dtype} by casting={casting!r}")


def _where(condition: object, *choices: object) -> object:
    if not choices:
        raise ConversionError("np.where with a condition alone lists places: `np.nonzero(t)` does so")
    if len(choices) != 2:
        raise ConversionError(f"np.where takes a condition and two choices, not {1 + len(choices)} operands")
    if _are_lazy((condition, *choices)):
        return join_lazily("where", condition, *choices)
    mask, x, y = read_operands((condition, *choices), "where")
    if any(map(_stores_orbits, (mask, x, y))):
        unpacked: Any = join_lazily("where", condition, *choices)
        return unpacked.compute()
    if any(map(is_nullable, (mask, x, y))):
        return _where_with_nulls([mask, x, y])
    dtype = mask.dtype if isinstance(mask, TensorBase) else np.asarray(mask).dtype
    if dtype != np.bool_:
        raise DTypeError(f"where: a condition has elements of type bool, not {dtype}; t != 0 makes one")
    operands: list[Operand] = [mask, x, y]
    if any(isinstance(operand, TensorBase) and operand.buffer.fill_value is not None for operand in operands):
        return choose_sparse(_chosen, operands, "where")
    if any(map(is_text, (x, y))):
        return _where_strings(operands)
    reference = reference_of(operands)
    if reference is None:
        shape = box_of_result(operands, "where")
        with refusals("where"):
            # Numbers, too, which NumPy takes for arrays.
            marks, *chosen_from = cast("Iterable[Array]", map(array_of, operands))
            chosen = np.where(marks, *_promoted(chosen_from))
        return over_array(chosen, shape, operands)
    with refusals("where"):
        marks, *flats = flat_operands(operands, reference, "where")
        flat = np.where(marks, *_promoted(flats))
    return over_rows(flat, rows_of_result(operands, reference, "where"), reference)


def _where_with_nulls(operands: "list[Operand]") -> TensorBase[Any]:
    """Return the chosen elements of nullable operands; a null where the condition is one."""
    shape, reference = shape_of(operands, "where")
    plain = [sides_of(own)[0] if isinstance(own, TensorBase) else own for own in operands]
    chosen = cast("TensorBase[Any]", _where(*plain))
    every = np.ones(shape.size, np.bool_)
    known, *valid = [
        every if own is None else own for own in (valid_at(op, shape, reference, "where") for op in operands)
    ]
    marks = _flat_marks(plain[0], shape, reference)
    there = known & np.where(marks, *valid)
    places = np.flatnonzero(there)
    flat = chosen.buffer.pack(chosen.layout.implementation, own=False).collect(iter([places]), len(places))
    (made,) = over_valid([chosen._make(packed_layout(Shape(len(places))), flat)], there, shape, chosen)
    return made


def _flat_marks(mask: Operand, shape: Shape[Any], reference: "TensorBase[Any] | None") -> Array:
    """Return a condition at each element of a result."""
    flat = np.asarray(mask._flat().elements() if isinstance(mask, TensorBase) else mask).reshape(-1)
    places = places_of(mask, shape, reference, "where")
    return flat if places is None or len(flat) == 1 else flat[places]


def _chosen(marks: "npt.NDArray[np.bool_]", *choices: "Array | complex") -> Array:
    return np.where(marks, *_promoted(choices))


def _promoted(choices: "Sequence[Array | complex]") -> list[Array]:
    """Return arrays, and Python's numbers, as ones of the type that they are promoted to."""
    typed = [own for own in choices if isinstance(own, np.ndarray)]
    weak = [own for own in choices if not isinstance(own, np.ndarray)]
    common = promoted([own.dtype for own in typed], "where", weak)
    return [
        convert_elements(own, common, copy=False)
        if isinstance(own, np.ndarray)
        else fit_number(own, common, "a constant")
        for own in choices
    ]


def _isin(element: object, test_elements: object, *more: object, **options: object) -> object:
    given = element if is_tensor_or_view(element) else read_operand(element, "isin")
    if isinstance(given, str | bytes):
        given = np.array(given, np.dtypes.StringDType() if isinstance(given, str) else object)
    return call_function(isin, (), (given, as_tests(test_elements), *more), options)


def _where_strings(operands: Sequence[Operand]) -> TensorBase[Any]:
    """Return the chosen strings, by positions in the concatenation of both choices."""
    mask, x, y = operands
    if not (is_text(x) and is_text(y)) or kind_of(x) != kind_of(y):
        raise DTypeError("where: strings are chosen from strings, text from text and bytes from bytes")
    shape, reference = shape_of(operands, "where")
    first, second = data_of(x), data_of(y)
    places = [places_of(operand, shape, reference, "where") for operand in (x, y)]
    marks = _flat_marks(mask, shape, reference)
    every = np.arange(shape.size)
    left, right = [every if own is None else own for own in places]
    data = StringData.concat([first, second])
    taken = np.broadcast_to(np.where(marks, left, right + len(first)), (shape.size,))
    return first_tensor(operands)._make(packed_layout(shape), strings_of(data.take(taken), [x, y]))


def _concatenate(
    tensors: Sequence[object],
    axis: "SupportsIndex | None" = 0,
    out: object = None,
    *,
    dtype: _DType = None,
    casting: _Casting = "same_kind",
) -> object:
    if axis is None:
        raise ConversionError(
            "np.concatenate of tensors takes a mode: `np.concatenate([t.elements(), t.elements()])` joins all"
            " elements"
        )
    if out is not None:
        raise ConversionError("np.concatenate of tensors takes no out=: assign() writes what comes")
    if _are_lazy(tensors):
        return _cast(join_lazily("concat", tensors, mode=axis), tensors, dtype, casting)
    parts = _tensors(tensors, "concatenate", axis)
    mode = mode_of(axis, parts[0].shape.rank)
    if any(part.layout.is_tiled or part.buffer.in_tiles or _stores_orbits(part) for part in parts):
        joined: Any = _cast(join_lazily("concat", tensors, mode=mode), tensors, dtype, casting)
        return joined.compute()
    shape = _joined_shape(parts, mode)
    return _join(parts, shape, mode, dtype, casting, "concatenate")


def _stack(
    tensors: Sequence[object],
    axis: "SupportsIndex | None" = 0,
    out: object = None,
    *,
    dtype: _DType = None,
    casting: _Casting = "same_kind",
) -> object:
    if out is not None:
        raise ConversionError("np.stack of tensors takes no out=: assign() writes what comes")
    given = list(tensors)
    if _are_lazy(given):
        return _cast(join_lazily("stack", given, mode=axis), given, dtype, casting)
    parts = _tensors(given, "stack")
    first = parts[0].shape
    for part in parts[1:]:
        if unnamed_shape(part.shape) != unnamed_shape(first):
            raise ExtentMismatchError(f"stack: {part.shape!r} is not {first!r}")
    mode = mode_of(cast("SupportsIndex", axis), first.rank + 1)
    if first.is_box and any(part.buffer.in_tiles or _stores_orbits(part) for part in parts):
        joined: Any = _cast(join_lazily("stack", given, mode=mode), given, dtype, casting)
        return joined.compute()
    if first.is_box:
        return _join(
            [part._make(part.layout.unsqueeze(mode), part.buffer) for part in parts],
            None,
            mode,
            dtype,
            casting,
            "stack",
        )
    return _join(parts, Shape.stack([part.shape for part in parts], mode=mode), mode, dtype, casting, "stack")


def _tensors(
    given: Iterable[object], name: str, axis: "SupportsIndex | None" = None
) -> list[TensorBase[Any]]:
    """Return the operands to join as tensors, at least one of which is a tensor.

    Arrays and lists have no origin: they get that of the first tensor, except along the mode `axis`.
    """
    values = list(given)
    read = [read_operand(value, name) for value in values]
    lists = [has_no_origin(value) for value in values]
    # Lists that became tensors have no origin, either.
    told = [own for own, is_list in zip(read, lists, strict=True) if not is_list]
    shape = first_tensor(told if any(map(is_tensor, told)) else read).shape.flatten()
    place = list(origin_of(shape)) or [0] * shape.rank
    if axis is not None and place:
        place[mode_of(axis, shape.rank)] = 0
    parts: list[TensorBase[Any]] = []
    for operand, is_list in zip(read, lists, strict=True):
        if isinstance(operand, TensorBase):
            moves = is_list and operand.shape.rank == len(place)
            parts.append(cast("Any", operand).translate_to(place) if moves else operand)
            continue
        rank = np.ndim(operand)
        origin = tuple(place) if rank == len(place) else (0,) * rank
        own = wrap(make_smooth(np.shape(operand), origin))
        if is_text(operand):
            buffer = strings_of(data_of(operand), [operand])
            parts.append(first_tensor(read)._make(packed_layout(own), buffer))
        else:
            parts.append(over_array(np.asarray(operand), own, read))
    if name == "concatenate" and any(not part.shape.rank for part in parts):
        raise ConversionError("np.concatenate: a tensor of rank 0 has no mode to be joined along")
    return parts


def _joined_shape(parts: "list[TensorBase[Any]]", mode: int) -> "Shape[Any] | None":
    """Return the shape of concatenated jagged parts; None for boxes, which NumPy handles."""
    shapes = [part.shape.flatten() for part in parts]
    for part in parts:
        if part.shape.rank != parts[0].shape.rank:
            raise ExtentMismatchError(f"concatenate: {part.shape!r} has not the rank of {parts[0].shape!r}")
    if all(shape.is_box for shape in shapes):
        for shape in shapes[1:]:
            for other, (extent, start) in enumerate(zip(shape.extents, shape.origin, strict=True)):
                if other != mode and (extent, start) != (shapes[0].extents[other], shapes[0].origin[other]):
                    raise ExtentMismatchError(
                        f"concatenate: mode {other} of {shape!r} is not that of {shapes[0]!r}"
                    )
        if any(part.shape.has_layers for part in parts):
            Shape.concat([part.shape for part in parts], mode=mode)  # which layers agree
        return None
    return Shape.concat([part.shape for part in parts], mode=mode)


def _join(
    parts: "list[TensorBase[Any]]",
    shape: "Shape[Any] | None",
    mode: int,
    dtype: _DType,
    casting: _Casting,
    name: str,
) -> TensorBase[Any]:
    """Return the elements of several tensors as one; of boxes by NumPy, of rows flat."""
    buffers = [part.buffer for part in parts]
    if any(buffer.sides is not None for buffer in buffers):
        return _join_with_nulls(parts, shape, mode, dtype, casting, name)
    if any((buffer.fill_value is not None or holds_strings(buffer.dtype)) for buffer in buffers):
        return _join_by_places(parts, shape, mode, dtype, name)
    if shape is None:
        common, arrays = _of_one_type([array_of(part) for part in parts], dtype, casting, name)
        with refusals(name):
            array = np.concatenate(arrays, axis=mode, dtype=common, casting="unsafe")
        return over_array(array, _box_of(parts, array.shape, name), parts)
    common, flats = _of_one_type([part.elements() for part in parts], dtype, casting, name)
    with refusals(name):
        if mode == 0:
            flat = np.concatenate(flats, dtype=common, casting="unsafe")
        else:
            flat = _row_by_row(flats, [part.shape.flatten() for part in parts], mode, common)
    return parts[0]._make(packed_layout(shape), Dense(cast("Any", flat)))


def _join_with_nulls(
    parts: "list[TensorBase[Any]]",
    shape: "Shape[Any] | None",
    mode: int,
    dtype: _DType,
    casting: _Casting,
    name: str,
) -> TensorBase[Any]:
    """Join values and their validity."""
    given: Any = parts
    values = _join([zero_filled(own) for own in given], shape, mode, dtype, casting, name)
    valid = _join([own.is_valid() for own in given], shape, mode, None, casting, name)
    sides = (own.buffer.pack(own.layout.implementation, own=False) for own in (values, valid))
    return parts[0]._make(packed_layout(values.shape), Nullable(*sides))


def _of_one_type(
    arrays: list[Array], dtype: _DType, casting: _Casting, name: str
) -> "tuple[np.dtype[Any], list[Array]]":
    """Return the given type, or the promoted type of arrays, and arrays that fit it."""
    common = to_dtype(dtype) if dtype is not None else promoted([array.dtype for array in arrays], name)
    for array in arrays:
        _check_casting(array.dtype, common, casting)
    checked = casting != "unsafe"
    return common, [convert_elements(array, common, checked=checked, copy=False) for array in arrays]


def _box_of(parts: "list[TensorBase[Any]]", extents: Extents, name: str) -> Shape[Any]:
    first = parts[0].shape.flatten()
    return OperandShapes.with_facts(
        wrap(make_smooth(extents, first.origin)), [part.shape for part in parts], name
    )


def _join_by_places(
    parts: "list[TensorBase[Any]]", shape: "Shape[Any] | None", mode: int, dtype: _DType, name: str
) -> TensorBase[Any]:
    """Join strings, or sparse elements, by where the elements of each part go in the result."""
    if dtype is not None:
        raise ConversionError(
            f"np.{name}: dtype= is not known for strings and sparse tensors; astype() converts"
        )
    order: IntArray
    befores = np.cumsum([0, *[part.shape.size for part in parts]])
    numbers: list[IntArray] = [np.arange(low, high) for low, high in pairwise(befores.tolist())]
    if shape is None:
        boxes = [own.reshape(part.shape.flatten().extents) for own, part in zip(numbers, parts, strict=True)]
        joined: IntArray = np.concatenate(boxes, axis=mode)
        shape, order = _box_of(parts, joined.shape, name), joined.reshape(-1)
    elif mode == 0:
        order = np.arange(int(befores[-1]))
    else:
        order = _row_by_row(numbers, [part.shape.flatten() for part in parts], mode, np.dtype(np.int64))
    buffers = [part.buffer for part in parts]
    if all(holds_strings(buffer.dtype) for buffer in buffers):
        if len({kind_of(part) for part in parts}) > 1:
            raise DTypeError(f"np.{name}: text is joined with text, and bytes with bytes")
        data = StringData.concat([data_of(part) for part in parts])
        return parts[0]._make(packed_layout(shape), strings_of(data.take(order), parts))
    if any(holds_strings(buffer.dtype) for buffer in buffers):
        raise DTypeError(f"np.{name}: strings and numbers have no type in common")
    if not all(buffer.fill_value is not None for buffer in buffers):
        raise ConversionError(f"np.{name}: sparse tensors are joined with sparse ones")
    sparse = cast("list[Sparse[Any]]", buffers)
    fills = np.array([buffer.fill_value for buffer in sparse])
    if not is_fill(fills, np.asarray(fills[0])).all():
        raise ConversionError(f"np.{name}: sparse tensors of one fill are joined, not of {fills.tolist()}")
    stored = [b.stored_of(t.layout.implementation) for t, b in zip(parts, sparse, strict=True)]
    at = np.concatenate([places + low for (places, _), low in zip(stored, befores[:-1], strict=True)])
    values = np.concatenate([found for _, found in stored])
    back: IntArray = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    going = back[at]
    rank = np.argsort(going)
    fill = np.asarray(fills[0]).astype(values.dtype)
    return parts[0]._make(packed_layout(shape), make_sparse(going[rank], values[rank], shape.size, fill))


def _row_by_row(
    flats: "Sequence[npt.NDArray[Any]]", shapes: "list[Shape[Any]]", mode: int, dtype: "np.dtype[_ScalarT]"
) -> "npt.NDArray[_ScalarT]":
    """Return the elements of rows joined row by row: each part is written where its rows go."""
    # Behind the last mode, each element is alone.
    below = [
        OperandShapes.splits_under(shape, mode) if mode < shape.rank else np.arange(shape.size + 1)
        for shape in shapes
    ]
    lengths = [np.diff(splits) for splits in below]
    starts = np.concatenate([[0], np.cumsum(np.sum(lengths, axis=0))])[:-1]
    flat: npt.NDArray[_ScalarT] = np.empty(sum(map(len, flats)), dtype)
    for values, splits, own in zip(flats, below, lengths, strict=True):
        flat[np.repeat(starts - splits[:-1], own) + np.arange(len(values))] = values
        starts = starts + own
    return flat


def _ndim(a: object) -> int:
    return a.shape.rank if isinstance(a, TensorCommon) else np.ndim(cast("Any", a))


def _shape(a: object) -> Extents:
    """Return the extents of a box or a sparse tensor, without reading an element."""
    if not isinstance(a, TensorCommon):
        return np.shape(cast("Any", a))
    shape = a.shape.flatten()
    if not shape.is_box:
        raise JaggedModeError(
            f"np.shape of {shape!r}: its rows have no common extents; `r.shape` has them all, "
            "`r.shape.as_smooth().extents` those of the box around them"
        )
    return shape.extents


def _size(a: object, axis: "int | tuple[int, ...] | None" = None) -> int:
    if not isinstance(a, TensorCommon):
        return np.size(cast("Any", a), cast("Any", axis))
    if axis is None:
        return a.shape.size
    modes = axis if isinstance(axis, tuple) else (axis,)
    return math.prod([a.shape.extent(mode_of(mode, a.shape.rank)) for mode in modes])


def _compress(condition: object, a: Any, axis: "SupportsIndex | None" = None, out: Any = None) -> object:  # noqa: ANN401 - as NumPy gives them
    """Return the elements, or slices along an axis, where a condition holds; a null selects nothing."""
    mask = np.asarray(read_mask(condition, "compress"))
    if mask.ndim != 1:
        raise RankError(f"np.compress: the condition is of one mode, not of {mask.ndim}")
    with refusals("np.compress"):
        return np.take(a, np.flatnonzero(mask), axis=axis, out=out)


def _extract(condition: object, arr: Any) -> object:  # noqa: ANN401 - as NumPy gives it
    """Return the elements of a box where a condition of as many holds; a null selects nothing."""
    places = np.flatnonzero(np.asarray(read_mask(condition, "extract")))
    with refusals("np.extract"):
        return np.take(arr, places)


def _astype(x: Any, dtype: npt.DTypeLike, /, *, copy: bool = True, device: object = None) -> object:  # noqa: ANN401, ARG001 - as NumPy gives them
    """Return elements of another type, by the rule of `Tensor.astype`."""
    made = x._as_operand().astype(dtype)
    return np.asarray(made) if made.shape.is_box and not made.is_nullable and not made.is_sparse else made


_OWN: "dict[Callable[..., Any], Callable[..., object]]" = {
    np.compress: _compress,
    np.extract: _extract,
    **({np.astype: _astype} if hasattr(np, "astype") else {}),  # NumPy 2.1
    np.ndim: _ndim,
    np.shape: _shape,
    np.size: _size,
    np.concatenate: _concatenate,
    np.stack: _stack,
    np.where: _where,
    np.isin: _isin,
}
