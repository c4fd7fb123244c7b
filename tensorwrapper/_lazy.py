"""Names of a package that are loaded when they are first used: whoever needs one does not pay for all."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import TypeAlias

__all__ = ["Names", "OfName", "lazy_names"]

OfName: TypeAlias = Callable[[str], object]
"""What a module answers for a name that it has not loaded."""

Names: TypeAlias = Callable[[], list[str]]
"""What a module says that its names are."""


def lazy_names(
    module: str, homes: Mapping[str, tuple[str, ...]], *, rooms: tuple[str, ...] = ()
) -> tuple[OfName, Names]:
    """Return `__getattr__` and `__dir__` of a module whose names have their homes in other modules.

    Parameters
    ----------
    module
        Its name. The names themselves are imported under `TYPE_CHECKING`, for type checkers and editors.
    homes
        Modules of the same package, written from there, and the names that each gives.
    rooms
        Folders of the package that have the name of something else in it, which is what users shall get.

    Examples
    --------
    >>> find, _ = lazy_names(__name__, {"errors": ("RankError",)})
    >>> find("RankError").__name__
    'RankError'
    """
    found = vars(sys.modules[module])
    package: str = found["__package__"]
    home_of = {name: home for home, names in homes.items() for name in names}
    for room in rooms:
        # An import binds a folder's name once, when it is first loaded; from then on the name is free.
        importlib.import_module(f"{package}.{room}")
        del found[room]

    def load(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value: object = getattr(importlib.import_module(f"{package}.{home_of[name]}"), name)
        found[name] = value
        return value

    return load, lambda: sorted({*found, *home_of})
