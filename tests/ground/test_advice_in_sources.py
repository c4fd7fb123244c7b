"""Every advice in an error's text, found in the sources: it is run, or a reason says why it is not."""

import ast
from functools import cache
from pathlib import Path

import pytest

import tensorwrapper as tw
from tensorwrapper import remote, transport
from tensorwrapper import selection as sel
from tensorwrapper.store import ArrayFile
from tests.support.advice import code_in, run_all
from tests.support.sources import nodes_of

PACKAGE = Path(tw.__file__).parent
HOLE = "\0"  # what stands for a value in a text that is put together


def text_of(node):
    """Return the text that an expression of a raise statement writes, with holes for values."""
    parts = []
    for own in ast.iter_child_nodes(node) if not isinstance(node, ast.JoinedStr) else node.values:
        if isinstance(own, ast.Constant) and isinstance(own.value, str):
            parts.append(own.value)
        elif isinstance(own, ast.FormattedValue):
            parts.append(HOLE)
        elif isinstance(own, ast.AST):
            parts.append(text_of(own))
    return "".join(parts)


@cache
def advice(floor):
    """Return all code between backquotes in what a floor raises, and where it stands."""
    found = {}
    for path in sorted((PACKAGE / floor).rglob("*.py")) if floor else sorted(PACKAGE.glob("*.py")):
        for node in nodes_of(path):
            if isinstance(node, ast.Raise) and node.exc is not None:
                for code in code_in(text_of(node.exc)):
                    if HOLE not in code:
                        found.setdefault(code, f"{path.relative_to(PACKAGE)}:{node.lineno}")
    return found


FLOORS = ["", *sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))]
"""The files right in the package, and its folders."""

NOT_RUN = {
    "await": "a word of Python, which an error of coroutines advises to write",
    "await part.view()": "waits for a server; run in the tests of awaited tensors",
    "await t.view()": "waits for a server; run in the tests of awaited tensors",
    "in": "a word of Python, which the error is about",
}
"""What is no call that could run here, and why."""

NAMED = {
    "broadcast": sel.View,
    "losses": ArrayFile,
    "lowered": sel.Node,
    "ordered": sel.Node,
    "receive_from": transport.Socket,
    "selected": sel.Node,
    "values": sel.Node,
    "view()": remote.RemoteTensor,
}
"""Methods that are named alone, and the class that has them."""


# The sources are read within the test: each process of `-n` would do so to collect one test for each advice.
@pytest.mark.parametrize("floor", FLOORS)
def test_it_runs(floor, tmp_path, monkeypatch):
    for number, code in enumerate(sorted(advice(floor).keys() - NOT_RUN.keys() - NAMED.keys())):
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            run_all(f"`{code}`", folder, monkeypatch)
        except Exception as error:
            error.add_note(f"`{code}` is advised in {advice(floor)[code]}")
            raise


def test_methods_that_are_named_alone_are_there_and_nothing_is_excused_in_vain():
    all_advice = {code for floor in FLOORS for code in advice(floor)}
    assert [name for name, own in NAMED.items() if not hasattr(own, name.removesuffix("()"))] == []
    assert (NOT_RUN.keys() | NAMED.keys()) - all_advice == set()
    assert "sel.iota((3,)).astype('m8[s]')" in all_advice
