NULL: int
SCALAR: int
SIMPLE: int

class SpaceID:
    def get_select_npoints(self) -> int: ...
    def get_simple_extent_type(self) -> int: ...
    def get_simple_extent_dims(self) -> tuple[int, ...]: ...

ALL: SpaceID
