"""Calls for tensors of strings: string data, lengths, TF_STRING."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import holds_strings, packed_layout
from tensorwrapper.errors import ConversionError
from tensorwrapper.tensor._libraries import AtHand
from tensorwrapper.typing import Array, IndexT_co, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.buffer import NumpyStrings, StringData
    from tensorwrapper.shape import Shape
    from tensorwrapper.tensor._tensor import Tensor


class TensorStrings(AtHand[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: `shape`, `dtype` and `_at_hand`. A view is computed, unless it shows one tensor."""

    __slots__ = ()

    @property
    @abstractmethod
    def shape(self) -> "Shape[IndexT_co]":
        """The indices of the elements."""

    @property
    @abstractmethod
    def dtype(self) -> "np.dtype[ScalarT_co]":
        """The type of the elements."""

    def _of_strings(self, what: str) -> "Tensor[ScalarT_co, IndexT_co]":
        if holds_strings(self.dtype):
            return self._at_hand()
        raise ConversionError(f"{what} needs a tensor of strings, which strings() makes, not of {self.dtype}")

    def _strings(self, what: str) -> "StringData":
        own = self._of_strings(what)
        return own._buffer.strings_of(own._layout.implementation)

    def byte_lengths(self) -> "Tensor[np.int64, IndexT_co]":
        """Return the number of bytes of each string; 0 for a null.

        Raises
        ------
        ConversionError
            If the tensor has no strings.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.strings([["a", None], ["", "\N{LATIN SMALL LETTER E WITH ACUTE}"]]).byte_lengths().tolist()
        [[1, 0], [0, 2]]
        """
        own: Any = self._of_strings("byte_lengths")
        lengths = own._buffer.strings_of(own._layout.implementation).lengths()
        made: Tensor[np.int64, IndexT_co] = own._make(packed_layout(own.shape), Dense(lengths))
        return made

    def to_string_data(self) -> "StringData":
        """Return the current strings in row-major order; their bytes are shared.

        ``pyarrow.array(t.to_string_data())`` makes an Arrow array.

        Raises
        ------
        ConversionError
            If the tensor has no strings.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.strings([["a", "bc"], ["", "d"]]).permute((1, 0)).to_string_data()
        StringData(kind='utf8', n=4, ['a', '', 'bc', 'd'])
        """
        return self._strings("to_string_data")

    def to_numpy_strings(self, dtype: "NumpyStrings" = "T") -> Array:
        """Return the strings of a box as an array of one of NumPy's dtypes for strings; a copy.

        Parameters
        ----------
        dtype
            ``"S"`` for bytes, ``"U"`` for text: as wide as the longest element needs, for all elements.
            ``"T"`` for text: StringDType, whose missing value is None if there are nulls.

        Raises
        ------
        ConversionError
            If the tensor is not a box of strings of the kind of the dtype; for S and U, if an element
            is a null, or ends with a NUL.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.strings([["a", "bc"], ["", "d"]]).to_numpy_strings("U")
        array([['a', 'bc'],
               ['', 'd']], dtype='<U2')
        """
        from tensorwrapper.buffer import strings_to_numpy  # noqa: PLC0415 - for strings alone

        strings = self._strings("to_numpy_strings")
        if not self.shape.is_box:
            raise ConversionError(
                f"a tensor of shape {self.shape} is not an array: `r.to_padded()` fills it, `r.cells()` has "
                f"its parts"
            )
        return strings_to_numpy(strings, dtype).reshape(self.shape.extents)

    def to_tf_strings(self) -> "npt.NDArray[np.uint8]":
        r"""Return the strings as a TF_STRING, in row-major order; the shape is not in it.

        Raises
        ------
        ConversionError
            If there is a null, or the tensor has no strings.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.strings(["a", "bc"]).to_tf_strings().tobytes()[16:]
        b'\x01a\x02bc'
        """
        from tensorwrapper.buffer import encode_tf_strings  # noqa: PLC0415 - for strings alone

        return encode_tf_strings(self._strings("to_tf_strings"))
