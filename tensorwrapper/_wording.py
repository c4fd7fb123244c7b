"""What errors and notebooks say: values on one line however large they are, and what works instead.

Users of other libraries ask for names and calls that are not here. A name that a class does not have is an
AttributeError, and a call that a function does not take a TypeError, as everywhere; the text goes on with
what has that meaning here. Who takes a shape for a tuple, or a mask for an array of bools, adds one to it, or
hands it to ``np.prod``, is told what has elements. What stands in backticks is code, and tests run it.
"""

import functools
import inspect
import itertools
import re
import reprlib
import warnings
from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import isfunction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

__all__ = [
    "ARRAY_NAMES",
    "Advising",
    "advice_of",
    "advice_on_setting",
    "advise",
    "advised",
    "answer_calls",
    "brief",
    "called_as",
    "escaped",
    "html_block",
    "no_array",
    "shortened",
    "warn_caller",
]

_C = TypeVar("_C", bound=type[object])
_F = TypeVar("_F", bound=Callable[..., object])

_MOST: Final = 120  # characters

_FUNCTIONS: Final = {
    "array asarray from_numpy from_array Array ndarray": "`tw.as_tensor([1, 2])`",
    "ones": "`tw.full((2, 3), 1.0)`, or without memory `sel.ones((2, 3))`",
    "zeros_like": "`tw.zeros(t.shape, dtype=t.dtype)`",
    "ones_like full_like": "`tw.full(t.shape, 1, dtype=t.dtype)`",
    "empty_like": "`tw.empty(t.shape, dtype=t.dtype)`",
    "arange": "`tw.as_tensor(np.arange(3))`, or `sel.iota((3,))`, which has no memory",
    "linspace": "`sel.linspace(0, 1, 5)`",
    "identity": "`tw.eye(3)`",
    "concatenate cat hstack vstack append": "`tw.concat([t, t])`, or `tw.concat([t, t], mode=1)`",
    "dstack column_stack": "`tw.stack([t, t], mode=2)`",
    "transpose swapaxes moveaxis": "`t.permute(1, 0)`",
    "reshape": "`t.reshape(3, 2)`",
    "ravel": "`t.flatten()`",
    "squeeze": "`t.squeeze()`",
    "expand_dims": "`t.unsqueeze(0)`",
    "broadcast_to": "`t.broadcast((5, 2, 3))`",
    "repeat": "`t.repeat_each(0, 2)` repeats every element",
    "tile": "`t.repeat((2, 1))` repeats the whole",
    "roll": "`t.rotate((1, 0))`",
    "flip": "`t.reverse(0)`",
    "take": "`t.gather(0, [1, 0])`",
    "pad": "`t.pad([(1, 1), (0, 0)])`",
    "split array_split": "`t.tiled(tw.Tiling([1, 1], [3]))` is cut into tiles",
    "sum": "NumPy computes: `np.add.reduce(t, axis=0)`",
    "mean std var dot matmul tensordot norm argmax argsort sort cumsum abs sqrt exp": (
        "NumPy computes on tensors: `np.mean(t)`, `np.sqrt(t)`, `t @ t.permute(1, 0)`"
    ),
    "min max prod any all": "NumPy computes: `np.maximum.reduce(t, axis=None)`",
    "einsum": "`tw.einsum_shape('ij,jk->ik', (2, 3), (3, 4))` plans, `np.einsum('ij->ji', t)` computes",
    "random": "`sel.random((2, 3), seed=1)`",
    "load read loadtxt": "`tw.open('f.tens')`",
    "savez dump": "`tw.save('f.tens', {'t': t})`",
    "View as_view": "`sel.as_view(t)`, where sel is tensorwrapper.selection",
    "float32 float64 int32 int64 bool_ complex128 dtype": "NumPy's: `tw.zeros((2,), dtype=np.float32)`",
    "newaxis": "`t[None]`",
    "array_equal": "`t.array_equal(t)`",
    "RaggedTensor ragged NestedTensor from_iter": "`tw.jagged([[1, 2], [3]])`",
    "to_list": "`t.tolist()`",
    "num": "`r.num(1)`",
    "flatten": "`t.flatten()`",
    "TiledRange TensorShape": "`tw.Tiling([1, 2], [3])`",
}


@functools.cache
def _advices() -> dict[str, str]:
    return {name: advice for words, advice in _FUNCTIONS.items() for name in words.split()}


def advice_of(name: str) -> str:
    """Return how an error goes on that says that the package has no such function: what is there instead.

    Examples
    --------
    >>> advice_of("arange"), advice_of("no_such_name")
    (': `tw.as_tensor(np.arange(3))`, or `sel.iota((3,))`, which has no memory', '')
    """
    advice = _advices().get(name)
    return "" if advice is None else f": {advice}"


_HERE: Final = str(Path(__file__).parent)


def warn_caller(text: str, category: type[Warning]) -> None:
    """Warn at the innermost line that is not of this package, where users look for what they wrote."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith((_HERE, "<attrs")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


class _Absent:
    """A name that is not there: whoever asks for it is told so, and what to ask for.

    A ``__getattr__`` would do, but with one Python looks up every other attribute of the class slowly.
    """

    __slots__ = ("_advice", "_name")

    def __init__(self, name: str, advice: str) -> None:
        self._name, self._advice = name, advice

    def __get__(self, value: object, owner: type[object]) -> object:
        who = f"type object {owner.__name__!r}" if value is None else f"{owner.__name__!r} object"
        raise AttributeError(f"{who} has no attribute {self._name!r}: {self._advice}")


class Advising(ABCMeta):
    """The kind of classes that know names of other libraries; `dir` and Tab do not show these."""

    def __dir__(cls) -> list[str]:
        absent = {
            name for base in cls.__mro__ for name, own in vars(base).items() if isinstance(own, _Absent)
        }
        return [name for name in super().__dir__() if name not in absent or hasattr(cls, name)]


def advised(names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield every name of a table of names, and what is said of it.

    An entry may hold several names with blanks between them; ``{name}`` in what is said stands for each.

    Examples
    --------
    >>> list(advised({"sin cos": "`np.{name}(x)`"}))
    [('sin', '`np.sin(x)`'), ('cos', '`np.cos(x)`')]
    """
    for words, advice in names.items():
        for name in words.split():
            yield name, advice.replace("{name}", name)


def advise(names: Mapping[str, str]) -> Callable[[_C], _C]:
    """Return a decorator by which a class knows names that it does not have, and what to say of each.

    A table as `advised` takes it. What has the name all the same, also in a class further down, is found as
    ever.

    Examples
    --------
    >>> @advise({"T mT": "`x.permute(1, 0)`"})
    ... class Matrix(metaclass=Advising):
    ...     pass
    >>> hasattr(Matrix(), "T"), "T" in dir(Matrix)
    (False, False)
    >>> Matrix().T
    Traceback (most recent call last):
    AttributeError: 'Matrix' object has no attribute 'T': `x.permute(1, 0)`
    """

    def decorate(cls: _C) -> _C:
        known = {name for base in cls.__mro__ for name in vars(base)}
        for name, advice in advised(names):
            if name not in known:
                setattr(cls, name, _Absent(name, advice))
        return cls

    return decorate


def advice_on_setting(cls: type[object], name: str) -> str:
    """Return how an error goes on that says that an attribute cannot be set: what is done instead.

    It is what is said of the name, or what stands for it in the class's ``_ON_SETTING``.

    Examples
    --------
    >>> @advise({"T": "`x.permute(1, 0)`"})
    ... class Matrix(metaclass=Advising):
    ...     _ON_SETTING = {"shape": "`x.reshape(3, 2)`"}
    >>> advice_on_setting(Matrix, "T"), advice_on_setting(Matrix, "shape"), advice_on_setting(Matrix, "x")
    (': `x.permute(1, 0)`', ': `x.reshape(3, 2)`', '')
    """
    own: Mapping[str, str] = getattr(cls, "_ON_SETTING", {})
    absent = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
    advice = absent._advice if isinstance(absent, _Absent) else own.get(name)
    return "" if advice is None else f": {advice}"


def called_as(usage: str) -> Callable[[_F], _F]:
    """Return a decorator by which a call that a function does not take is answered by how it is called.

    Examples
    --------
    >>> @called_as("`double(2)`")
    ... def double(number):
    ...     return 2 * number
    >>> double(2, axis=0)
    Traceback (most recent call last):
    TypeError: double() got an unexpected keyword argument 'axis': `double(2)`
    """

    def decorate(function: _F) -> _F:
        if TYPE_CHECKING:
            return function

        @functools.wraps(function)
        def call(*given: object, **named: object) -> object:
            try:
                return function(*given, **named)
            except TypeError as error:
                # An error from within has further frames; this one is of the call itself.
                trace = error.__traceback__
                if trace is None or trace.tb_next is not None:
                    raise
                # Python names the class that has the method, which is no class that users know.
                text = str(error).replace(function.__qualname__, function.__name__)
                raise TypeError(f"{text}: {usage}") from None

        return call

    return decorate


def answer_calls(cls: type[object], usages: Mapping[str, str]) -> None:
    """Let methods of a class answer calls that they do not take by how they are called: `called_as` for many.

    A table as `advised` takes it; names that the class does not have are passed over. It is called on a
    finished class, because checkers must see its methods as they stand there.
    """
    for name, usage in advised(usages):
        # Not inspect.getattr_static, which looks for more than that and took a fiftieth of an import.
        held: Any = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
        makes = isinstance(held, classmethod)
        function: Any = cast("Any", held).__func__ if makes else held
        if isfunction(function):
            call: Any = called_as(usage)(cast("Any", function))
            setattr(cls, name, classmethod(call) if makes else call)


ARRAY_NAMES: Final = (
    "abs all amax amin any argmax argmin argpartition argsort argwhere array_equal assign astype attrs "
    "base broadcast byteswap ceil cells choose clip clone compress compute conj conjugate contains copy "
    "count counts cpu ctypes cuda cumprod cumsum data detach device diagonal diff dot dtype dump dumps "
    "element exp expand_dims fields fill fillna flags flat flatten flip floor gather getfield head imag "
    "isin isnull item itemsize layout load local_index log map mask masked_select max mean median "
    "merge_modes min name named nbytes ndim nonzero norm num numpy oindex pad pad_rows partition "
    "permute prod ptp put ravel real repeat reshape resize reverse roll rotate round row_lengths rows "
    "scatter searchsorted select setfield setflags show size sliding_window sort split sqrt squeeze std "
    "strides sum swapaxes tail take tile tiled to to_device to_list to_numpy to_padded to_pandas "
    "to_scipy to_torch to_xarray tobytes tofile tolist tostring trace translate_to transpose type "
    "unique unsqueeze values var view vindex where window"
)
"""What arrays and tensors have, and other values may be asked for."""

_BINARY: Final = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
}
_ORDERS: Final = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNARY: Final = {"neg": "-", "pos": "+", "invert": "~", "abs": "abs()", "round": "round()", "index": "int()"}
# Other libraries' classes may know what to do beside ours.
_PLAIN: Final = {"builtins", "numpy", "tensorwrapper"}


def no_array(
    what: str, names: Mapping[str, str], operators: Mapping[str, str] | None = None
) -> Callable[[_C], _C]:
    """Return a decorator for a class whose values have no elements, but are asked as if they had.

    Parameters
    ----------
    what
        What the values are, and what has elements: said of names of arrays, operators and NumPy's functions.
    names
        Other names that are asked for, as `advise` takes them.
    operators
        What is said of single operators, by their signs; ``"else"`` stands for all others.

    Examples
    --------
    >>> @no_array("pairs have no elements", {}, {"+": "`pair.join(other)`"})
    ... class Pair(metaclass=Advising):
    ...     pass
    >>> Pair() + Pair()
    Traceback (most recent call last):
    TypeError: unsupported operand type(s) for +: 'Pair' and 'Pair': `pair.join(other)`
    >>> Pair().sum()
    Traceback (most recent call last):
    AttributeError: 'Pair' object has no attribute 'sum': pairs have no elements
    """
    said = operators or {}
    other = said.get("else", what)

    def decorate(cls: _C) -> _C:
        advise(names)(cls)
        advise({ARRAY_NAMES: what})(cls)
        for word, sign in _BINARY.items():
            setattr(cls, f"__{word}__", _between(sign, said.get(sign, other)))
            setattr(cls, f"__r{word}__", _between(sign, said.get(sign, other), swapped=True))
        for word, sign in _ORDERS.items():
            setattr(cls, f"__{word}__", _between(sign, said.get(sign, other)))
        for word, sign in _UNARY.items():
            setattr(cls, f"__{word}__", _before(sign, said.get(sign, other)))
        options: Any = {"__array_ufunc__": None, "__array_function__": _function(what)}
        for name, value in options.items():
            setattr(cls, name, value)
        return cls

    return decorate


def _between(sign: str, advice: str, *, swapped: bool = False) -> Callable[[object, object], object]:
    def refuse(self: object, other: object) -> object:
        kind = type(other)
        if kind is not type(self) and kind.__module__.partition(".")[0] not in _PLAIN:
            return NotImplemented
        left, right = (kind, type(self)) if swapped else (type(self), kind)
        raise TypeError(
            f"unsupported operand type(s) for {sign}: {left.__name__!r} and {right.__name__!r}: {advice}"
        )

    return refuse


def _before(sign: str, advice: str) -> Callable[..., object]:
    def refuse(self: object, *_: object) -> object:
        raise TypeError(f"bad operand type for {sign}: {type(self).__name__!r}: {advice}")

    return refuse


def _function(what: str) -> Callable[..., object]:
    def refuse(
        self: object, func: Callable[..., object], types: object, args: object, kwargs: object
    ) -> object:
        del types, args, kwargs
        raise TypeError(f"np.{func.__name__} of a {type(self).__name__}: {what}")

    return refuse


def shortened(text: str) -> str:
    r"""Return a text on one line, of a long one its beginning and its end.

    Examples
    --------
    >>> shortened("two\n   lines"), len(shortened("x" * 10**6))
    ('two lines', 163)
    """
    if len(text) > 4 * _MOST:
        text = f"{text[: 3 * _MOST]}{text[-_MOST:]}"  # Words are looked for in what may be shown.
    line = " ".join(text.split()) if "\n" in text else text
    return line if len(line) <= 2 * _MOST else f"{line[:_MOST]}...{line[-_MOST // 3 :]}"


class _Quoting(reprlib.Repr):
    """Texts of values, of whose items and characters only the first and the last are asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = self.maxarray = 12
        self.maxdict = 6
        self.maxstring = _MOST

    def repr_bytes(self, value: bytes, level: int) -> str:  # noqa: ARG002
        """Return the text of bytes, which are cut before it is made."""
        return repr(value) if len(value) <= _MOST else f"{value[:_MOST]!r}..."

    def repr_dict(self, x: dict[object, object], level: int) -> str:
        """Return the text of a mapping in the order that it has."""
        items = itertools.islice(x.items(), self.maxdict)
        parts = [f"{self.repr1(key, level - 1)}: {self.repr1(value, level - 1)}" for key, value in items]
        return f"{{{', '.join(parts)}{', ...' * (len(x) > self.maxdict)}}}"

    def repr_int(self, x: int, level: int) -> str:  # noqa: ARG002
        """Return the text of a number; Python refuses to write one of thousands of digits."""
        return repr(x) if x.bit_length() <= 4 * _MOST else f"<integer of {x.bit_length()} bits>"

    def repr_instance(self, x: object, level: int) -> str:  # noqa: ARG002
        """Return the text of anything else on one line: that of an array has many."""
        return shortened(repr(x))


_QUOTING: Final = _Quoting()


def brief(value: object) -> str:
    """Return the text of a value on one line, of a large one its beginning and its end.

    Examples
    --------
    >>> brief([1, 2]), brief("a")
    ('[1, 2]', "'a'")
    >>> brief(list(range(10**6)))
    '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...]'
    """
    return shortened(_QUOTING.repr(value))


_TURNED: Final = "filter:invert(.9) hue-rotate(180deg)"
# Notebooks and pages say in their own ways that they are dark; where they say nothing, the system does.
_STYLE: Final = (
    ".tensorwrapper .tensorwrapper-picture{filter:none}"
    f"html[theme=dark] .tensorwrapper,body[data-theme=dark] .tensorwrapper,body.vscode-dark .tensorwrapper,"
    f"body[data-jp-theme-light=false] .tensorwrapper{{{_TURNED}}}"
    "@media (prefers-color-scheme:dark){body:not([data-theme=light]):not(.vscode-light)"
    f":not([data-jp-theme-light=true]) .tensorwrapper{{{_TURNED}}}}}"
)
_FACTS: Final = 12  # rows of a table


@functools.cache
def _not_xml() -> re.Pattern[str]:
    """Return what XML 1.0 cannot hold, not even escaped: a text with one of them would spoil the document.

    So many characters take milliseconds to compile, and few programs draw.
    """
    return re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escaped(text: str) -> str:
    """Return a text as HTML and SVG hold it, whoever wrote it.

    Examples
    --------
    >>> escaped("<b> & co")
    '&lt;b&gt; &amp; co'
    """
    from html import escape  # noqa: PLC0415 - two thousand names of characters, for pictures alone

    return escape(_not_xml().sub("\ufffd", text))


def html_block(text: str, facts: Iterable[tuple[str, str]] = (), picture: str = "") -> str:
    """Return a text, a table of facts and a picture as one block, which needs nothing from elsewhere.

    It is as wide as its cell at most, and dark in notebooks and pages that are.
    """
    cell = "padding:1px 14px 1px 0;text-align:left;border:none;background:none;overflow-wrap:anywhere"
    facts = list(facts)
    if len(facts) > _FACTS:
        facts = [*facts[: _FACTS - 1], ("", f"and {len(facts) - _FACTS + 1} more")]
    rows = [
        f'<tr style="background:none"><th style="{cell};color:#66707c;font-weight:normal">'
        f"{escaped(name)}</th>"
        f'<td style="{cell};color:#1f2933">{escaped(value)}</td></tr>'
        for name, value in facts
    ]
    table = "border:none;margin:6px 0;font-size:12px;border-collapse:collapse;max-width:100%"
    frame = (
        "display:inline-block;box-sizing:border-box;max-width:100%;overflow-x:auto;padding:8px 12px;"
        "font:12px system-ui,sans-serif;border:1px solid #d5dae0;background:#ffffff;color:#1f2933"
    )
    code = "color:#1f2933;background:none;white-space:pre-wrap;overflow-wrap:anywhere"
    lines = [
        f'<div class="tensorwrapper" style="{frame}"><style>{_STYLE}</style>',
        f'<code style="{code}">{escaped(text)}</code>',
        *([f'<table style="{table}">', *rows, "</table>"] if rows else []),
        # Below the text also where no table stands between.
        *([f"<div>{picture}</div>"] if picture else []),
        "</div>",
    ]
    return "\n".join(lines)
