"""Who raises an error that a local name stands for makes a ring: error, traceback, frame, error.

All that the frames on the way hold stays until Python looks for rings: the frames of messages to clients that
had gone were 80 MiB beyond what a server may hold. So the name is deleted, or there is none.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "tensorwrapper"
FOLDERS = ("remote", "selection/execution", "transport")


def raised_names(text):
    """Return the lines at which a function raises a local name that it keeps."""
    found = []
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        nodes = list(ast.walk(function))
        # `except ... as error` deletes its name, and a class is none.
        kept = {own.id for own in nodes if isinstance(own, ast.Name) and isinstance(own.ctx, ast.Store)}
        kept |= {own.arg for own in nodes if isinstance(own, ast.arg)}
        kept -= {own.name for own in nodes if isinstance(own, ast.ExceptHandler)}
        kept -= {own.id for own in nodes if isinstance(own, ast.Name) and isinstance(own.ctx, ast.Del)}
        found += [
            own.lineno
            for own in nodes
            if isinstance(own, ast.Raise) and isinstance(own.exc, ast.Name) and own.exc.id in kept
        ]
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_error_that_is_raised_has_a_name_that_stays(folder):
    paths = sorted((ROOT / folder).rglob("*.py"))
    assert paths
    found = [f"{own}:{line}" for own in paths for line in raised_names(own.read_text("utf-8"))]
    assert not found


def test_the_search_finds_what_it_is_for():
    assert raised_names("def f(error):\n    raise error") == [2]
    assert raised_names("def f():\n    gone = E()\n    raise gone from None") == [3]
    assert not raised_names("def f():\n    try:\n        g()\n    except E as error:\n        raise error")
    assert not raised_names("def f(e):\n    try:\n        raise e\n    finally:\n        del e")
