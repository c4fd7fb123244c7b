"""Structured elements: each field is a tensor, and arrays in elements become modes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, cast, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.typing import Array, Extents

if TYPE_CHECKING:
    import h5py

FieldPath: TypeAlias = tuple[str, ...]
"""Names that lead to a field: several for nested records, none for the whole element."""


def field_paths(dtype: "np.dtype[Any]") -> Iterator[tuple[FieldPath, "np.dtype[Any]"]]:
    """Yield the leaf fields of a record type, with their paths, in order.

    Examples
    --------
    >>> list(field_paths(np.dtype([("a", "i2"), ("b", [("c", "f4", (3,))])])))
    [(('a',), dtype('int16')), (('b', 'c'), dtype(('<f4', (3,))))]
    """
    for name in dtype.names or ():
        own = dtype[name]
        if not own.names:
            # Include a record without fields, so that it can be reported.
            yield (name,), own
        else:
            yield from (((name, *path), inner) for path, inner in field_paths(own))


def inner_of(dtype: "np.dtype[Any]") -> tuple["np.dtype[Any]", Extents]:
    """Return the scalar dtype and the extents of elements that may be arrays."""
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
        """The open file."""
        return self.dataset.file

    def __repr__(self) -> str:
        # h5py's own `repr` fails for records with overlapping fields.
        return f"<HDF5 dataset {'.'.join([str(self.dataset.name), *self.path])!r}>"

    def __getitem__(self, key: tuple[slice, ...]) -> Array:
        outer = len(self.dataset.shape)
        # The key of a scalar element would make a bool that is True whatever its byte is.
        found: Any = self._alone(key[:outer]) if self.path else np.asarray(self.dataset[key[:outer] or ...])
        for name in self.path:
            found = found[name]
        return cast("Array", found[(*[slice(None)] * outer, *key[outer:], ...)])

    def _alone(self, key: tuple[slice, ...]) -> Array:
        """Return records with only this field, which HDF5 converts without the others.

        In h5py's own dtype of the whole record, fields overlap if one is wider in memory.
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
