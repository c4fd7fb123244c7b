"""What is counted of the house, all of it read from the sources; but calls are counted as they run."""

import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import FrameType

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Layout, Shape
from tensorwrapper import selection as sel

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "tensorwrapper"
TESTS = ROOT / "tests"

FACADES = {"Shape": tw.Shape, "Layout": tw.Layout, "Tensor": tw.Tensor, "View": sel.View}
FAMILIES = {"layouts": "LayoutCommon", "buffers": "BufferCommon", "nodes": "Node"}
EXTENSIONS = {
    "shape": "ShapeContract",
    "layout": "LayoutContract",
    "buffer": "BufferContract",
    "packing": "PackingContract",
    "node": "NodeContract",
    "source": "SourceContract",
}
"""What strangers add, each in a file of its name in `tests/extending/`, and the contract that it keeps."""

SILENT = {"__init__.py", "lowlevel.py"}
"""Files that only say where names live: tests/repository/test_house.py compares their lists."""

KINDS = {"smooth", "jagged", "nested"}
COMPREHENSIONS = {"<listcomp>", "<dictcomp>", "<setcomp>"}
"""Frames of their own in some versions of Python and not in others."""


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax of every file, by its path below the package."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return {p.relative_to(PACKAGE).as_posix(): ast.parse(p.read_text(encoding="utf-8")) for p in paths}


@cache
def telling(path: str) -> list[ast.AST]:
    """Return the nodes of a file that ask, import or define, walked once."""
    kinds = ast.Call, ast.Compare, ast.MatchClass, ast.Match, ast.ImportFrom, ast.ClassDef, ast.Attribute
    return [node for node in ast.walk(trees()[path]) if isinstance(node, kinds)]


@cache
def room(path: str) -> str:
    """Return the folder of a file, with a stroke behind; a file on the ground is its own."""
    return path.rpartition("/")[0] + "/" if "/" in path else path


@cache
def floor(path: str) -> str:
    """Return the floor of a file, or of a dotted name below the package."""
    return re.split(r"[/.]", path)[0]


def rooms() -> dict[str, list[tuple[str, int]]]:
    """Return the files of each room with their lines, `__init__` left out."""
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for path in trees():
        if not path.endswith("__init__.py"):
            lines = (PACKAGE / path).read_text(encoding="utf-8").count("\n")
            found[room(path) if "/" in path else "the ground"].append((path, lines))
    return dict(sorted(found.items()))


def said(name: str) -> str:
    """Return the first line in which a room says what it is for."""
    tree = trees().get(f"{name}__init__.py")
    return "" if tree is None else (ast.get_docstring(tree) or "").splitlines()[0].replace("``", "`")


def layers() -> dict[str, int]:
    """Return how many layers each import contract has."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    return {c["name"]: len(c["layers"]) for c in contracts if c["type"] == "layers"}


def imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield the dotted home, below the package, and the name of each thing imported from the package."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tensorwrapper."):
            for alias in node.names:
                yield (node.module or "").removeprefix("tensorwrapper."), alias.name


def private_names() -> list[str]:
    """Return where a file uses a private name of another floor."""
    folders = {p.name for p in PACKAGE.iterdir() if p.is_dir()}
    return [
        f"{path}: {home}.{name}"
        for path in trees()
        for home, name in imports(telling(path))
        if floor(home) in folders
        and floor(home) != floor(path)
        and any(word.startswith("_") for word in [*home.split(".")[1:], name])
    ]


def lowlevel() -> dict[str, dict[str, list[str]]]:
    """Return the names that each floor keeps for others, and which floors (or extension tests) use each."""
    found: dict[str, dict[str, list[str]]] = {}
    for path in trees():
        if path.endswith("/lowlevel.py"):
            module = importlib.import_module(f"tensorwrapper.{floor(path)}.lowlevel")
            found[floor(path)] = {name: [] for name in module.__all__}
    sources = {path: telling(path) for path in trees()}
    for test in sorted((TESTS / "extending").glob("*.py")):
        sources[f"extensions/{test.name}"] = list(ast.walk(ast.parse(test.read_text(encoding="utf-8"))))
    for path, nodes in sources.items():
        for home, name in imports(nodes):
            if home.endswith(".lowlevel") and name in found.get(floor(home), {}):
                users = found[floor(home)][name]
                if floor(path) not in (*users, floor(home)):
                    users.append(floor(path))
    return found


def alone(users: Iterable[str]) -> bool:
    """Return whether one floor alone uses a name: extension tests and contract kits count as many."""
    return len(set(users)) < 2 and not {"extensions", "testing"} & set(users)


@cache
def families() -> dict[str, dict[str, str]]:
    """Return the classes of each family, below its root, and the rooms where they are written."""
    classes = [
        (node.name, {re.sub(r"\[.*", "", ast.unparse(base), flags=re.DOTALL) for base in node.bases}, room(p))
        for p in trees()
        for node in telling(p)
        if isinstance(node, ast.ClassDef)
    ]
    found: dict[str, dict[str, str]] = {}
    for family, root in FAMILIES.items():
        known: dict[str, str] = {}
        while more := {n: r for n, bases, r in classes if n not in known and bases & {root, *known}}:
            known |= more
        found[family] = known
    return found


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Return every plain name below some nodes."""
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}


def asked(node: ast.AST) -> set[str]:
    """Return the names of the classes that a node asks for."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, wanted]):
            return names_in([wanted])
        case ast.MatchClass(cls=ast.Name(id=name)):
            return {name}
        case ast.Compare(left=ast.Call(func=ast.Name(id="type")), comparators=wanted):
            return names_in(wanted)
        case _:
            return set()


def asks_kind(node: ast.AST) -> bool:
    """Return whether a node compares the kind of a shape with the name of one."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        words = {n.value for side in sides for n in ast.walk(side) if isinstance(n, ast.Constant)}
        return bool(words & KINDS) and any(isinstance(s, ast.Attribute) and s.attr == "kind" for s in sides)
    if (
        isinstance(node, ast.Match)
        and isinstance(node.subject, ast.Attribute)
        and node.subject.attr == "kind"
    ):
        words = {
            n.value for case in node.cases for n in ast.walk(case.pattern) if isinstance(n, ast.Constant)
        }
        return bool(words & KINDS)
    return False


def asks_box(node: ast.AST) -> bool:
    """Return whether a node asks a shape whether it is a box, or has layers."""
    return isinstance(node, ast.Attribute) and node.attr in {"is_box", "has_layers"}


def asks_name(node: ast.AST) -> bool:
    """Return whether a node looks for an attribute by a name that is written out."""
    match node:
        case ast.Call(func=ast.Name(id="hasattr" | "getattr"), args=[_, ast.Constant(value=str(name)), *_]):
            return not name.startswith("__")  # what Python or NumPy looks for by name has no class to ask
        case _:
            return False


def questions() -> dict[str, Counter[str]]:
    """Return, by the room that asks, how often it asks for a class of another room, a kind, or a name."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for path in trees():
        counts = found[room(path)]
        taken_from = {name: home for home, name in imports(telling(path))}
        for node in telling(path):
            if wanted := asked(node):
                for family, homes in families().items():
                    # A name may be that of several classes: the one that is imported is meant.
                    counts[family] += any(
                        homes[n] != room(path) and floor(taken_from[n]) == floor(homes[n])
                        for n in wanted & set(homes) & set(taken_from)
                    )
            if floor(path) != "shape":
                counts["kinds"] += asks_kind(node)
                counts["boxes"] += asks_box(node)
            counts["names"] += asks_name(node)
    return {path: +counts for path, counts in sorted(found.items()) if +counts}


def depth(value: type) -> int:
    """Return the longest line of classes of this package from a class to its last base."""
    below = [depth(base) for base in value.__bases__ if base.__module__.startswith("tensorwrapper")]
    return 1 + max(below, default=0)


def calls(work: Callable[[], object]) -> int:
    """Return how many functions of this package an operation calls once everything is warm."""
    for _ in range(5):
        work()
    found = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal found
        code = frame.f_code
        inside = code.co_filename.startswith(str(PACKAGE)) and code.co_name not in COMPREHENSIONS
        found += event == "call" and inside

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return found


def ways() -> dict[str, tuple[int, int]]:
    """Return the calls of the way of one element, and how many it may have."""
    s, t = Shape(3, 4), tw.as_tensor(np.arange(12.0).reshape(3, 4))
    v = sel.as_view(t)
    # What stands before the last dot is counted too, so it may not be done beforehand.
    return {
        "Shape(3, 4)": (calls(lambda: Shape(3, 4)), 3),
        "s[1:2]": (calls(lambda: s[1:2]), 9),
        "Layout(s)": (calls(lambda: Layout(s)), 10),
        "t[1:2]": (calls(lambda: t[1:2]), 8),
        "t[1, 2].item()": (calls(lambda: t[1, 2].item()), 12),  # noqa: PLW0108
        "v[1:2].compute()": (calls(lambda: v[1:2].compute()), 40),  # noqa: PLW0108
        "concat([t, t])[1:4].compute()": (calls(lambda: sel.concat([t, t])[1:4].compute()), 150),  # noqa: PLW0108
    }


def loaded() -> dict[str, tuple[int, int]]:
    """Return how many modules of ours a first use loads, and how many attrs classes it makes."""
    code = (
        "import sys, json, attr._make as m\nn = [0]; build = m._ClassBuilder.build_class\n"
        "def counted(self):\n    n[0] += 1\n    return build(self)\nm._ClassBuilder.build_class = counted\n"
        "import attrs; before = n[0]\nimport tensorwrapper; tensorwrapper.{}\n"
        "print(json.dumps([sum(k.startswith('tensorwrapper') for k in sys.modules), n[0] - before]))"
    )
    found: dict[str, tuple[int, int]] = {}
    for name in ("Shape", "Layout", "Tensor", "selection.View"):
        command = [sys.executable, "-c", code.format(name)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)  # noqa: S603
        modules, classes = json.loads(done.stdout)
        found[name] = (modules, classes)
    return found


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
    return floor(name) == PACKAGE.name


def is_private(name: str) -> bool:
    """Return whether a dotted name is one of this package, below what strangers import from."""
    parts = name.split(".")[1:]
    return is_ours(name) and (len(parts) > 1 + ("lowlevel" in parts) or any(p.startswith("_") for p in parts))


def is_of_tests(name: str) -> bool:
    """Return whether a dotted name is one of another test, or of what tests share."""
    root = floor(name.removeprefix("tests."))
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


def untested() -> dict[str, bool]:
    """Return of every module in a folder whether the same room of `tests/` has no test of its name."""
    return {
        path: not (TESTS / Path(path).parent / f"test_{Path(path).stem.lstrip('_')}.py").exists()
        for path in trees()
        if "/" in path and Path(path).name not in SILENT
    }


def with_tests() -> dict[str, tuple[int, int]]:
    """Return, by floor, how many modules there are, and how many have a test of their name."""
    found: Counter[str] = Counter()
    named: Counter[str] = Counter()
    for path, has_none in untested().items():
        found[floor(path)] += 1
        named[floor(path)] += not has_none
    return {name: (found[name], named[name]) for name in sorted(found)}
