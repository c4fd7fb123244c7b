import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pandas.api.extensions import ExtensionArray

class ArrowExtensionArray(ExtensionArray):
    def __init__(self, values: pa.Array) -> None: ...

class BooleanArray(ExtensionArray):
    def __init__(self, values: npt.NDArray[np.generic], mask: npt.NDArray[np.bool_]) -> None: ...

class FloatingArray(ExtensionArray):
    def __init__(self, values: npt.NDArray[np.generic], mask: npt.NDArray[np.bool_]) -> None: ...

class IntegerArray(ExtensionArray):
    def __init__(self, values: npt.NDArray[np.generic], mask: npt.NDArray[np.bool_]) -> None: ...
