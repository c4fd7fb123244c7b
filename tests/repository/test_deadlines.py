"""A test that expects a reason gives a busy machine the time to come to it."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ENOUGH = 5.0
"""Seconds: a machine that runs other work as well may let a thread wait for one or two."""
ONLY_TIME = ("TimeoutError", "TransportError", "PeerAbsentError")
"""What the end of the deadline itself is, or may be; that nobody listens is told only then."""


def hurried(text, name="<text>"):
    """Return where a reason is expected within less than `ENOUGH` seconds, as ``name:line``."""
    found = []
    for block in ast.walk(ast.parse(text)):
        if not isinstance(block, ast.With | ast.AsyncWith):
            continue
        calls = [item.context_expr for item in block.items if isinstance(item.context_expr, ast.Call)]
        expected = [ast.unparse(call.args[0]) for call in calls if _is_raises(call)]
        if expected and not any(word in error for error in expected for word in ONLY_TIME):
            found += [f"{name}:{call.lineno}" for step in block.body for call in _short(step)]
    return found


def _is_raises(call):
    return ast.unparse(call.func).endswith("raises") and call.args


def _short(step):
    for call in ast.walk(step):
        for word in call.keywords if isinstance(call, ast.Call) else ():
            value = word.value.value if isinstance(word.value, ast.Constant) else None
            if word.arg == "timeout" and isinstance(value, int | float) and 0 < value < ENOUGH:
                yield call


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("with pytest.raises(KeyError):\n    ask(timeout=0.5)", ["<text>:2"]),
        ("with a, pytest.raises(KeyError) as e:\n    f(ask(3, timeout=1))", ["<text>:2"]),
        ("async with pytest.raises((A, B)):\n    await ask(timeout=1)", ["<text>:2"]),
        ("with pytest.raises(KeyError):\n    ask(timeout=10)", []),
        ("with pytest.raises(KeyError):\n    ask(timeout=0)", []),
        ("with pytest.raises(KeyError):\n    ask(timeout=None)", []),
        ("with pytest.raises(TransportTimeoutError):\n    ask(timeout=0.5)", []),
        ("with pytest.raises((TransportTimeoutError, KeyError)):\n    ask(timeout=0.5)", []),
        ("with socket:\n    ask(timeout=0.5)", []),
    ],
)
def test_what_is_too_short(text, lines):
    assert hurried(text) == lines


def test_reasons_are_given_time():
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("*.py"))}
    hasty = [
        where
        for path, text in texts.items()
        if "timeout=" in text
        for where in hurried(text, path.relative_to(TESTS.parent).as_posix())
    ]
    assert hasty == []
