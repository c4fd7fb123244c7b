import numpy as np
import numpy.typing as npt

class Index8:
    def __init__(self, data: npt.NDArray[np.int8]) -> None: ...

class Index64:
    def __init__(self, data: npt.NDArray[np.int64]) -> None: ...
