from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from awkward.index import Index8, Index64

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
    starts: npt.ArrayLike
    stops: npt.ArrayLike
    index: npt.ArrayLike
    purelist_depth: int
    data: npt.NDArray[np.generic]
    def parameter(self, key: str) -> object: ...
    def to_NumpyArray(self, dtype: np.dtype[np.generic]) -> Content: ...
    def to_IndexedOptionArray64(self) -> Content: ...
    def to_RegularArray(self) -> Content: ...
    def project(self) -> Content: ...
    def copy(self, *, content: Content) -> Content: ...
    def mask_as_bool(self, valid_when: bool) -> npt.NDArray[np.bool_]: ...

class NumpyArray(Content):
    def __init__(self, data: npt.NDArray[np.generic]) -> None: ...

class ByteMaskedArray(Content):
    def __init__(self, mask: Index8, content: Content, *, valid_when: bool) -> None: ...

class ListArray(Content):
    def __init__(self, starts: Index64, stops: Index64, content: Content) -> None: ...
