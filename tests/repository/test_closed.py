"""What is closed says so: a `match` ends in `assert_never`, or refuses what it does not know."""

import ast
from pathlib import Path

import pytest

import tensorwrapper as tw
from tests.support.sources import nodes_of

PACKAGE = Path(tw.__file__).parent
OPEN = {
    "remote/server/_clients.py": "requests that bring nothing to be kept have no size to speak of",
    "store/records/_batch_read.py": "a label that says anything else is like no other, and read by itself",
    "selection/schema/_steps.py": "an item of a key that is no text, null or list is an integer",
    "selection/expressions/_fields.py": "every kind of number but those above is an integer",
}
"""Where a `match` ends in an answer for whatever else there is, and what that is."""


def ends_closed(match: ast.Match) -> bool:
    """Tell whether the last case takes all that is left, and does nothing with it but raise."""
    last = match.cases[-1]
    if (
        last.guard is not None
        or not isinstance(last.pattern, ast.MatchAs)
        or last.pattern.pattern is not None
    ):
        return False
    end = last.body[-1]
    called = end.value if isinstance(end, ast.Expr) else None
    return isinstance(end, ast.Raise) or (
        isinstance(called, ast.Call) and ast.unparse(called.func) == "assert_never"
    )


def matches(path: Path) -> list[ast.Match]:
    return [n for n in nodes_of(path) if isinstance(n, ast.Match)]


def test_a_match_ends_in_assert_never_or_in_an_error():
    loose = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if not all(map(ends_closed, matches(path)))
    }

    assert loose == set(OPEN)


@pytest.mark.parametrize(
    ("last", "closed"),
    [
        ("case _:\n  assert_never(x)", True),
        ("case _:\n  raise ValueError", True),
        ("case _:\n  pass", False),
        ("case 2:\n  raise ValueError", False),
        ("case _ if x:\n  raise ValueError", False),
    ],
)
def test_what_ends_a_match(last, closed):
    match = ast.parse("match x:\n case 1:\n  pass\n " + last.replace("\n", "\n ")).body[0]

    assert ends_closed(match) is closed


KINDS = {"SmoothCommon", "JaggedCommon"}
PARTLY = {
    ("shape/_shape_base.py", "implementation_of"): "raises for what is no shape",
    ("shape/facade/_words.py", "shape_words"): "has words for two kinds, and the text for all others",
    ("shape/kinds/_layers.py", "cell_table"): "asks what each has beside the same",
}
"""Functions that ask one value whether it is smooth and whether it is jagged, and why in no `match`."""


def told_apart(function: ast.FunctionDef) -> bool:
    """Tell whether a function asks by `isinstance` of one value for both kinds."""
    asked: dict[str, set[str]] = {}
    for call in ast.walk(function):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "isinstance":
            value, kinds = call.args
            names = {name.id for name in ast.walk(kinds) if isinstance(name, ast.Name)}
            asked.setdefault(ast.unparse(value), set()).update(names)
    return any(names >= KINDS for names in asked.values())


def test_kinds_of_shapes_are_told_apart_by_a_match():
    # Behind a chain of `isinstance` strict checkers refuse the last question, and so an `assert_never`.
    found = {
        (path.relative_to(PACKAGE).as_posix(), function.name)
        for path in PACKAGE.rglob("*.py")
        for function in nodes_of(path)
        if isinstance(function, ast.FunctionDef) and told_apart(function)
    }

    assert found == set(PARTLY)


@pytest.mark.parametrize(("second", "both"), [("JaggedCommon | Rows", True), ("Tiled", False)])
def test_chains_over_kinds_are_found(second, both):
    text = f"def f(x):\n if isinstance(x, SmoothCommon):\n  return 1\n return isinstance(x, {second})"
    assert told_apart(ast.parse(text).body[0]) is both
