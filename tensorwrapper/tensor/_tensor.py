"""`Tensor`: a shape, a layout and a buffer."""

from collections.abc import Callable
from typing import Any, Generic, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer._common import BufferCommon
from tensorwrapper.buffer._dense import Dense
from tensorwrapper.layout import Layout
from tensorwrapper.layout._layout import wrap_layout
from tensorwrapper.layout._packed import contiguous
from tensorwrapper.layout._strided import Strided
from tensorwrapper.layout._tiled import TiledStrided
from tensorwrapper.shape import JaggedCommon, Shape, Tiling
from tensorwrapper.tensor._exchange import TensorExchange
from tensorwrapper.tensor._parts import guard
from tensorwrapper.tensor._places import address_batches, memory_of
from tensorwrapper.tensor._reduce import reduce_box, reduce_runs
from tensorwrapper.typing import Index, ScalarT_co

__all__ = ["Tensor", "make_tensor"]


@final
@attrs.frozen(eq=False, repr=False, getstate_setstate=False)
class Tensor(TensorExchange[ScalarT_co], Generic[ScalarT_co]):
    """Elements addressed by a shape: a layout says where in a buffer each one lies.

    Made by `as_tensor`, `jagged` and `from_buffer`. Everything that selects gives a view of the same
    memory; what copies says so. Two tensors are equal only if they are the same object: `array_equal`
    compares elements.

    Parameters
    ----------
    layout
        Where each index of the shape lives, in elements.
    buffer
        What holds the elements.

    Raises
    ------
    BufferSizeError
        If the layout leaves the buffer.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> t = tw.as_tensor(np.arange(24.0).reshape(4, 6))
    >>> t[1:3, ::-2].tolist()
    [[11.0, 9.0, 7.0], [17.0, 15.0, 13.0]]
    """

    _layout: Layout[Any]
    _buffer: BufferCommon[ScalarT_co]

    def __attrs_post_init__(self) -> None:
        least, greatest = self._layout.bounds()
        if greatest >= least:
            self._buffer.check_bounds(least, greatest)
        object.__setattr__(self, "_buffer", guard(self._layout, self._buffer))

    @classmethod
    def _make(cls, layout: Layout[Any], buffer: BufferCommon[Any]) -> "Tensor[ScalarT_co]":
        return make_tensor(layout, buffer)

    def reduce_tiles(self, ufunc: np.ufunc, *, initial: object = None) -> "Tensor[Any]":
        """Return what `ufunc` makes of each tile (or each cell of a jagged tensor).

        Empty tiles get the identity of the ufunc, as NumPy's ``reduce`` gives for an empty array.

        Parameters
        ----------
        ufunc
            A ufunc of two inputs that may take elements in any order, such as ``np.add``, ``np.maximum``.
        initial
            Takes part in every reduction; needed if a tile is empty and the ufunc has no identity.

        Returns
        -------
        Tensor
            One number per tile, over the shape of the tile numbers. Linear in the elements.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(tw.Tiling([1, 2], [2, 1]))
        >>> t.reduce_tiles(np.add).tolist()
        [[1, 2], [20, 13]]
        """
        self._check_cells("reduce_tiles")
        held, outer = self._layout._held, self.shape.outer()
        if isinstance(held, TiledStrided):
            marks = [p.starts for p in held.tiling.partitions]
            array = memory_of(held.under, self._buffer)
            if array is None:
                flat = self._buffer.gather(address_batches(held.under), self.size)
                array = flat.reshape(held.under.shape.extents)
            reduced = reduce_box(ufunc, array, marks, initial)
        else:
            reduced = reduce_runs(
                ufunc, self.elements(), cast("JaggedCommon", self.shape._held).rows.cell_offsets(), initial
            )
        return make_tensor(wrap_layout(contiguous(outer, 0)), Dense(cast("Any", reduced.reshape(-1))))

    def __repr__(self) -> str:
        return f"Tensor({self.shape!r}, dtype={self.dtype})"

    def __reduce__(self) -> "tuple[Callable[..., Tensor[Any]], tuple[object, ...]]":
        held = self._layout._held
        if isinstance(held, TiledStrided):
            return _restore_tiled, (self.untiled(), held.tiling, held.grid_origin)
        return _restore, (self.shape, self.elements())


_SlotSetter = Callable[[object, object], None]
_set_layout = cast("_SlotSetter", cast("Any", Tensor)._layout.__set__)
_set_buffer = cast("_SlotSetter", cast("Any", Tensor)._buffer.__set__)


def make_tensor(layout: Layout[Any], buffer: BufferCommon[ScalarT_co]) -> "Tensor[ScalarT_co]":
    """Return a tensor of parts that fit: the offsets of the layout were checked against the buffer."""
    tensor = cast("Tensor[ScalarT_co]", object.__new__(Tensor))
    _set_layout(tensor, layout)
    _set_buffer(tensor, buffer)
    return tensor


def _restore(shape: Shape[Any], flat: "npt.NDArray[ScalarT_co]") -> "Tensor[ScalarT_co]":
    return make_tensor(wrap_layout(contiguous(shape, 0)), Dense(cast("Any", flat)))


def _restore_tiled(under: "Tensor[ScalarT_co]", tiling: Tiling, origin: Index) -> "Tensor[ScalarT_co]":
    held = cast("Strided", under.layout._held)
    return make_tensor(wrap_layout(TiledStrided(tiling, held, origin)), under._buffer)
