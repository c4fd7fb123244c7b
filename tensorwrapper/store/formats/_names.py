"""Names for another file format, with replacements for invalid names and for taken names."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, final

from tensorwrapper._error_text import shortened
from tensorwrapper._tensor_names import NAME_BYTES
from tensorwrapper.errors import ConversionError
from tensorwrapper.store.records._loss import Loss

TRUE_NAME: Final = "name"
"""Metadata key of a tensor's original name."""

_NO_NAME: Final = re.compile(r"[/\\\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_MARK: Final = 8  # bytes of the suffix that distinguishes two names


@final
class FreeNames:
    """Allocator of unused names: the requested name, or with a suffix ``~1``, ``~2`` and so on."""

    def __init__(self, taken: Collection[str]) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def claim(self, wanted: str) -> str:
        """Return an unused name, and mark it as used.

        Examples
        --------
        >>> names = FreeNames(["a"])
        >>> names.claim("a"), names.claim("a"), names.claim("b")
        ('a~1', 'a~2', 'b')
        """
        found, count = wanted, self._next.get(wanted, 0)
        while found in self._taken:
            count += 1
            found = f"{wanted}~{count}"
        self._next[wanted] = count
        self._taken.add(found)
        return found


def renamed(name: str, taken: str) -> Loss:
    """Return the loss of a field whose name is taken."""
    return Loss(f"the field {name!r} is called {taken!r}, as its name is taken", name, "name")


def check_path(name: str, kind: str, others: str = "", most: int | None = None) -> None:
    """Raise if a name is not a valid path of parts between slashes in a format.

    `others` are forbidden characters besides NUL; `most` limits the bytes of each part.

    Raises
    ------
    ConversionError
        If a part is empty or a dot, has such a character, or is too long.

    Examples
    --------
    >>> check_path("run/adc", "HDF5")
    """
    refused = "\0" + others
    if any(part in ("", ".") or not set(refused).isdisjoint(part) for part in name.split("/")):
        raise ConversionError(
            f"{shortened(repr(name))} is not a path of {kind}, whose parts between slashes are not empty, "
            f"are not '.', and have no {' or '.join(map(repr, refused))}"
        )
    longest = max([len(part.encode(errors="replace")) for part in name.split("/")])
    if most is not None and longest > most:
        raise ConversionError(
            f"{shortened(repr(name))} has a part of {longest} bytes between slashes; {kind} has up to {most}"
        )


def _plain(name: str) -> str:
    """Return a name without path characters, which may still be invalid for a tensor."""
    found = unicodedata.normalize("NFC", _NO_NAME.sub(".", name))
    # Truncate only between characters.
    return (
        found.encode()[: NAME_BYTES - _MARK].decode("utf-8", "ignore")
        if len(found) * 4 > NAME_BYTES
        else found
    )


def tens_names(names: Iterable[str]) -> dict[str, str]:
    """Return a mapping from the names in a file to names for a `.tens` file.

    Slashes, backslashes and control characters become dots. A name that needs no change is kept.

    Examples
    --------
    >>> tens_names(["run/adc", "run.adc", "x"])
    {'run/adc': 'run.adc~1', 'run.adc': 'run.adc', 'x': 'x'}
    """
    wanted = {name: _plain(name) for name in names}
    kept = {name for name, own in wanted.items() if own == name} - {"", ".", ".."}
    free = FreeNames({*kept, "", ".", ".."})
    return {name: name if name in kept else free.claim(own) for name, own in wanted.items()}


def names_before(said: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return a mapping from the names in a `.tens` file to unique original names.

    If two tensors have the same original name, the tensor that is still named so keeps it, otherwise the
    first.

    Examples
    --------
    >>> names_before({"a": {"name": "b/c"}, "b.c": {"name": "b/c"}, "x": {}})
    {'a': 'a', 'b.c': 'b/c', 'x': 'x'}
    """
    wanted = {name: true_name(name, own) for name, own in said.items()}
    owners = {own: name for name, own in reversed(wanted.items())}
    owners |= {name: name for name, own in wanted.items() if own == name}
    free = FreeNames(owners)
    return {name: own if owners[own] == name else free.claim(own) for name, own in wanted.items()}


def true_name(name: str, said: Mapping[str, Any]) -> str:
    """Return the original name of a tensor in a `.tens` file from its metadata, or else its own name.

    Examples
    --------
    >>> true_name("run.adc~1", {"name": "run/adc"}), true_name("x", {"name": "energy"})
    ('run/adc', 'x')
    """
    before = said.get(TRUE_NAME)
    if not isinstance(before, str) or before == name:
        return name
    plain = _plain(before)
    mark = name[len(plain) + 1 :] if name.startswith(f"{plain}~") else ""
    return before if name == plain or mark.isdigit() else name
