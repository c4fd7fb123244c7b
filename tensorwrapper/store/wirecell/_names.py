"""Wire-Cell's names of members in a tensor file, and of their tensors."""

import re
from typing import Final, Literal, TypeAlias, final

from tensorwrapper._value_class import frozen

MemberRole: TypeAlias = Literal["set", "metadata", "array"]
"""Content of a member: metadata of a set, metadata of a tensor, or its elements."""

# No folders, so that unpacking is safe. Each number has one spelling, so that names are unique.
_PREFIX: Final = r"([^/\\\x00-\x1f]*)"
_IDENT: Final = "(0|-?[1-9][0-9]{0,17})"
_INDEX: Final = "(0|[1-9][0-9]{0,17})"
_SET: Final = re.compile(rf"{_PREFIX}tensorset_{_IDENT}", re.ASCII)
_TENSOR: Final = re.compile(rf"{_PREFIX}tensor_{_IDENT}_{_INDEX}", re.ASCII)
_ENDS: Final[dict[str, MemberRole]] = {"_metadata.json": "metadata", "_array.npy": "array"}


@final
@frozen
class MemberName:
    """Parsed name of a member."""

    prefix: str
    ident: int
    index: int
    """Number of the tensor; -1 for metadata of the set."""
    role: MemberRole

    @property
    def name(self) -> str:
        """Name of the tensor, or of the set."""
        if self.role == "set":
            return f"{self.prefix}tensorset_{self.ident}"
        return f"{self.prefix}tensor_{self.ident}_{self.index}"

    @property
    def member(self) -> str:
        """Name of the member."""
        return self.name + ("_array.npy" if self.role == "array" else "_metadata.json")


def member_name(member: str) -> MemberName | None:
    """Return the parsed name of a member; None if it does not belong to a Wire-Cell set.

    Examples
    --------
    >>> member_name("apa-tensor_0_12_array.npy").name, member_name("readme.txt")
    ('apa-tensor_0_12', None)
    """
    bare = member.removeprefix("./")
    for end, role in _ENDS.items():
        if bare.endswith(end):
            name = bare.removesuffix(end)
            found = tensor_number(name)
            if found is not None:
                return MemberName(*found, role)
            of_set = set_number(name)
            if of_set is not None and role == "metadata":
                return MemberName(*of_set, -1, "set")
    return None


def tensor_number(name: str) -> tuple[str, int, int] | None:
    """Return the prefix, set number and tensor number of a tensor's name; None if it has another form."""
    found = _TENSOR.fullmatch(name)
    return (found[1], int(found[2]), int(found[3])) if found else None


def set_number(name: str) -> tuple[str, int] | None:
    """Return the prefix and number of a set's name; None if it has another form."""
    found = _SET.fullmatch(name)
    return (found[1], int(found[2])) if found else None
