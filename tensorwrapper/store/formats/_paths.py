"""Names that are paths in a file that is written: which of them fit beside those that are there."""

from collections.abc import Collection
from typing import final

from tensorwrapper._error_text import shortened
from tensorwrapper.errors import ConversionError

__all__ = ["TakenPaths"]


@final
class TakenPaths:
    """Paths of the tensors in a file: none is below an array, or replaces a part of rows.

    An array is one object of the file. Rows are a group, in which only their own parts are taken.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._parts: dict[str, frozenset[str] | None] = {}
        """Names of the parts of each tensor by its path, or None for an array."""
        self._below: dict[str, set[str]] = {}
        """First names of paths below each group, by its path."""

    def claim(self, name: str, parts: Collection[str] | None = None) -> None:
        """Take a path for an array, or for rows that have these parts.

        Raises
        ------
        ConversionError
            If it is the path of another tensor, or of a part of one, or is below an array, or if an existing
            tensor would be below this one.

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
            raise ConversionError(f"{self._kind} has a tensor at {_shown(name)} already")
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
        path = _shown(f"{name}/{step}")
        if parts is None:
            raise ConversionError(
                f"{_shown(name)} is an array in {self._kind}, which has no paths below it: {path} needs "
                "another name"
            )
        if step in parts:
            raise ConversionError(
                f"{self._kind} keeps a part of the rows {_shown(name)} at {path}: a tensor needs another "
                f"name than {', '.join(sorted(parts))} there"
            )

    def __contains__(self, name: str) -> bool:
        return name in self._parts

    def release(self, name: str) -> frozenset[str] | None:
        """Give a path back, and return which parts the rows there have; None of an array."""
        # Paths below a group are not counted: a path above this one stays that of a group.
        return self._parts.pop(name)


def _shown(name: str) -> str:
    return shortened(repr(name))
