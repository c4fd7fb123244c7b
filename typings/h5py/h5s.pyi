NULL: int
