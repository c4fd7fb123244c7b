"""A compressed archive member as a lazily decompressed source."""

from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast, final

import numpy as np

from tensorwrapper._arrays import are_truths, positions_array
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import assign_elements
from tensorwrapper.errors import DataFileError
from tensorwrapper.shape import Shape
from tensorwrapper.store.formats._bytes import check_bytes
from tensorwrapper.store.formats._contents import Done
from tensorwrapper.store.system._archive import Archive
from tensorwrapper.store.system._system import of_stranger
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import Array, Extents, IntArray
from tensorwrapper.wire import Limits

if TYPE_CHECKING:
    from tensorwrapper.selection import Ability, Outer, Source, Wanted

_CHUNK: Final = 2**22
"""Bytes to decompress at a time."""
_FIRST: Final = np.zeros(1, dtype=np.int64)


@final
@frozen(eq=False, repr=False)
class ZipMember:
    """A dense array in an archive, decompressed from its start to the last selected element."""

    archive: Archive
    name: str
    """Name of the member in the archive."""
    place: int
    """Number of bytes before the elements."""
    extents: Extents
    dtype: "np.dtype[Any]"
    is_fortran: bool
    """True for Fortran order."""
    limits: Limits
    """Limits on the decompressed size."""

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self.archive.memory.filename

    @property
    def shape(self) -> Shape:
        """The extents of the array."""
        return Shape(*self.extents)

    @property
    def version(self) -> str:
        """Version of the source; empty, because replacing an archive makes another file."""
        return ""

    @property
    def abilities(self) -> "frozenset[Ability]":
        """Abilities of the source: reads in any thread, as each read opens a separate stream."""
        return frozenset(("threads",))

    def cost(self, selection: "Wanted") -> int:
        """Return the size of the selected elements in bytes."""
        return selection.size * self.dtype.itemsize

    def read(self, selections: "Sequence[Wanted]", out: Sequence[Array]) -> "Done":
        """Read all selections in one pass over the member."""
        turn = -1 if self.is_fortran else 1
        wanted: list[tuple[tuple[IntArray, ...], Array]] = []
        for selection, target in zip(selections, out, strict=True):
            modes: tuple[IntArray, ...] = tuple(
                [positions_array(own) for own in cast("Outer", selection).modes][::turn]
            )
            whole = target.transpose() if self.is_fortran else target
            if not modes:
                modes, whole = (_FIRST,), target.reshape(1)
            if all(len(own) for own in modes):
                wanted.append((modes, whole))
        n_rows = 1 + max([int(modes[0][-1]) for modes, _ in wanted], default=-1)
        inner = (self.extents[::turn] or (1,))[1:]
        with of_stranger(self.path, ".npz"):
            for first, rows in self._rows(n_rows, inner):
                for modes, target in wanted:
                    begin, end = np.searchsorted(modes[0], [first, first + len(rows)]).tolist()
                    if begin < end:
                        if not are_truths(rows):
                            raise DataFileError(
                                f"{self.path}: {self.name!r} has a bool that is neither 0 nor 1"
                            )
                        found = rows[np.ix_(modes[0][begin:end] - first, *modes[1:])]
                        assign_elements(target[begin:end], found)
        return Done(len(out))

    def whole(self) -> Array:
        """Return all elements."""
        turn = -1 if self.is_fortran else 1
        extents = self.extents[::turn] or (1,)
        check_bytes(prod(extents) * self.dtype.itemsize, self.name, self.limits)
        found = np.empty(extents, self.dtype)
        with of_stranger(self.path, ".npz"):
            for first, rows in self._rows(extents[0], extents[1:]):
                found[first : first + len(rows)] = rows
        return found.reshape(self.extents) if turn == 1 else found.transpose()

    def _rows(self, n_rows: int, inner: Extents) -> Iterator[tuple[int, Array]]:
        """Yield batches of rows along the slowest mode, with the number of the first row."""
        size = prod(inner) * self.dtype.itemsize
        check_bytes(n_rows * size, self.name, self.limits)
        with self.archive.open(self.name) as member:
            _skip(member, self.place)
            step = max(_CHUNK // max(size, 1), 1)
            for first in range(0, n_rows, step):
                count = min(step, n_rows - first)
                data = member.read(count * size)
                if len(data) != count * size:
                    raise DataFileError(f"{self.path}: {self.name!r} ends before its last element")
                yield first, np.frombuffer(data, self.dtype).reshape(count, *inner)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZipMember) and self.archive is other.archive and self.name == other.name

    def __hash__(self) -> int:
        return hash((id(self.archive), self.name))

    def __reduce__(self) -> "tuple[type[Source], tuple[Tensor[Any]]]":
        # The elements, as those of mapped members: an archive at the path may be another one later.
        from tensorwrapper.selection import TensorSource  # noqa: PLC0415 - reading needs no views

        return TensorSource, (as_tensor(self.whole()),)

    def __repr__(self) -> str:
        return f"npz({str(self.path)!r}, {self.name.removesuffix('.npy')!r}, {self.shape!r}, {self.dtype})"


def whole_of(found: object) -> Array:
    """Return all elements of an array or a lazy member."""
    return cast("Array", found if isinstance(found, np.ndarray) else cast("ZipMember", found).whole())


def _skip(stream: IO[bytes], count: int) -> None:
    if len(stream.read(count)) != count:
        raise DataFileError("a member ends within its header")
