"""Other file formats by extension, with readers and writers."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias, final

from tensorwrapper._value_class import frozen
from tensorwrapper.store.formats._boxes import write_npy_file, write_npz_file, write_safetensors_file
from tensorwrapper.store.formats._contents import Contents, Conversion, Named, Opening, Options
from tensorwrapper.store.formats._npy import open_npy, open_npz
from tensorwrapper.store.formats._safetensors import open_safetensors
from tensorwrapper.store.formats.columns._feather import open_feather
from tensorwrapper.store.formats.columns._parquet import open_parquet
from tensorwrapper.store.formats.columns._write import write_feather, write_parquet
from tensorwrapper.store.formats.hdf5._read import open_hdf5
from tensorwrapper.store.formats.hdf5._write import write_hdf5
from tensorwrapper.store.formats.zarr._store import open_zarr
from tensorwrapper.store.formats.zarr._write import write_zarr

_Read: TypeAlias = Callable[[Path, Opening], Contents]
_Write: TypeAlias = Callable[[Path, Iterator[Named], Mapping[str, Any], Options], Conversion]


@final
@frozen(eq=False)
class Kind:
    """Reader and writer of a file format."""

    read: _Read
    write: _Write


_HDF5: Final = Kind(open_hdf5, write_hdf5)
_FEATHER: Final = Kind(open_feather, write_feather)

KINDS: Final[Mapping[str, Kind]] = {
    ".npy": Kind(open_npy, write_npy_file),
    ".npz": Kind(open_npz, write_npz_file),
    ".safetensors": Kind(open_safetensors, write_safetensors_file),
    ".h5": _HDF5,
    ".hdf5": _HDF5,
    ".parquet": Kind(open_parquet, write_parquet),
    ".feather": _FEATHER,
    ".arrow": _FEATHER,
    ".zarr": Kind(open_zarr, write_zarr),
}


PATHS: Final = (".h5", ".hdf5", ".zarr", ".npz", ".safetensors", ".parquet", ".feather", ".arrow")
"""Formats that allow paths as names."""
