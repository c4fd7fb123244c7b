"""Read and check the molecules of the demonstration."""

import zipfile
import zlib
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt
from numpy.lib.npyio import NpzFile

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError, DataFileNotFoundError
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import Tensor, from_buffer

_Array = npt.NDArray[Any]


@final
@frozen(eq=False)
class Benzene:
    """Overlap and density of benzene, with its shells and atoms."""

    overlap: npt.NDArray[np.float64]
    density: npt.NDArray[np.float64]
    shells: Tiling
    shells_per_atom: tuple[int, ...]

    @property
    def atoms(self) -> Tiling:
        """The tiling by atoms, which joins shells."""
        return self.shells.coarsen(self.shells_per_atom, self.shells_per_atom)


@final
@frozen(eq=False)
class Pairs:
    """Pair amplitudes of four waters: one cell per pair of orbitals, n by n for T and K, 76 by n for U."""

    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    amplitudes: Tensor[Any]
    integrals: Tensor[Any]
    transformations: Tensor[Any]


def load_benzene(folder: Path | None) -> Benzene:
    """Return benzene from `folder`, or from the package.

    Raises
    ------
    DataFileError
        If the file is missing, damaged, or lacks required arrays.
    """
    name = "benzene_ccpvdz.npz"
    arrays = _load(folder, name, ("S", "D", "ao_loc", "atom_loc"))
    shell_marks, atom_marks = _marks(arrays["ao_loc"], name), _marks(arrays["atom_loc"], name)
    n = int(shell_marks[-1])
    for key in ("S", "D"):
        _require(arrays[key], name, key, (n, n))
    places = np.searchsorted(shell_marks, atom_marks)
    if places[-1] >= len(shell_marks) or not np.array_equal(shell_marks[places], atom_marks):
        raise DataFileError(f"{name}: atoms must start at starts of shells")
    shells = Tiling.from_marks(shell_marks, shell_marks)
    return Benzene(arrays["S"], arrays["D"], shells, tuple(np.diff(places).tolist()))


def load_pairs(folder: Path | None) -> Pairs:
    """Return the pair amplitudes from `folder`, or from the package.

    Raises
    ------
    DataFileError
        If the file is missing, damaged, or lacks required arrays.
    """
    name = "water4_pno.npz"
    arrays = _load(folder, name, ("i", "j", "size", "T", "K", "U", "nvirt"))
    sizes = arrays["size"].astype(np.int64)
    n_pairs, n_virtual = len(sizes), int(arrays["nvirt"])
    if sizes.ndim != 1 or (sizes < 0).any():
        raise DataFileError(f"{name}: the sizes of the pairs must not be negative")
    for key, length in (("T", (sizes**2).sum()), ("K", (sizes**2).sum()), ("U", n_virtual * sizes.sum())):
        _require(arrays[key], name, key, (int(length),))
    for key in ("i", "j"):
        if arrays[key].shape != (n_pairs,):
            raise DataFileError(f"{name}: {key} has {arrays[key].shape} entries for {n_pairs} pairs")
    square = Shape.from_cells((n_pairs,), np.stack([sizes, sizes], axis=1))
    tall = Shape.from_cells((n_pairs,), np.stack([np.full(n_pairs, n_virtual), sizes], axis=1))
    return Pairs(
        arrays["i"].astype(np.int64),
        arrays["j"].astype(np.int64),
        from_buffer(arrays["T"], square),
        from_buffer(arrays["K"], square),
        from_buffer(arrays["U"], tall),
    )


def _load(folder: Path | None, name: str, keys: tuple[str, ...]) -> dict[str, _Array]:
    place: Traversable = (
        resources.files("tensorwrapper.cli.demo").joinpath("data") if folder is None else folder
    ).joinpath(name)
    try:
        with place.open("rb") as stream, NpzFile(stream, allow_pickle=False) as archive:
            # One of the matrices is stored in column-major order, which sending would have to copy.
            return {key: np.require(archive[key], requirements="C") for key in keys}
    except FileNotFoundError as error:
        raise DataFileNotFoundError(error.errno, f"{place} does not exist") from error
    except KeyError as error:
        raise DataFileError(f"{place} is damaged: {error.args[0]}") from error
    except zipfile.BadZipFile as error:
        raise DataFileError(f"{place} is damaged, or is not an archive of arrays: {error}") from error
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise DataFileError(f"{place} is damaged: {error}") from error


def _marks(marks: _Array, name: str) -> npt.NDArray[np.int64]:
    if marks.ndim != 1 or marks.dtype.kind not in "iu" or len(marks) < 2 or (np.diff(marks) < 0).any():
        raise DataFileError(f"{name}: boundaries must be ascending integers")
    return marks.astype(np.int64)


def _require(array: _Array, name: str, key: str, extents: tuple[int, ...]) -> None:
    if array.shape != extents or array.dtype != np.float64:
        raise DataFileError(
            f"{name}: {key} is {array.dtype} of {array.shape}, but should be float64 of {extents}"
        )
    if not np.isfinite(array).all():
        raise DataFileError(f"{name}: {key} has values that are not numbers")
