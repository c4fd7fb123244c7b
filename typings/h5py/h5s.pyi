NULL: int

class SpaceID: ...

ALL: SpaceID
