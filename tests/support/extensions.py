"""What an extension of a stranger may take: one file, public names, and the contract that it keeps."""

import ast
import importlib
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import tensorwrapper as tw

PACKAGE = Path(tw.__file__).parent
TESTS = Path(__file__).resolve().parents[1]

EXTENSIONS = {
    "shape": "ShapeContract",
    "layout": "LayoutContract",
    "buffer": "BufferContract",
    "packing": "PackingContract",
    "node": "NodeContract",
    "source": "SourceContract",
}
"""What strangers add, each in a file of its name in `tests/extending/`, and the contract that it keeps."""


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Return every plain name below some nodes."""
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}


def taken(tree: ast.Module) -> set[str]:
    """Return what a file takes that a stranger does not have: names that are not public, other tests."""
    found: set[str] = set()
    aliases: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {own.name for own in node.names if is_of_tests(own.name) or is_private(own.name)}
            aliases |= {own.asname or own.name for own in node.names if is_ours(own.name)}
        if isinstance(node, ast.ImportFrom):
            home = node.module or ""
            if node.level or is_of_tests(home):
                found.add(home or ".")
            elif is_ours(home):
                aliases |= {own.asname or own.name for own in node.names}
                public = [] if is_private(home) else importlib.import_module(home).__all__
                found |= {f"{home}.{own.name}" for own in node.names if own.name not in public}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and re.match(r"_[^_]", node.attr):
            below = node.value
            while isinstance(below, ast.Attribute):
                below = below.value
            if isinstance(below, ast.Name) and below.id in aliases:
                found.add(f"{below.id}.{node.attr}")
    return found


def is_ours(name: str) -> bool:
    """Return whether a dotted name is one of this package."""
    return name.partition(".")[0] == PACKAGE.name


def is_private(name: str) -> bool:
    """Return whether a dotted name is one of this package, below what strangers import from."""
    parts = name.split(".")[1:]
    return is_ours(name) and (len(parts) > 1 + ("lowlevel" in parts) or any(p.startswith("_") for p in parts))


def is_of_tests(name: str) -> bool:
    """Return whether a dotted name is one of another test, or of what tests share."""
    root = name.removeprefix("tests.").partition(".")[0]
    here = (TESTS / root).exists() or (TESTS / f"{root}.py").exists()
    return here and root not in sys.stdlib_module_names


def faults(name: str, text: str) -> list[str]:
    """Return what an extension needs besides its one file, or does not prove in it."""
    tree = ast.parse(text)
    bases = names_in(base for n in tree.body if isinstance(n, ast.ClassDef) for base in n.bases)
    kit = EXTENSIONS[name]
    return [*sorted(taken(tree)), *([] if kit in bases else [f"no class runs {kit}"])]


def extensions() -> dict[str, list[str]]:
    """Return for each extension what it needs besides its one file."""
    paths = {name: TESTS / "extending" / f"test_{name}.py" for name in EXTENSIONS}
    return {
        name: faults(name, path.read_text(encoding="utf-8")) if path.exists() else ["there is no test yet"]
        for name, path in paths.items()
    }
