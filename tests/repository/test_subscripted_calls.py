"""No class of the package is called by a subscript.

``View[Any](x)`` sets ``__orig_class__`` on what it made. A frozen value refuses that with an error, which
`typing` catches: it took as long as making the view. A variable with a type says the same for nothing.
"""

import ast
from pathlib import Path

import pytest

import tensorwrapper as tw

ROOT = Path(tw.__file__).parent


def subscripted_calls(text):
    """Return the lines where what is called is the subscript of a name that begins as a class does."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Subscript)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id[:1].isupper()
        and not node.func.value.id.isupper()
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("x = View[Any](y)", [1]),
        ("x: View[Any] = View(y)", []),
        ("ARCHIVES[kind](stream)", []),
        ("table[kind](stream)", []),
    ],
)
def test_what_is_found(text, lines):
    assert subscripted_calls(text) == lines


def test_no_frozen_class_is_called_by_a_subscript():
    found = {
        path.relative_to(ROOT).as_posix(): lines
        for path in sorted(ROOT.rglob("*.py"))
        if (lines := subscripted_calls(path.read_text(encoding="utf-8")))
    }
    assert found == {}
