"""What is imported or made on first use, so that importing the package stays fast."""

import importlib
import sys
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Final, TypeAlias, final

OfName: TypeAlias = Callable[[str], object]
"""Function that a module uses for names that it has not loaded."""

Names: TypeAlias = Callable[[], list[str]]
"""Function that lists the names of a module."""


_EXTRAS: Final = {
    **dict.fromkeys(["dask", "distributed"], "tensorwrapper[dask]"),
    "pyarrow": "tensorwrapper[arrow]",
    "h5py": "tensorwrapper[hdf5]",
    **{name: f"tensorwrapper[{name}]" for name in ("awkward", "pandas", "xarray", "zarr")},
    **{name: name for name in ("polars", "safetensors", "scipy", "sparse", "tensorstore", "torch")},
}
"""Extras that install libraries of some calls."""


@final
class naming_extras:  # noqa: N801 - it is called as a function, and a generator takes five times as long
    """Name the extra that installs a missing library.

    Examples
    --------
    >>> with naming_extras():
    ...     raise ModuleNotFoundError("No module named 'h5py'", name="h5py")
    Traceback (most recent call last):
        ...
    ModuleNotFoundError: No module named 'h5py': python -m pip install 'tensorwrapper[hdf5]' brings it
    """

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, raised: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not isinstance(error, ModuleNotFoundError):
            return
        brings = _EXTRAS.get((error.name or "").partition(".")[0])
        if brings is not None and "pip install" not in str(error):
            text = f"{error}: python -m pip install {brings!r} brings it"
            raise ModuleNotFoundError(text, name=error.name) from error


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
        Folders of the package that share their name with another object in it, which users shall get.

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


class Later:
    """An attribute of a class that is made when it is first asked for, and takes the place of this one.

    Few classes of a program are used, and writing their methods took most of the time of an import.
    """

    __slots__ = ("make", "name", "owner")

    def __init__(self, make: Callable[[Any], object]) -> None:
        self.make = make

    def __set_name__(self, owner: type[object], name: str) -> None:
        self.owner, self.name = owner, name

    def then(self, change: Callable[[Any], object]) -> None:
        """Make what a function returns of it."""
        make = self.make
        self.make = lambda owner: change(make(owner))

    def __get__(self, value: object, owner: type[object] | None = None) -> object:
        found: Any = self.make(self.owner)
        # A concurrent thread makes an equal one.
        type.__setattr__(self.owner, self.name, found)
        return found if value is None or not hasattr(found, "__get__") else found.__get__(value, owner)
