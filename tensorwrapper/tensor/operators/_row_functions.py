"""NumPy's functions along rows: the methods that rows have, by NumPy's names."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np

from tensorwrapper._error_text import warn_caller
from tensorwrapper.buffer import Dense, Nullable
from tensorwrapper.buffer.lowlevel import holds_strings, packed_layout
from tensorwrapper.errors import ConversionError, ExtentError, JaggedModeError
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import mode_of
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._elementwise import flat_operands, over_array
from tensorwrapper.tensor.operators._one_kind import fitting_initial
from tensorwrapper.tensor.operators._operand import read_where
from tensorwrapper.tensor.operators._promotion import check_elements_computed_in
from tensorwrapper.tensor.operators._reductions import METHODS, axes_of, finished, reduced_shape
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.rows._nulls import sides_of
from tensorwrapper.tensor.rows._row_facts import row_splits
from tensorwrapper.typing import Array, Extents

REDUCTIONS: Final[dict[str, np.ufunc]] = {
    "sum": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "amax": np.maximum,
    "min": np.minimum,
    "amin": np.minimum,
    "any": np.logical_or,
    "all": np.logical_and,
}
_RUNNING: Final = {"cumsum": np.add, "cumprod": np.multiply}
_SPREAD: Final = ("mean", "std", "var", "median", "quantile", "percentile")
_NUMBERS: Final = {"argmax", "argmin", "ptp", "count_nonzero", *_SPREAD}
_ROWS: Final = {"sort", "argsort", "diff"}
EXTREMES: Final = ("max", "min", "amax", "amin")
ORDERED: Final = ("sort", "argsort", "argmax", "argmin")
"""Functions along rows that put strings in order, nulls last."""
_WITHOUT_NAN: Final = {
    f"nan{name}": name for name in ("sum", "prod", "max", "min", "argmax", "argmin", *_RUNNING, *_SPREAD)
}

_OF_EMPTY: Final = {"max", "amax", "min", "amin", "argmax", "argmin", "ptp"}

ROW_FUNCTIONS: Final = frozenset({*REDUCTIONS, *_RUNNING, *_NUMBERS, *_ROWS, *_WITHOUT_NAN})
"""Names of NumPy functions that work along rows."""

_UNSET: Final = inspect.signature(np.max).parameters["keepdims"].default
"""Default of NumPy's parameters without a value."""
_LOST: Final = {"m": np.timedelta64("NaT"), "M": np.datetime64("NaT")}
_READ: Final = {"a", "axis", "out", "keepdims", "where"}
_OPTIONS: Final[dict[str, set[str]]] = {
    **{name: {"dtype", "initial"} for name in REDUCTIONS},
    **{name: {"dtype"} for name in _RUNNING},
    "sort": {"kind", "stable"},
    "argsort": {"kind", "stable"},
    "diff": {"n"},
    "var": {"ddof", "correction"},
    "std": {"ddof", "correction"},
    "median": {"overwrite_input"},
    "quantile": {"q", "overwrite_input"},
    "percentile": {"q", "overwrite_input"},
}


def call_along_rows(
    function: Callable[..., Any], arguments: "tuple[Any, ...]", options: dict[str, Any]
) -> object:
    """Return the result of a function of NumPy for the rows of its first argument, or for all elements.

    Raises
    ------
    ConversionError
        If the axis is neither the last mode nor None, or an option has no meaning for rows.
    """
    short = function.__name__
    name = f"np.{short}"
    with refusals(name):
        bound = inspect.signature(function).bind(*arguments, **options)
        bound.apply_defaults()
    given = dict(bound.arguments)
    base = _WITHOUT_NAN.get(short, short)
    kept = _kept_extents(given)
    if kept is not None:
        out = given.get("out")
        # Those that are given without a value are the defaults.
        rest = {key: own for key, own in given.items() if key not in ("out", "keepdims")}
        found: Any = call_along_rows(function, (), rest)
        tensor = found if isinstance(found, TensorBase) else None
        if tensor is None and out is None:
            return np.reshape(found, kept)
        whole = over_array(np.asarray(found).reshape(kept), Shape(*kept), [given["a"]._as_operand()])
        return finished(whole if tensor is None else cast("Any", tensor).reshape(kept), out, name)
    _check_options(function, given, _OPTIONS.get(base, set()), name)
    if base in ("sort", "argsort"):
        # One order serves all kinds; NumPy says which kinds there are.
        with refusals(name):
            function(np.zeros(0), kind=given["kind"], stable=given["stable"])
    is_of_text = base in EXTREMES and base == short and holds_strings(given["a"].dtype)
    if is_of_text:
        _check_options_of_text(given, name)
    if not isinstance(given["a"], TensorBase):
        lazy = _when_computed(function, base, given)
        if lazy is not None:
            return lazy
    return _extreme_text(base, given, name) if is_of_text else _called(function, given)


def _kept_extents(given: dict[str, Any]) -> Extents | None:
    """Return the extents of the result of a box whose reduced modes are kept; None without ``keepdims=``."""
    keepdims, shape = given.get("keepdims", _UNSET), given["a"].shape.flatten()
    if keepdims is _UNSET or not keepdims or not shape.is_box:
        return None
    gone = range(shape.rank) if given["axis"] is None else axes_of(given["axis"], shape.rank)
    # Several quantiles are along a mode in front.
    return (*np.shape(given.get("q", 0)), *[1 if own in gone else n for own, n in enumerate(shape.extents)])


def _called(function: Callable[..., Any], given: dict[str, Any]) -> object:
    """Return the result of a function of rows, or of all elements, which are read now."""
    short = function.__name__
    name, base, tensor = f"np.{short}", _WITHOUT_NAN.get(short, short), given["a"]._as_operand()
    is_text = holds_strings(tensor.dtype)
    if given["axis"] is None:
        in_one_row = (*_ROWS, *_RUNNING) if tensor.buffer.sides is not None else ()
        if base not in (ORDERED if is_text else in_one_row):
            return _of_all_elements(function, tensor, given, name)
        # All elements are one row.
        buffer = tensor.buffer.pack(tensor.layout.implementation, own=False)
        tensor, given["axis"] = tensor._make(packed_layout(Shape(buffer.size)), buffer), -1
    lost, extreme = base != short, base in ("max", "min")
    if base in _RUNNING:
        return _running(base, tensor, given, lost=lost)
    if base in REDUCTIONS and not lost:
        return _reduced(base, tensor, given)
    tensor = _marked(tensor, given.pop("where", True), name)
    found: Any
    plain = tensor.buffer.sides is None
    if extreme and lost and tensor.dtype.kind in "fcmMV":
        return finished(_extreme_without_nan(base, tensor, given, name), given["out"], name)
    if plain and lost and base in ("argmax", "argmin") and tensor.dtype.kind in "fcV":
        found = _places_without_nan(base, _rows_under(tensor, given["axis"], name)._here(), given)
        return finished(found, given["out"], name)
    if lost and tensor.dtype.kind in ("fcV" if plain else "fcmMV"):
        tensor = _without_nan(tensor)
    if base in REDUCTIONS and not extreme:
        return _reduced(base, tensor, given)
    if base in _ROWS:
        found = _along(base, tensor, given, name)
    else:
        found = _number(base, _rows_under(tensor, given["axis"], name), given, lost=lost)
    return finished(found, given.get("out"), name)


def _check_options_of_text(given: dict[str, Any], name: str) -> None:
    unused = {"initial": None, "keepdims": False, "out": None, "where": True}
    # By identity, because a mask may be a tensor.
    odd = [
        key for key, own in unused.items() if not any(given.get(key, _UNSET) is no for no in (own, _UNSET))
    ]
    if odd:
        raise ConversionError(f"{name} of strings has no {odd[0]}=")


def _extreme_text(base: str, given: dict[str, Any], name: str) -> object:
    """Return the greatest or the least string of each row, or of all; nulls do not count."""
    tensor, which = given["a"]._as_operand(), base.removeprefix("a")
    if given["axis"] is not None:
        return _number(which, _rows_under(tensor, given["axis"], name), given, lost=False)
    place = _called(getattr(np, f"arg{which}"), {"a": tensor, "axis": None, "out": None, "keepdims": _UNSET})
    return tensor.elements()[int(cast("Any", place))]


def _extreme_without_nan(base: str, tensor: Any, given: dict[str, Any], name: str) -> Any:  # noqa: ANN401
    """Return the extreme of each row, as if NaN were not there.

    Rows of NaN alone have NaN, with NumPy's warning; empty rows are treated as by `max` and `min`.
    """
    rows, may_lack = _rows_under(tensor, given["axis"], name), given["initial"] is _UNSET
    if may_lack and not rows.count().elements().all():
        return _number(base, rows, given, lost=False)
    found = _number(base, _rows_under(_without_nan(tensor), given["axis"], name), given, lost=True)
    if may_lack and not np.equal(found, found).elements().all():
        warn_caller("All-NaN slice encountered", RuntimeWarning)
    return found


def _when_computed(function: Callable[..., Any], base: str, given: dict[str, Any]) -> object:
    """Return a view of the results for the rows of a view; None if the function must read all of it now."""
    view, last = given["a"], given["a"].shape.flatten().rank - 1
    told = {"out": None, "keepdims": False, "where": True}
    # By identity, because a mask may be a tensor.
    is_whole = all(given.get(key, own) is own or given[key] is _UNSET for key, own in told.items())
    if base == "diff" or not is_whole:
        return None
    if last < 0 or given["axis"] not in (-1, last):
        return None
    rows = view.rows()
    has_none = base in _OF_EMPTY and given.get("initial", _UNSET) is _UNSET
    if has_none and (base != function.__name__ or rows.may_refuse()):
        return None
    options = {key: own for key, own in given.items() if key != "a" and own is not _UNSET}
    call = functools.partial(function, **{**options, "axis": -1})
    return cast("object", rows.computed(call, keeps=base in _ROWS or base in _RUNNING))


def _of_all_elements(function: Callable[..., Any], tensor: Any, given: dict[str, Any], name: str) -> object:  # noqa: ANN401 - of any rank
    """Return the result of a function of NumPy for all elements that ``where=`` marks, without nulls."""
    tensor = _marked(tensor, given.pop("where", True), name)
    out = given.pop("out", None)
    options = {key: own for key, own in given.items() if key != "a" and own is not _UNSET}
    is_plain = tensor.buffer.sides is None
    elements: Array
    if is_plain:
        elements = tensor.elements()
    else:
        held = tensor.layout.implementation
        valid = tensor.buffer.valid_of(held)
        elements = tensor.buffer.sides[0].elements_of(held)[valid]
    if options.get("initial") is not None and elements.dtype.kind in "biufcmM":
        short, asked = function.__name__, options.get("dtype")
        with refusals(name):
            options["initial"] = fitting_initial(short, options["initial"], elements.dtype, asked)
    if options.get("dtype") is not None:
        check_elements_computed_in(elements, options["dtype"], name)
    with refusals(name):
        found = function(elements, **options)
    if not is_plain and function.__name__.endswith(("argmax", "argmin")):
        found = np.flatnonzero(valid)[found]
    if out is None:
        return found
    return finished(over_array(np.asarray(found), Shape(*np.shape(found)), [tensor]), out, name)


def _check_options(function: Callable[..., Any], given: dict[str, Any], known: set[str], name: str) -> None:
    """Raise for an option that is given and has no meaning here."""
    for key, own in inspect.signature(function).parameters.items():
        value = given[key]
        unused = key in _READ or key in known or value is own.default
        if not unused and not (isinstance(value, str | bool) and value == own.default):
            raise ConversionError(f"{name} along rows has no {key}=")
    keepdims = given.get("keepdims", False)
    if keepdims is not _UNSET and keepdims and not name.endswith(("argmax", "argmin")):
        raise ConversionError(f"{name}: keepdims of rows; one number per row combines with them as it is")


def _without_nan(tensor: Any) -> Any:  # noqa: ANN401 - of any rank
    """Return rows without NaN; if elements may be nulls, NaN is replaced by them, and keeps its position."""
    if tensor.buffer.sides is None:
        return tensor[tensor == tensor]  # noqa: PLR0124 - NaN is not equal to itself
    plain, valid = sides_of(tensor)
    values = plain.buffer.pack(plain.layout.implementation, own=False)
    flat = values.read_run(0, values.size)
    marks = Dense(valid & (flat == flat))  # noqa: PLR0124
    return tensor._make(packed_layout(tensor.shape), Nullable(values, marks))


def _identity_for_nan(base: str, tensor: TensorBase[Any]) -> "Dense[Any] | Nullable[Any]":
    """Return the elements with NaN replaced by the identity of the function."""
    sides, held = tensor.buffer.sides, tensor.layout.implementation
    flat = (tensor.buffer if sides is None else sides[0]).elements_of(held)
    made = Dense(np.where(flat == flat, flat, flat.dtype.type(_RUNNING[base].identity)))  # noqa: PLR0124
    return made if sides is None else Nullable(made, Dense(tensor.buffer.valid_of(held)))


def _marked(tensor: Any, where: object, name: str) -> Any:  # noqa: ANN401 - of any rank
    """Return the elements of rows that a mask marks; if they may be nulls, the others as nulls."""
    if where is True or where is _UNSET:
        return tensor
    marks = np.asarray(flat_operands([read_where(where, name)], tensor, name)[0])
    every = np.broadcast_to(marks, (tensor.shape.size,))
    if tensor.buffer.sides is not None:
        values = tensor.buffer.sides[0].pack(tensor.layout.implementation, own=False)
        there = Dense(cast("Any", sides_of(tensor)[1] & every))
        return tensor._make(packed_layout(tensor.shape), Nullable(values, there))
    flat = tensor._flat()
    return flat[flat._make(packed_layout(flat.shape), Dense(cast("Any", every)))]


def _along(base: str, tensor: Any, given: dict[str, Any], name: str) -> Any:  # noqa: ANN401 - a tensor
    """Return the result of a function along an axis, which a box has others than the last of."""
    axis, shape = given["axis"], tensor.shape.flatten()
    if not shape.is_box or axis in (-1, shape.rank - 1):
        _check_last(axis, tensor, name)
        return _each(base, tensor, given, name)
    mode = mode_of(axis, shape.rank)
    order = [*(own for own in range(shape.rank) if own != mode), mode]
    back = sorted(range(shape.rank), key=order.__getitem__)
    return _each(base, tensor._flat().permute(order), given, name).permute(back)


def _check_last(axis: object, tensor: TensorBase[Any], name: str) -> None:
    rank = tensor.shape.flatten().rank
    if axis not in (-1, rank - 1):
        raise ConversionError(
            f"{name}: axis={axis!r} of {tensor.shape!r} does not go along rows: axis=-1 does"
        )


def _rows_under(tensor: Any, axis: object, name: str) -> Any:  # noqa: ANN401 - of any rank
    """Return rows that have all elements of a trailing run of modes."""
    flat = tensor._flat()
    if flat.shape.is_box and flat.shape.rank:
        gone = axes_of(axis, flat.shape.rank)
        if not gone:
            # Each element is a row.
            return flat.reshape((*flat.shape.extents, 1)).rows()
        order = [mode for mode in range(flat.shape.rank) if mode not in gone]
        flat = flat._make(flat.layout.permute((*order, *sorted(gone))), flat.buffer)
        axis = tuple(range(len(order), flat.shape.rank))
    try:
        kept = reduced_shape(flat.shape, axis, name).rank
    except JaggedModeError as error:
        raise ConversionError(str(error)) from error
    for mode in range(flat.shape.rank - 1, kept, -1):
        flat = flat.flatten(mode)
    return flat.rows()


def _reduced(base: str, tensor: TensorBase[Any], given: dict[str, Any]) -> object:
    known = ("axis", "out", "dtype", "initial", "where")
    options = {key: given[key] for key in known if given.get(key, _UNSET) is not _UNSET}
    return METHODS["reduce"](REDUCTIONS[base], (tensor,), options)


def _running(base: str, tensor: TensorBase[Any], given: dict[str, Any], *, lost: bool) -> object:
    dtype = given["dtype"]
    if lost and tensor.dtype.kind in "fcV":
        tensor = tensor._make(packed_layout(tensor.shape), _identity_for_nan(base, tensor))
    if dtype is None and tensor.dtype.kind in "biu":
        # As NumPy's functions do it: small integers become ones that hold their sums.
        dtype = np.add.reduce(np.zeros(1, tensor.dtype)).dtype
    options = {"axis": given["axis"], "dtype": dtype, "out": given["out"]}
    return METHODS["accumulate"](_RUNNING[base], (tensor,), options)


def _each(base: str, tensor: Any, given: dict[str, Any], name: str) -> Any:  # noqa: ANN401 - a tensor
    if base != "diff":
        return getattr(tensor.rows(), base)()
    count = given["n"]
    if not isinstance(count, int) or count < 0:
        raise ConversionError(f"{name}: n= is a number of times, not {count!r}")
    for _ in range(count):
        tensor = tensor.rows().diff()
    return tensor


def _places_without_nan(base: str, tensor: Any, given: dict[str, Any]) -> Any:  # noqa: ANN401 - a tensor
    """Return where the extremes of rows are that are not NaN, counted among all elements of a row."""
    marks = tensor == tensor  # noqa: PLR0124 - NaN is not equal to itself
    kept = tensor[marks]
    found = _number(base, kept.rows(), given, lost=True)
    splits = row_splits(kept.shape)
    places = splits[:-1][np.diff(splits) > 0] + found.elements()
    return found._make(packed_layout(found.shape), Dense(tensor.local_index()[marks].elements()[places]))


def _number(base: str, rows: Any, given: dict[str, Any], *, lost: bool) -> Any:  # noqa: ANN401 - a tensor
    options: dict[str, Any] = {}
    if base in ("argmax", "argmin") and given["keepdims"] is not _UNSET:
        options["keepdims"] = bool(given["keepdims"])
    if base in ("var", "std"):
        correction = given.get("correction", _UNSET)
        options["ddof"] = given["ddof"] if correction is _UNSET else correction
    if base in ("quantile", "percentile"):
        share = given["q"]
        if np.ndim(share):
            raise ConversionError(f"np.{base} along rows takes one q=, not {len(share)}")
        with refusals(f"np.{base}"):
            share = share / 100 if base == "percentile" else share
        return rows.quantile(share)
    if lost and base in ("max", "min"):
        kind = rows._here().dtype.kind
        if given["initial"] is not _UNSET:
            options["initial"] = given["initial"]
        elif kind in "fcmMV":
            options["empty"] = _LOST.get(kind, np.nan)
    try:
        return getattr(rows, base)(**options)
    except ExtentError as error:
        # NumPy's functions have no `empty=`.
        head, is_text = str(error).partition(";")[0], base in EXTREMES and holds_strings(rows._here().dtype)
        empty = "None" if is_text else "-1"
        raise ExtentError(f"np.{head}; `r.rows().{base}(empty={empty})` sets its result") from error
