class ObjInfo:
    fileno: int
    addr: int

def get_info(loc: object) -> ObjInfo: ...
