"""A floor keeps what begins with an underscore to itself: others use public names and `lowlevel`."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.support.sources import tree_of

PACKAGE = Path(__file__).resolve().parents[2] / "tensorwrapper"
PROTOCOLS = {"_repr_html_", "_repr_svg_"}
"""Names that IPython and others call: public in all but their form."""
FOREIGN = {
    "pa.DataType._import_from_c_capsule": "pyarrow has no other name for a type that is asked for",
    "os._exit": "what ends a forked process at once has no other name in Python",
    "found._meta": "Dask loses the mask of a single element when it makes an array",
    "packed._nested_tensor_size": "the extents of a nested tensor of PyTorch, else one call for each",
}
"""What is taken of modules that are not of this package, and why."""


def sources() -> Iterator[tuple[str, str, ast.Module]]:
    """Yield the path, the floor and the syntax of each file; a file on the ground is a floor of its own."""
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE)
        floor = place.parts[0] if len(place.parts) > 1 else place.stem
        yield place.as_posix(), floor, tree_of(path)


def is_private(name: str) -> bool:
    dunder = name.startswith("__") and name.endswith("__")
    return name.startswith("_") and not dunder and name not in PROTOCOLS


def attributes_of(tree: ast.Module) -> Iterator[str]:
    """Yield the private attributes that the classes of a file have: fields, methods, what is set on self."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef():
                for line in node.body:
                    match line:
                        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                            yield name
                        case ast.AnnAssign(target=ast.Name(id=name)):
                            yield name
                        case ast.Assign(targets=targets):
                            yield from (target.id for target in targets if isinstance(target, ast.Name))
                            # Names of slots are text.
                            for text in ast.walk(line.value):
                                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                                    yield text.value
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                yield name


def imported(tree: ast.Module) -> Iterator[tuple[list[str], ast.ImportFrom]]:
    """Yield the way from the package to each name that a file imports from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tensorwrapper"):
            home = (node.module or "").split(".")[1:]
            yield from (([*home, alias.name], node) for alias in node.names)


def test_no_private_name_is_imported_from_another_floor():
    # The ground has private modules of public names: all floors may import those.
    found = [
        f"{path}:{node.lineno}: {'.'.join(way)}"
        for path, floor, tree in sources()
        for way, node in imported(tree)
        if way[0] != floor and any(map(is_private, way[1:]))
    ]

    assert found == []


def trespasses() -> Iterator[str]:
    """Yield where a file touches a private attribute that only classes of other floors have.

    Types are not known here: where several floors have an attribute of that name, the own floor is believed,
    unless the attribute is taken of a class that was imported from another one.
    """
    files = list(sources())
    homes: dict[str, set[str]] = defaultdict(set)
    for _, floor, tree in files:
        for name in attributes_of(tree):
            homes[name].add(floor)
    for path, floor, tree in files:
        strangers = {way[-1] for way, _ in imported(tree) if len(way) > 1 and way[0] != floor}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and is_private(node.attr):
                owner = ast.unparse(node.value)
                foreign = owner in strangers or floor not in homes[node.attr]
                if owner not in {"self", "cls", "super()"} and foreign:
                    yield f"{path}:{node.lineno}: {owner}.{node.attr}"


def test_no_private_attribute_of_another_floor_is_touched():
    found = list(trespasses())

    assert [line for line in found if line.partition(": ")[2] not in FOREIGN] == []
    assert {line.partition(": ")[2] for line in found} == set(FOREIGN), "an exception that is none any more"


def test_attributes_are_found_in_every_form():
    text = """
class A:
    __slots__ = ("_slot",)
    _field: int = 0
    _value = 1
    def _method(self):
        self._set = 2
        other._not_ours = 3
"""

    found = {name for name in attributes_of(ast.parse(text)) if is_private(name)}

    assert found == {"_slot", "_field", "_value", "_method", "_set"}
