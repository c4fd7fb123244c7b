"""What users may name: modules, classes, functions and the methods of the great classes."""

import importlib
import inspect
from collections.abc import Iterator

import tensorwrapper as tw
from tensorwrapper.selection import View
from tensorwrapper.shape import Mask

MODULES = [
    "buffer",
    "drawing",
    "errors",
    "fields",
    "layout",
    "selection",
    "shape",
    "sharding",
    "store",
    "tensor",
    "testing",
    "transport",
    "typing",
    "viewer",
    "wire",
    "wirecell",
]
GREAT = {
    "tw.Shape": tw.Shape,
    "tw.Layout": tw.Layout,
    "tw.Tensor": tw.Tensor,
    "tw.Records": tw.Records,
    "tw.Tiling": tw.Tiling,
    "tw.shape.Mask": Mask,
    "tw.selection.View": View,
}
"""The classes whose methods users call most, and the way to each."""
IMPORTS = ["import tensorwrapper as tw", *[f"import tensorwrapper.{name}" for name in MODULES]]
"""The lines above a file in which every way leads somewhere."""


def public_callables() -> Iterator[tuple[str, object]]:
    """Yield the way to every public class and function once, and it; no protocols, no errors."""
    seen: set[int] = set()
    for prefix in ["tw", *[f"tw.{name}" for name in MODULES if name not in ("errors", "drawing")]]:
        module = tw if prefix == "tw" else importlib.import_module(f"tensorwrapper.{prefix[3:]}")
        for name in module.__all__:
            value = getattr(module, name)
            ours = callable(value) and getattr(value, "__module__", "").startswith("tensorwrapper")
            error = inspect.isclass(value) and issubclass(value, Exception | Warning)
            if ours and not error and not getattr(value, "_is_protocol", False) and id(value) not in seen:
                seen.add(id(value))
                yield f"{prefix}.{name}", value


def public_methods(way: str) -> Iterator[tuple[str, object]]:
    """Yield the name of every public method of a great class, and what an instance has under it."""
    owner = GREAT[way]
    for name in dir(owner):
        held = inspect.getattr_static(owner, name)
        if not name.startswith("_") and (
            inspect.isfunction(held) or isinstance(held, classmethod | staticmethod)
        ):
            # As a method is called: without the parameter that the dot fills in.
            yield name, held.__get__(object.__new__(owner), owner)


def has_parameters(value: object) -> bool:
    """Tell whether a callable has parameters with names of their own, as Python sees it."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:
        return False
    # What takes any number of positions jedi replaces by what the body does with them.
    return any(parameter.kind is not parameter.VAR_POSITIONAL for parameter in parameters)
