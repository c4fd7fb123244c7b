"""Operators and array protocols of records, which raise errors."""

from typing import TYPE_CHECKING, ClassVar, Final, NoReturn

from tensorwrapper._hints import Hinted
from tensorwrapper.errors import ConversionError

_OPERATORS: Final = """
add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or radd rsub rmul rmatmul rtruediv
rfloordiv rmod rdivmod rpow rlshift rrshift rand rxor ror neg pos abs invert lt le gt ge
"""


class NoArray(metaclass=Hinted):
    """Abstract: `names`. Operators and NumPy's calls raise an error that names a field."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def names(self) -> tuple[str, ...]: ...

    else:
        # Checkers shall say that there are none.

        def _refuse(self, *operands: object) -> NoReturn:  # noqa: ARG002
            raise self._no_array("records have no operators, but for fields")

        __hash__: ClassVar[None] = None
        for _name in _OPERATORS.split():
            vars()[f"__{_name}__"] = _refuse
        del _name

        def __setitem__(self, key, value):  # noqa: ANN001, ANN204
            name = self.names[0]
            raise ConversionError(
                f"records keep their fields: `r.with_field({name!r}, r[{name!r}])` makes others, and "
                f"`r[{name!r}][...] = 0` writes to a field"
            )

        def __delitem__(self, key):  # noqa: ANN001, ANN204
            raise ConversionError("records keep their fields: drop() makes records of the others")

        def __eq__(self, other):  # noqa: ANN001, ANN204
            raise self._no_array("array_equal() compares records, and == compares fields")

        def __array__(self, dtype=None, copy=None):  # noqa: ANN001, ANN204
            raise self._no_array("records are not an array")

        def __array_ufunc__(self, ufunc, method, *inputs, **options):  # noqa: ANN001, ANN002, ANN003, ANN204
            raise self._no_array(f"np.{ufunc.__name__} computes with fields, not with records")

        def __array_function__(self, function, types, inputs, options):  # noqa: ANN001, ANN204
            raise self._no_array(f"np.{function.__name__} takes fields, not records")

    def _no_array(self, what: str) -> ConversionError:
        return ConversionError(f"{what}: one field is the tensor `r[{self.names[0]!r}]`")
