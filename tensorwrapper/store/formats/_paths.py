"""Paths in a file to write, checked for conflicts."""

from collections.abc import Collection
from typing import final

from tensorwrapper._error_text import shortened
from tensorwrapper.errors import ConversionError


@final
class TakenPaths:
    """Paths of the tensors in a file. No path is below an array, or replaces a part of rows.

    An array is one object of the file. Rows are a group, in which only the paths of their parts are taken.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._parts: dict[str, frozenset[str] | None] = {}
        """Names of the parts of each tensor by its path, or None for an array."""
        self._below: dict[str, set[str]] = {}
        """First names of paths below each group, by its path."""

    def claim(self, name: str, parts: Collection[str] | None = None) -> None:
        """Claim a path for an array, or for rows with these parts.

        Raises
        ------
        ConversionError
            If the path belongs to another tensor or its part, is below an array, or if an existing tensor
            would be below this one.

        Examples
        --------
        >>> paths = TakenPaths("HDF5")
        >>> paths.claim("r", ["values", "offsets_1"])
        >>> paths.claim("r/notes")
        >>> paths.claim("r/values")
        Traceback (most recent call last):
            ...
        tensorwrapper.errors.ConversionError: HDF5 keeps a part of the rows 'r' at 'r/values': ...
        """
        steps = name.split("/")
        above = [("/".join(steps[:k]), steps[k]) for k in range(1, len(steps))]
        if name in self._parts:
            raise ConversionError(f"{self._kind} already has a tensor at {_short(name)}")
        for group, step in above:
            if group in self._parts:
                self._check(group, self._parts[group], step)
        own = None if parts is None else frozenset(parts)
        for step in sorted(self._below.get(name, ())):
            self._check(name, own, step)
        self._parts[name] = own
        for group, step in above:
            self._below.setdefault(group, set()).add(step)

    def _check(self, name: str, parts: frozenset[str] | None, step: str) -> None:
        path = _short(f"{name}/{step}")
        if parts is None:
            raise ConversionError(
                f"{_short(name)} is an array in {self._kind}, which allows no paths below it; rename {path}"
            )
        if step in parts:
            raise ConversionError(
                f"{self._kind} keeps a part of the rows {_short(name)} at {path}: a tensor needs another "
                f"name than {', '.join(sorted(parts))} there"
            )

    def __contains__(self, name: str) -> bool:
        return name in self._parts

    def release(self, name: str) -> frozenset[str] | None:
        """Release a path, and return the parts of its rows; None for an array."""
        # Paths below a group are not counted, so the path of a group stays taken.
        return self._parts.pop(name)


def _short(name: str) -> str:
    return shortened(repr(name))
