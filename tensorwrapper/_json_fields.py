"""Fields of untrusted JSON: each is checked for its type, or refused with path and reason.

A `Field` is a value and its path. The reader of a document makes one of the whole value, with a function
that raises the errors of that layer; fields below it are reached by key and number, and know their path:

>>> def refuse(path, reason, text):
...     raise ValueError(f"[{reason}] {path} {text}")
>>> tensor = Field({"shape": [2, "3"], "part": 7}, "tensors[3]", refuse)
>>> tensor["part"].count(most=9)
7
>>> tensor["shape"].integers()
Traceback (most recent call last):
ValueError: [schema] tensors[3].shape[1] must be an integer, not "3"

Paths are made only for errors, so valid input costs no text.
"""

import re
from collections.abc import Callable, Collection, Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Final, Literal, NoReturn, TypeAlias, cast, final

import numpy as np

from tensorwrapper._json import Json, dump_json, shown_json
from tensorwrapper.typing import IntArray

FieldReason: TypeAlias = Literal["schema", "limit"]
"""Reason of a refusal: a wrong type or key, or a limit of the reader."""

Refuse: TypeAlias = Callable[[str, FieldReason, str], NoReturn]
"""Function that raises the error of a layer: takes the path, the reason, and the end of the message."""

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NONE: Final[AbstractSet[str]] = frozenset()
_KEY: Final = 60  # characters of a key in a path: an untrusted key may have millions


@final
class Field:
    """A value of a JSON document, its path, and the function that refuses it.

    A key that is not there gives a field whose value is None, as null does; `in` tells them apart.

    Examples
    --------
    >>> def refuse(path, reason, text):
    ...     raise ValueError(f"[{reason}] {path} {text}")
    >>> document = Field({"kind": "up", "sizes": [[1, 2], []]}, "$", refuse)
    >>> document.object({"kind", "sizes"}, {"names"})["kind"].one_of(["up", "down"])
    'up'
    >>> [sizes.integers() for sizes in document["sizes"].items()]
    [(1, 2), ()]
    >>> str(document["sizes"][1]), "names" in document
    ('$.sizes[1]', False)
    """

    __slots__ = ("_parent", "_refuse", "_step", "value")

    value: Json

    def __init__(self, value: Json, path: str, refuse: Refuse) -> None:
        self.value = value
        self._step: str | int = path
        self._refuse = refuse
        self._parent: Field | None = None

    def _below(self, value: Json, step: str | int) -> "Field":
        field = object.__new__(Field)
        field.value = value
        field._step = step
        field._refuse = self._refuse
        field._parent = self
        return field

    def __str__(self) -> str:
        """Return the path, such as ``tensors[3].shape[1]``; for a root, its given name."""
        steps: list[str] = []
        field = self
        while field._parent is not None:
            steps.append(_step_text(field._step))
            field = field._parent
        root = str(field._step)
        path = "".join([root, *reversed(steps)])
        return path if root else path.removeprefix(".")

    # Fields below.

    def __getitem__(self, step: str | int) -> "Field":
        """Return the field under a key of an object, or at a place in a list, that this was found to be."""
        value: Any = self.value
        return self._below(value.get(step) if isinstance(step, str) else value[step], step)

    def __contains__(self, key: str) -> bool:
        """Return whether an object has a key."""
        return key in cast("dict[str, Json]", self.value)

    def object(self, needed: AbstractSet[str] = _NONE, optional: AbstractSet[str] | None = _NONE) -> "Field":
        """Return this field, which must be an object that has all `needed` keys.

        Other keys than those and the `optional` ones are refused, unless the latter are None.
        """
        given = self.mapping()
        keys = given.keys()
        if keys != needed and not (needed <= keys and (optional is None or keys <= needed | optional)):
            self._refuse_keys(given, needed, optional)
        return self

    def _refuse_keys(
        self, given: dict[str, Json], needed: AbstractSet[str], optional: AbstractSet[str] | None
    ) -> NoReturn:
        texts = [f"lacks the key {key!r}" for key in sorted(needed - given.keys())]
        known = None if optional is None else sorted(needed | optional)
        unknown = [key[:_KEY] for key in given if known is not None and key not in known][:3]
        texts += [f"has the unknown key {key!r}" for key in unknown]
        told = f"; known are {', '.join(known or ['none'])}" if unknown else ""
        self.refuse(f"{', '.join(texts)}{told}")

    def mapping(self) -> dict[str, Json]:
        """Return an object of any keys as it is."""
        value = self.value
        if not isinstance(value, dict):
            self.must_be("an object")
        return value

    def entries(self) -> "Iterator[tuple[str, Field]]":
        """Return an iterator over the keys and fields of an object of any keys."""
        return ((key, self._below(value, key)) for key, value in self.mapping().items())

    def items(
        self, *, of: str = "a list", length: int | None = None, most: int | None = None
    ) -> "list[Field]":
        """Return the fields of a list of one length, or of at most so many; `of` describes it in errors."""
        return [self._below(value, k) for k, value in enumerate(self.listed(of=of, length=length, most=most))]

    def listed(self, *, of: str = "a list", length: int | None = None, most: int | None = None) -> list[Json]:
        """Return a list as it is."""
        value = self.value
        if not isinstance(value, list):
            self.must_be(of)
        if length is not None and len(value) != length:
            self.refuse(f"has {len(value)} entries instead of {length}")
        if most is not None and len(value) > most:
            self.refuse(f"has {len(value)} entries; at most {most} are allowed", "limit")
        return value

    # Values.

    def text(self, *, most: int | None = None) -> str:
        """Return a text of at most so many characters."""
        value = self.value
        if not isinstance(value, str):
            self.must_be("text")
        if most is not None and len(value) > most:
            self.refuse(f"has {len(value)} characters; at most {most} are allowed", "limit")
        return value

    def one_of(self, allowed: Collection[str]) -> str:
        """Return one of the texts that are allowed."""
        value = self.value
        if not isinstance(value, str) or value not in allowed:
            self.must_be(f"one of {', '.join(map(dump_json, allowed))}")
        return value

    def boolean(self) -> bool:
        """Return true or false."""
        value = self.value
        if not isinstance(value, bool):
            self.must_be("true or false")
        return value

    def integer(self, least: int | None = None, most: int | None = None) -> int:
        """Return an integer within limits, both of which it may be."""
        value = self.value
        # Not isinstance: true is an integer in Python, but not in JSON.
        if type(value) is not int:
            self.must_be("an integer")
        if (least is not None and value < least) or (most is not None and value > most):
            if least is None or most is None:
                allowed = f"at most {most}" if least is None else f"{least} or more"
            else:
                allowed = f"from {least} to {most}"
            self.must_be(allowed, "limit")
        return value

    def count(self, most: int | None = None, least: int = 0) -> int:
        """Return a number of things: below `least` it is none, above `most` it is over the limit."""
        value = self.integer()
        if value < least:
            self.must_be(f"{least} or more")
        return self.integer(most=most)

    def integers(
        self,
        least: int | None = None,
        most: int | None = None,
        *,
        length: int | None = None,
        most_items: int | None = None,
    ) -> tuple[int, ...]:
        """Return a list of integers within limits, of one length or at most so many; of any size if none."""
        items = self.listed(of="a list of integers", length=length, most=most_items)
        for k, item in enumerate(items):
            # Fast path without a field for each: most are valid.
            if (
                type(item) is not int
                or (least is not None and item < least)
                or (most is not None and item > most)
            ):
                self[k].integer(least, most)
        return cast("tuple[int, ...]", tuple(items))

    def counts(self, most: int | None = None, *, most_items: int | None = None) -> tuple[int, ...]:
        """Return a list of numbers of things, none of which is negative."""
        items = self.listed(of="a list of integers", most=most_items)
        for k, item in enumerate(items):
            if type(item) is not int or item < 0 or (most is not None and item > most):
                self[k].count(most)
        return cast("tuple[int, ...]", tuple(items))

    def array(
        self, least: int | None = None, most: int | None = None, *, most_items: int | None = None
    ) -> IntArray:
        """Return a list of integers, of which there may be millions, as an int64 array."""
        items = self.listed(of="a list of integers", most=most_items)
        if not set(map(type, items)) <= {int}:
            self[next(k for k, item in enumerate(items) if type(item) is not int)].integer()
        try:
            found = np.array(items, dtype=np.int64)
        except OverflowError:
            self.refuse("has a number that does not fit into 64 bits", "limit")
        wrong = [found < least] if least is not None else []
        if most is not None:
            wrong.append(found > most)
        for one in wrong:
            if one.any():
                self[int(one.argmax())].integer(least, most)
        return found

    # Errors.

    def refuse(self, text: str, reason: FieldReason = "schema") -> NoReturn:
        """Raise with the path of this field before the text."""
        self._refuse(str(self), reason, text)

    def must_be(self, allowed: str, reason: FieldReason = "schema") -> NoReturn:
        """Raise with the allowed values, and the beginning of the present one."""
        self.refuse(f"must be {allowed}, not {shown_json(self.value)}", reason)


def _step_text(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step[:_KEY]}" if _PLAIN.fullmatch(step) else f"[{shown_json(step, 120)}]"
