"""Wire-Cell's names of the members of a tensor file, and of the tensors in them."""

import re
from typing import Final, Literal, TypeAlias, final

from tensorwrapper._value_class import frozen

__all__ = ["MemberName", "MemberRole", "member_name", "set_number", "tensor_number"]

MemberRole: TypeAlias = Literal["set", "metadata", "array"]
"""Content of a member: metadata of a set, metadata of a tensor, or its elements."""

# No folders: unpacking writes only into its folder. Each number has one form, so that names are unique.
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
    """The number of the tensor; -1 for metadata of the set."""
    role: MemberRole

    @property
    def name(self) -> str:
        """The name of the tensor, or of the set."""
        if self.role == "set":
            return f"{self.prefix}tensorset_{self.ident}"
        return f"{self.prefix}tensor_{self.ident}_{self.index}"

    @property
    def member(self) -> str:
        """The name of the member."""
        return self.name + ("_array.npy" if self.role == "array" else "_metadata.json")


def member_name(member: str) -> MemberName | None:
    """Return the parsed name of a member; None if it is not of Wire-Cell's sets.

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
    """Return prefix, number of the set, and number in it that the name of a tensor says; None if none."""
    found = _TENSOR.fullmatch(name)
    return (found[1], int(found[2]), int(found[3])) if found else None


def set_number(name: str) -> tuple[str, int] | None:
    """Return prefix and number that the name of a set says; None if it is none."""
    found = _SET.fullmatch(name)
    return (found[1], int(found[2])) if found else None
