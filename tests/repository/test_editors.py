"""What editors show of public names: with jedi, and with the language server of pyright."""

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path

import attrs
import jedi
import pytest

import tensorwrapper as tw
from tests.support.language_server import LanguageServer
from tests.support.long_runs import IS_LONG
from tests.support.public_names import (
    GREAT,
    IMPORTS,
    MODULES,
    has_parameters,
    public_callables,
    public_methods,
)

PREFIXES = ["tw.", *[f"tw.{name}." for name in MODULES if name != "drawing"]]
PACKAGE = Path(tw.__file__).parent
PRIVATE = re.compile(r"[(,] ?_\w")


@pytest.mark.slow
@pytest.mark.parametrize("prefix", PREFIXES)
def test_tab_shows_every_public_name(prefix):
    source = f"import tensorwrapper as tw\n{prefix}"
    shown = {c.name for c in jedi.Script(source).complete(2, len(prefix))}
    module = tw if prefix == "tw." else importlib.import_module(f"tensorwrapper.{prefix[3:-1]}")

    assert set(module.__all__) <= shown


@pytest.mark.slow
@pytest.mark.parametrize("public", ["Shape", "Tiling", "BlockPattern", "Layout", "Tensor", "Indices"])
def test_tab_shows_every_member_of_a_class(public):
    source = f"import tensorwrapper as tw\ntw.{public}."
    shown = {c.name for c in jedi.Script(source).complete(2, len(public) + 4)}
    members = {name for name in dir(getattr(tw, public)) if not name.startswith("_")}

    assert members <= shown


@cache
def calls():
    """Return a file that calls everything public, the line of each call, and what is called there."""
    lines, found = list(IMPORTS), {}
    for way, value in public_callables():
        found[way] = len(lines), value
        lines.append(f"{way}()")
    for way in GREAT:
        lines.append(f"def of_{way.replace('.', '_')}(x: {way}):")
        for name, value in public_methods(way):
            found[way, name] = len(lines), value
            lines.append(f"    x.{name}()")
    return lines, found


@cache
def script(part):
    """Return that file as jedi sees it, which remembers what it found out about one call for the next.

    It follows so many calls of functions, and then no more: each part of the file begins anew.
    """
    del part
    return jedi.Script("\n".join(calls()[0]) + "\n")


def jedi_misses(call: str | tuple[str, str]) -> str | None:
    """Return what jedi does not show where a call begins, if there is something."""
    lines, found = calls()
    line, value = found[call]
    shown = script(line // 64).get_signatures(line + 1, len(lines[line]) - 1)
    texts = {signature.docstring(raw=True) for signature in shown} - {""}
    if len(texts) != 1:
        return f"{len(texts)} texts"
    if has_parameters(value) and not any(signature.params for signature in shown):
        return "no parameters"
    names = [[parameter.name for parameter in signature.params] for signature in shown]
    if any(name.startswith("_") for each in names for name in each):
        return f"private parameters: {names}"
    # attrs takes a field without its underscore, and not at all what it makes itself; jedi knows neither.
    if attrs.has(value) and len(shown) == 1 and names != [list(inspect.signature(value).parameters)]:
        return f"other parameters than Python takes: {names[0]}"
    return None


@pytest.mark.slow
def test_jedi_shows_parameters_and_one_text():
    # The language server is asked for all of them below, and jedi for all of them in `.ci/long`.
    ways = [way for way, _ in public_callables()]
    missing = {way: jedi_misses(way) for way in ways[:: 1 if IS_LONG else 4]}

    assert len(ways) > 250
    assert {way: miss for way, miss in missing.items() if miss} == {}


@pytest.mark.slow
@pytest.mark.parametrize("way", GREAT)
def test_jedi_shows_parameters_and_one_text_of_methods(way):
    missing = {name: jedi_misses((way, name)) for name, _ in public_methods(way)}

    assert {name: miss for name, miss in missing.items() if miss} == {}


def server_misses(shown: list[dict], hover: str, value: object) -> str | None:
    """Return what the server does not show where a call of `value` stands, if there is something."""
    labels = [signature["label"] for signature in shown]
    texts = [signature.get("documentation", {"value": ""})["value"] for signature in shown]
    # An overload with a text of its own, for jedi, has the first sentences of the whole one.
    heads = {" ".join(text.partition("\n\n")[0].split()) for text in texts}
    if len(heads) != 1 or "" in heads:
        return f"not one text: {sorted(heads)}"
    if not re.sub(r"\s", "", hover).count(re.sub(r"\s", "", heads.pop())):
        return f"another text, or none, over the name: {hover}"
    if has_parameters(value) and not any(signature["parameters"] for signature in shown):
        return "no parameters"
    if any(map(PRIVATE.search, labels)):
        return f"private parameters: {labels}"
    return None


@pytest.mark.static
def test_the_language_server_shows_parameters_and_one_text(tmp_path):
    lines, asked = calls()
    missing = {}
    with LanguageServer(tmp_path, PACKAGE) as server:
        file = server.open("calls.py", "\n".join(lines) + "\n")
        for call, (line, value) in asked.items():
            end = len(lines[line])
            shown = server.signatures(file, line, end - 1)
            missing[call] = server_misses(shown, server.hover(file, line, end - 3), value)

    assert len(missing) > 400
    assert {call: miss for call, miss in missing.items() if miss} == {}


@pytest.mark.static
def test_over_a_variable_stands_what_it_is_and_no_text(tmp_path):
    """Instances of a class with a documented `__call__` would show that text wherever they are named."""
    lines = ["import tensorwrapper as tw", "shape = tw.Shape(2, 3)", "tensor = tw.zeros(shape)"]
    with LanguageServer(tmp_path, PACKAGE) as server:
        file = server.open("variables.py", "\n".join(lines) + "\n")
        shown = [server.hover(file, line, 1) for line in (1, 2)]

    assert shown[0] == "(variable) shape: Shape[Rank2]"
    assert re.fullmatch(r"\(variable\) tensor: Tensor\[float64.*\]", shown[1])


def said_of(doc: str) -> str:
    """Return what a docstring says, but for its examples: shapes, errors, what it costs."""
    return re.sub(
        r"\n\nExamples\n-+\n.*?(?=\n\n[A-Z]\w+\n-{3,}\n|\Z)", "", inspect.cleandoc(doc), flags=re.DOTALL
    )


def is_overload(function):
    """Tell whether a function is a signature alone."""
    return any(isinstance(own, ast.Name) and own.id == "overload" for own in function.decorator_list)


@pytest.mark.parametrize(
    "path", ["tensor/_common.py", "tensor/_libraries.py", "selection/facade/_view_cells.py"]
)
def test_what_editors_show_of_an_overload_is_what_python_shows(path):
    tree = ast.parse((PACKAGE / path).read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    texts = {node.name: ast.get_docstring(node) for node in functions if not is_overload(node)}
    shown = [(node.name, doc) for node in functions if is_overload(node) and (doc := ast.get_docstring(node))]

    assert shown
    assert [name for name, doc in shown if doc != said_of(texts[name])] == []


def has_code(path, line):
    """Tell whether a line, from 0 on, is in the head of a function that does something."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    (body,) = [own.body for own in functions if own.lineno <= line + 1 <= own.body[0].lineno]
    return any(not (isinstance(own, ast.Expr) and isinstance(own.value, ast.Constant)) for own in body)


@pytest.mark.static
def test_definitions_of_tensors_and_views_lead_to_their_code(tmp_path):
    lines, asked = list(IMPORTS), []
    for way in ("tw.Tensor", "tw.selection.View"):
        lines.append(f"def of_{way.replace('.', '_')}(x: {way}):")
        for name in [name for name in dir(GREAT[way]) if not name.startswith("_")]:
            asked.append((len(lines), f"{way}.{name}"))
            lines.append(f"    x.{name}")
    with LanguageServer(tmp_path, PACKAGE) as server:
        file = server.open("definitions.py", "\n".join(lines) + "\n")
        found = {name: server.definitions(file, line, len(lines[line]) - 1) for line, name in asked}

    assert len(found) > 150
    assert [name for name, places in found.items() if not any(has_code(*place) for place in places)] == []
