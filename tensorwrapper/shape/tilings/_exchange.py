"""Tilings as JSON, in the words of other systems (chunk grids of Zarr), and what each form leaves out."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Generic, Self, SupportsIndex

import numpy.typing as npt

from tensorwrapper._integers import to_count, to_ints
from tensorwrapper.shape.tilings._queries import TilingQueries
from tensorwrapper.typing import IndexT_co

if TYPE_CHECKING:
    from tensorwrapper.shape.interchange._losses import LossReport, TilingForm
    from tensorwrapper.shape.interchange._zarr import ZarrGrid
    from tensorwrapper.shape.rows._partition import Partition


class TilingExchange(TilingQueries[IndexT_co], Generic[IndexT_co]):
    """Abstract: the attribute `_partitions`, one per mode."""

    __slots__ = ()

    def losses(self, form: "TilingForm") -> "LossReport":
        """Return what a form of other systems cannot say of this tiling; O(tiles per mode).

        Parameters
        ----------
        form
            ``"marks"`` (also TiledArray's hashmarks), ``"dask"`` (`chunks`) or ``"zarr"``.

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> tiling = Tiling([2, 0, 3], origin=(7,))
        >>> tiling.losses("marks").lost, tiling.losses("dask").lost, tiling.losses("zarr").lost
        ((), ('origin',), ('origin', 'empty_tiles'))
        """
        from tensorwrapper.shape.interchange._losses import tiling_losses  # noqa: PLC0415

        return tiling_losses(form, self._partitions)

    def to_json(self) -> str:
        """Return the tiling as JSON, compact and with sorted keys; O(tiles per mode).

        It is text, which also metadata of files and messages takes.

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> Tiling([2, 0, 3], origin=(7,)).to_json()
        '{"origin":[7],"sizes":[[2,0,3]]}'
        """
        from tensorwrapper.shape.text._json import tiling_to_json  # noqa: PLC0415 - few are written

        return tiling_to_json(self._partitions)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the tiling that `to_json` wrote; O(length), also for untrusted texts.

        Raises
        ------
        ParseError
            If it is not strict JSON, or not a valid tiling; the message names the key.
        ConversionError
            If it is not a text.

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> Tiling.from_json('{"sizes": [[2, 0, 3]], "origin": [7]}')
        Tiling([2, 0, 3], origin=(7,))
        """
        from tensorwrapper.shape.text._json import partitions_of_json  # noqa: PLC0415 - few are read

        return cls._of(partitions_of_json(text))

    def zarr_grid(self, *, regular: bool = False) -> "ZarrGrid":
        """Return the chunk grid of Zarr with these tiles; O(tiles per mode).

        Parameters
        ----------
        regular
            Write a grid with one size of chunks. Equal sizes are not made regular by default, because an
            extended grid would then continue differently.

        Raises
        ------
        ExtentError
            If a regular grid is requested, but chunks have different sizes.

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> Tiling([4, 4, 2], [3, 3]).zarr_grid(regular=True).to_json()
        '{"configuration":{"chunk_shape":[4,3]},"name":"regular"}'
        """
        # Loaded here: few programs write metadata of Zarr, and the others shall not wait for it.
        from tensorwrapper.shape.interchange._zarr import ZarrGrid  # noqa: PLC0415

        return ZarrGrid(self._partitions, "regular" if regular else "rectilinear")

    @classmethod
    def from_zarr(
        cls,
        chunk_grid: str | bytes | Mapping[str, object],
        extents: Iterable[SupportsIndex],
        *,
        origin: Iterable[SupportsIndex] | None = None,
        empty_tiles: Iterable[npt.ArrayLike] | None = None,
        max_chunks: SupportsIndex = 2**24,
    ) -> Self:
        """Return the tiling of a chunk grid of Zarr, which may be untrusted; O(tiles per mode).

        Chunks beyond the extents, as in an array that was made smaller, are ignored.

        Parameters
        ----------
        chunk_grid
            The entry ``chunk_grid`` in the metadata of an array: its JSON, or the object.
        extents
            The entry ``shape`` in these metadata.
        origin
            The first element, which Zarr lacks; zeros by default.
        empty_tiles
            For each mode the numbers of empty tiles, which Zarr lacks as well: `ZarrGrid.empty_tiles`.
        max_chunks
            Maximal number of chunks of a mode that are not written one by one.

        Raises
        ------
        ParseError
            If it is not the JSON of a chunk grid.
        ConversionError
            If it is a grid of another kind.
        ExtentError
            If chunks do not reach the extents.
        SizeOverflowError
            If there are more chunks than allowed.

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> grid = '{"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[10,[20,3]],30]}}'
        >>> Tiling.from_zarr(grid, (70, 50))
        Tiling([10, 20, 20, 20], [30, 20])
        """
        from tensorwrapper.shape.interchange._zarr import partitions_of_zarr  # noqa: PLC0415

        start = None if origin is None else to_ints(origin, "an origin")
        most = to_count(max_chunks, "the most chunks")
        partitions = partitions_of_zarr(chunk_grid, extents, start, empty_tiles, most)[0]
        return cls._of(partitions)

    @classmethod
    def _of(cls, partitions: "tuple[Partition, ...]") -> Self:
        tiling = object.__new__(cls)
        object.__setattr__(tiling, "_partitions", partitions)
        return tiling
