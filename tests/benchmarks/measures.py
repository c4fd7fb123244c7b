"""How long the ways of the library are: run ``python -m tests.benchmarks.measures`` to print them.

Calls are the functions of Python that the third call of an operation enters, whoever wrote them; files are
those of the package among them. Lines of code leave out blank ones, comments and docstrings. Lines of
overloads are those of their signatures, decorators with them, without docstrings.

A threshold chooses a way by size: it is a comparison of order with a number from 2 on, written out or named.
These are none: one or several (``< 2``), a rank, the width of a type (``2**32``), what only raises an error,
other limits of what is taken, and what a text or a picture shows.
"""

import ast
import io
import sys
import tempfile
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel

PACKAGE = Path(tw.__file__).parent
ORDERS = ast.Lt | ast.LtE | ast.Gt | ast.GtE
TEXTS = ("_explain.py", "_picture.py", "_pictures.py")
"""Files that make texts and pictures."""
LIMITS = ("MAX_", "LARGEST", "SHOWN")
"""Begins of names of limits: of what is taken, and of what a text shows."""


def calls(work: Callable[[], object]) -> tuple[int, int]:
    """Return how many functions the third call of an operation enters, and how many files of the package."""
    work()
    work()
    found, files = 0, set[str]()

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal found
        if event == "call":
            found += 1
            files.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    # The operation itself is one of them.
    return found - 1, sum(Path(own).is_relative_to(PACKAGE) for own in files)


def operations(folder: Path) -> dict[str, tuple[Callable[[], object], int]]:
    """Return the operations that are counted, by name, and how many calls each may have."""
    box = tw.as_tensor(np.arange(12.0).reshape(3, 4))
    rows = tw.jagged([[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]])
    shards = [tw.as_tensor(np.arange(8.0).reshape(4, 2)) for _ in range(300)]
    places = [0, 5, 700, 33, 1199, 12, 512, 513, 40, 900]
    whole = sel.concat(shards)
    path = folder / "t.tens"

    def joined(tensor: tw.Tensor) -> object:
        return sel.concat([tensor, tensor])[1:4].compute()

    def selected() -> object:
        return whole[places].compute()

    return {
        "concat([t, t])[1:4].compute()": (lambda: joined(box), 150),
        "concat([J, J])[1:4].compute()": (lambda: joined(rows), 400),
        "J[1:2]": (lambda: rows[1:2], 45),
        "a key of 10 positions over 300 shards": (selected, 700),
        "save of one tensor": (lambda: tw.save(path, {"t": box}), 180),
    }


def lines_of_code(path: Path) -> int:
    """Return how many lines of a file have code."""
    text = path.read_text(encoding="utf-8")
    said: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            said.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    written: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in silent and token.type != tokenize.ENDMARKER:
            written.update(range(token.start[0], token.end[0] + 1))
    return len(written - said)


def lines_of_overloads(path: Path) -> int:
    """Return how many lines of a file are signatures of overloads, whose code stands elsewhere."""
    count = 0
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and "overload" in map(ast.unparse, node.decorator_list):
            first, last = node.decorator_list[0].lineno, node.end_lineno or node.lineno
            count += (node.body[0].lineno - 1 if ast.get_docstring(node) else last) - first + 1
    return count


def _named_numbers(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in tree.body:
        target = node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(node, ast.Assign):
            target = node.targets[0]
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and value is not None and target.id.lstrip("_").isupper():
            parts = list(ast.walk(value))
            if all(isinstance(own, ast.Constant | ast.BinOp | ast.operator) for own in parts):
                found.add(target.id)
    return found


def thresholds(folder: Path) -> Iterator[str]:
    """Yield where a number chooses a way."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.py"))}
    named = {name for tree in trees.values() for name in _named_numbers(tree)}
    for path, tree in trees.items():
        if path.name in TEXTS:
            continue
        refusals = [
            id(own)
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and not node.orelse and _refuses(node.body[0])
            for own in ast.walk(node.test)
        ]
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare) and id(node) not in refusals and _chooses(node, named):
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}"


def _refuses(node: ast.stmt) -> bool:
    """Return True if a statement raises an error that callers see: others choose another way."""
    return isinstance(node, ast.Raise) and not ast.unparse(node).startswith("raise _BoundError")


def _chooses(compare: ast.Compare, named: set[str]) -> bool:
    """Return True if one side of a comparison of order counts with a number."""
    sides = [compare.left, *compare.comparators]
    for op, left, right in zip(compare.ops, sides, sides[1:], strict=False):
        several = isinstance(op, ast.Lt | ast.GtE) and isinstance(right, ast.Constant) and right.value == 2
        of_rank = isinstance(left, ast.Attribute) and left.attr == "rank"
        counted = isinstance(op, ORDERS) and not several and not of_rank
        if counted and (_numbers(left, named) or _numbers(right, named)):
            return True
    return False


def _numbers(node: ast.AST, named: set[str]) -> bool:
    """Return True if an expression has a number, which is neither a position nor the width of a type."""
    if isinstance(node, ast.Name):
        return node.id in named and not node.id.lstrip("_").startswith(LIMITS)
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float) and node.value >= 2
    if isinstance(node, ast.Subscript):
        return _numbers(node.value, named)
    if isinstance(node, ast.BinOp) and any(own.lstrip("_").startswith(LIMITS) for own in _names(node)):
        return False
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow | ast.LShift) and not _names(node):
        return False
    return any(_numbers(own, named) for own in ast.iter_child_nodes(node))


def _names(node: ast.AST) -> list[str]:
    return [own.id for own in ast.walk(node) if isinstance(own, ast.Name)]


def main() -> None:
    """Print what is counted beside its aim."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (work, aim) in operations(Path(folder)).items():
            found, files = calls(work)
            lines.append(f"{name:42} {found:6} calls {files:4} files   (aim {aim} calls)")
    for name, folder_of, aim in (("selection", PACKAGE / "selection", 11_500), ("package", PACKAGE, 79_000)):
        count = sum(map(lines_of_code, folder_of.rglob("*.py")))
        lines.append(f"{'lines of code of ' + name:42} {count:6}   (aim {aim})")
    overloads = sum(map(lines_of_overloads, PACKAGE.rglob("*.py")))
    lines.append(f"{'lines of overloads':42} {overloads:6}   (aim 900)")
    hints = len((PACKAGE / "_hints.py").read_text(encoding="utf-8").splitlines())
    lines.append(f"{'lines of hints':42} {hints:6}   (aim 450)")
    lines.append(
        f"{'thresholds of selection':42} {len(list(thresholds(PACKAGE / 'selection'))):6}   (aim 30)"
    )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
