"""Groups of arrays with attributes, written by h5py and zarr in the same way."""

from pathlib import Path

import h5py
import numpy as np
import zarr

KINDS = ["h5", "zarr2", "zarr3"]


def write_groups(folder, kind, groups):
    """Write arrays and attributes by the paths of their groups; return the path of the file."""
    path = Path(folder) / f"a.{kind.rstrip('23')}"
    root = h5py.File(path, "w") if kind == "h5" else zarr.create_group(str(path), zarr_format=int(kind[-1]))
    for name, (attributes, arrays) in groups.items():
        group = root.require_group(name) if name else root
        for key, array in arrays.items():
            add_array(group, key, array)
        group.attrs.update(attributes)
    if kind == "h5":
        root.close()
    return path


def add_array(group, name, array):
    """Write one array into a group of h5py or zarr."""
    if isinstance(group, h5py.Group):
        group[name] = array
        return
    above, _, own = name.rpartition("/")
    group = group.require_group(above) if above else group
    group.create_array(own, data=np.asarray(array))


def changed(groups, name, *, without=(), **arrays):
    """Return groups in which one has other arrays."""
    attributes, own = groups[name]
    left = {key: array for key, array in (own | arrays).items() if key not in without}
    return groups | {name: (attributes, left)}
