"""Sources in untrusted files, whose read errors become errors of this package."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias, final

import numpy as np

from tensorwrapper._arrays import are_truths
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError, DTypeError, SizeOverflowError, VersionChangedError
from tensorwrapper.shape import Shape
from tensorwrapper.store.formats._contents import Done
from tensorwrapper.store.system._system import of_stranger
from tensorwrapper.typing import Array

if TYPE_CHECKING:
    from tensorwrapper.selection import Ability, Source, Wanted


FileState: TypeAlias = tuple[int, int]
"""Size and time of change of a file."""


def state_of(path: Path) -> FileState:
    """Return the state of a file."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def check_state(path: Path, found: os.stat_result | None, state: FileState) -> None:
    """Raise `VersionChangedError` if a file has another state, or is missing."""
    if found is None or (found.st_size, found.st_mtime_ns) != state:
        raise VersionChangedError(f"{path} was changed, replaced or removed after it was opened")


@final
@frozen
class UnchangedFiles:
    """Check that files have the states that they had when they were opened; pickles carry the states."""

    states: frozenset[tuple[Path, FileState]]

    @classmethod
    def at(cls, paths: Iterable[Path]) -> Self:
        """Return the check of files as they are now."""
        return cls(frozenset([(own, state_of(own)) for own in paths]))

    def __call__(self) -> None:
        """Raise `VersionChangedError` if a file was changed, replaced or removed."""
        for own, state in self.states:
            check_state(own, own.stat() if own.exists() else None, state)


@final
@frozen(eq=False, repr=False)
class CheckedSource:
    """A source whose reads raise `DataFileError` for damaged data."""

    source: "Source"
    path: Path | str
    kind: str
    name: str = ""
    """The name of the array, unless it is part of the path."""
    check: Callable[[], None] | None = None
    """Raises if there is another array at the path now."""

    @property
    def shape(self) -> Shape[Any]:
        """Shape of the source."""
        return self.source.shape

    @property
    def dtype(self) -> "np.dtype[Any]":
        """Type of the source's elements."""
        return self.source.dtype

    @property
    def version(self) -> str:
        """Version of the source."""
        return self.source.version

    @property
    def abilities(self) -> "frozenset[Ability]":
        """Abilities of the source, without writing, because the file is read-only. Bools are not cast."""
        known: frozenset[Ability] = getattr(self.source, "abilities", frozenset())
        return known - {"write", "atomic", "casts"} if self.dtype.kind == "b" else known - {"write", "atomic"}

    def cost(self, selection: "Wanted") -> int:
        """Return the cost of the source."""
        return self.source.cost(selection)

    def read(self, selections: "Sequence[Wanted]", out: Sequence[Array]) -> Done:
        """Read all selections, and return when they are complete."""
        if self.check is not None:
            self.check()
        refused: SizeOverflowError | DTypeError | None = None
        with of_stranger(self.path, self.kind):
            try:
                for _ in self.source.read(selections, out).completed():
                    pass
            except (SizeOverflowError, DTypeError) as error:
                if all(target.dtype == self.dtype for target in out):
                    raise
                refused = error
            except DataFileError as error:
                if isinstance(error, OSError) or str(self.path) in str(error):
                    raise
                # The message names the array, but not its file.
                raise DataFileError(f"{self.path}: {error}") from error
            if refused is None and not all(map(are_truths, out)):
                what = f"{self.path}: {self.name!r}" if self.name else str(self.path)
                raise DataFileError(f"{what} has a bool that is neither 0 nor 1")
        if self.check is not None:
            self.check()
        if refused is not None:
            raise refused  # The caller's type does not fit: the file has no damage.
        return Done(len(out))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CheckedSource) and (self.source, self.check) == (other.source, other.check)

    def __hash__(self) -> int:
        return hash(self.source)

    def __repr__(self) -> str:
        return repr(self.source)
