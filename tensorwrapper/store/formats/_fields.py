"""Records and arrays in elements: each field is a tensor, and arrays in elements are modes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, cast, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.typing import Array, Extents

if TYPE_CHECKING:
    import h5py

__all__ = ["FieldPath", "FieldsOf", "field_paths", "inner_of"]

FieldPath: TypeAlias = tuple[str, ...]
"""The names that lead to a field: several where records are in records; none for the whole."""


def field_paths(dtype: "np.dtype[Any]") -> Iterator[tuple[FieldPath, "np.dtype[Any]"]]:
    """Yield the fields of a record that are not records, with their paths, in order.

    Examples
    --------
    >>> list(field_paths(np.dtype([("a", "i2"), ("b", [("c", "f4", (3,))])])))
    [(('a',), dtype('int16')), (('b', 'c'), dtype(('<f4', (3,))))]
    """
    for name in dtype.names or ():
        own = dtype[name]
        if not own.names:
            # Also a record without fields, so that it can be reported.
            yield (name,), own
        else:
            yield from (((name, *path), inner) for path, inner in field_paths(own))


def inner_of(dtype: "np.dtype[Any]") -> tuple["np.dtype[Any]", Extents]:
    """Return the type of the numbers in elements that may be arrays, and the extents of these."""
    return dtype.subdtype or (dtype, ())


@final
@frozen(eq=False, repr=False)
class FieldsOf:
    """A field of a dataset of records, or a dataset whose elements are arrays, as an array of numbers.

    HDF5 reads whole elements of the field, and the selection from their inner modes is applied here.
    """

    dataset: "h5py.Dataset"
    path: FieldPath
    shape: Extents
    dtype: "np.dtype[Any]"

    @property
    def chunks(self) -> Extents | None:
        """Chunks of the dataset, of whole elements."""
        own: Extents | None = self.dataset.chunks
        return None if own is None else (*own, *self.shape[len(own) :])

    @property
    def file(self) -> object:
        """The file, which was opened to be read."""
        return self.dataset.file

    def __repr__(self) -> str:
        # Not what h5py shows, which fails for records whose fields overlap.
        return f"<HDF5 dataset {'.'.join([str(self.dataset.name), *self.path])!r}>"

    def __getitem__(self, key: tuple[slice, ...]) -> Array:
        outer = len(self.dataset.shape)
        # The key of an element without modes would make a scalar, which is True whatever its byte is.
        found: Any = self._alone(key[:outer]) if self.path else np.asarray(self.dataset[key[:outer] or ...])
        for name in self.path:
            found = found[name]
        return cast("Array", found[(*[slice(None)] * outer, *key[outer:], ...)])

    def _alone(self, key: tuple[slice, ...]) -> Array:
        """Return records of this field alone, which HDF5 converts without the others.

        h5py's own type of the whole record has fields that overlap where one is wider in memory.
        """
        import h5py  # noqa: PLC0415 - an extra

        inner = self.shape[len(self.dataset.shape) :]
        dtype: np.dtype[Any] = np.dtype((self.dtype, inner)) if inner else self.dtype
        for name in reversed(self.path):
            dtype = np.dtype([(name, dtype)])
        runs = [range(extent)[own] for own, extent in zip(key, self.dataset.shape, strict=True)]
        found = np.empty([len(run) for run in runs], dtype)
        if found.size:
            space, memory = self.dataset.id.get_space(), h5py.h5s.ALL
            if runs:
                counts, steps = found.shape, tuple([run.step for run in runs])
                space.select_hyperslab(tuple([run.start for run in runs]), counts, steps)
                memory = h5py.h5s.create_simple(counts)
            self.dataset.id.read(memory, space, found, h5py.h5t.py_create(dtype))
        return found
