"""Files of arrays that are opened by path."""

import numpy as np
import safetensors.numpy

TABLE = np.arange(12, dtype="f4").reshape(3, 4)


def written(folder, kind, arrays):
    path = folder / f"a.{kind.partition(' ')[0]}"
    if kind == "npz":
        np.savez(path, **arrays)
    elif kind == "npz deflated":
        np.savez_compressed(path, **arrays)
    elif kind == "safetensors":
        safetensors.numpy.save_file({name: np.array(a, order="C") for name, a in arrays.items()}, path)
    else:
        (array,) = arrays.values()
        np.save(path, array)
    return path


KINDS = ["npz", "npz deflated", "safetensors"]
