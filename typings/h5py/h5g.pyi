class GroupStat:
    fileno: tuple[int, int]
    objno: tuple[int, int]

def get_objinfo(loc: object) -> GroupStat: ...
