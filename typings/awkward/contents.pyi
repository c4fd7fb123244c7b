from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

class Content:
    is_record: bool
    is_union: bool
    is_option: bool
    is_indexed: bool
    is_regular: bool
    is_list: bool
    is_unknown: bool
    fields: Sequence[str]
    length: int
    size: int
    content: Content
    offsets: npt.ArrayLike
    data: npt.NDArray[np.generic]
    def parameter(self, key: str) -> object: ...
    def to_NumpyArray(self, dtype: np.dtype[np.generic]) -> Content: ...
    def project(self) -> Content: ...
    def copy(self, *, content: Content) -> Content: ...
    def mask_as_bool(self, valid_when: bool) -> npt.NDArray[np.bool_]: ...
