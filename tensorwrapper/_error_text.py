"""Values as text on one line, however large they are: for errors, representations and HTML."""

import functools
import inspect
import itertools
import os
import re
import reprlib
import warnings
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

_MOST: Final = 120  # characters

_HERE: Final = os.path.dirname(__file__)  # noqa: PTH120 - pathlib takes longer to import than this module


def warn_caller(text: str, category: type[Warning]) -> None:
    """Warn at the innermost line that is not of this package, that is, in the user's code."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith((_HERE, "<attrs")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def counted(count: int, what: str) -> str:
    """Return a count with its noun, in the plural unless the count is one.

    Examples
    --------
    >>> counted(1, "tensor"), counted(1200, "tensor")
    ('1 tensor', '1200 tensors')
    >>> counted(2, "entry")
    '2 entries'
    """
    if count != 1:
        what = f"{what[:-1]}ies" if what.endswith("ry") else f"{what}s"
    return f"{count} {what}"


def with_article(noun: str) -> str:
    """Return a noun after ``a`` or ``an``, by its first letter.

    Examples
    --------
    >>> with_article("Tensor"), with_article("int")
    ('a Tensor', 'an int')
    """
    return f"{'an' if noun[:1] in 'aeiouAEIOU' else 'a'} {noun}"


def shortened(text: str) -> str:
    r"""Return a text on one line, of a long one its beginning and its end; control characters are escaped.

    Examples
    --------
    >>> shortened("two\n   lines"), len(shortened("x" * 10**6))
    ('two lines', 163)
    >>> print(shortened("\x1b[31mred"))
    \x1b[31mred
    """
    if len(text) > 4 * _MOST:
        text = f"{text[: 3 * _MOST]}{text[-_MOST:]}"  # Only these parts can be shown.
    line = " ".join(text.split()) if "\n" in text else text
    if not line.isprintable():
        line = "".join([sign if sign.isprintable() else repr(sign)[1:-1] for sign in line])
    return line if len(line) <= 2 * _MOST else f"{line[:_MOST]}...{line[-_MOST // 3 :]}"


def type_text(dtype: "np.dtype[Any]") -> str:
    """Return the name of a type of elements, as displays and errors say it.

    Examples
    --------
    >>> import numpy as np
    >>> type_text(np.dtype("f4")), type_text(np.dtypes.StringDType(na_object=None))
    ('float32', 'nullable string')
    """
    if dtype.kind != "T":
        return str(dtype)
    return "nullable string" if hasattr(dtype, "na_object") else "string"


class _Quoting(reprlib.Repr):
    """Texts of values that read only their first and last items and characters."""

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


@functools.cache
def _not_xml() -> re.Pattern[str]:
    """Return a pattern of characters that XML 1.0 cannot represent, not even escaped.

    So many characters take milliseconds to compile, and few programs draw.
    """
    return re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escaped(text: str) -> str:
    """Return a text escaped for HTML and SVG, also an untrusted one.

    Examples
    --------
    >>> escaped("<b> & co")
    '&lt;b&gt; &amp; co'
    """
    from html import escape  # noqa: PLC0415 - two thousand names of characters, for pictures alone

    return escape(_not_xml().sub("\ufffd", text))
