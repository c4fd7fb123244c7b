"""No expression of the package takes more than linear time, and no reader of texts more than it is given.

A quantifier that goes back costs the square of its length where a second one can match the same characters,
and more within another; one that a search begins with, at each place anew. So each pattern is taken apart.
"""

import ast
import contextlib
import importlib
import pkgutil
import re
import re._constants as sre
import re._parser as parser
import sys
from pathlib import Path

import pytest

import tensorwrapper as tw
from tensorwrapper import Layout, Shape, sharding
from tensorwrapper import selection as sel
from tensorwrapper._json import parse_json
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.layout import IndexDomain, IndexTransform, parse_tiler
from tensorwrapper.remote import Catalogue
from tensorwrapper.shape import Labels, RowPartitions, ShapePattern
from tests.support.sources import nodes_of

ROOT = Path(tw.__file__).parent
CHARACTERS = "".join(map(chr, range(256)))
ANYTHING = frozenset(CHARACTERS)


def patterns():
    """Every compiled pattern that a module of the package holds, by name."""
    found = {}
    for module in pkgutil.walk_packages([str(ROOT)], "tensorwrapper."):
        if not module.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, re.Pattern):
                    found[f"{module.name}.{name}"] = value
    return found


def letters(item):
    """The characters with which what an item matches can be made, and whether it matches nothing too."""
    kind, given = item
    if kind in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
        state = parser.State()
        state.str, state.flags = "", re.ASCII
        node = parser.SubPattern(state, [item])
        compiled = re._compiler._code(node, re.ASCII)
        pattern = re._compiler._sre.compile("", re.ASCII, compiled, 0, {}, ())
        return frozenset(filter(pattern.fullmatch, CHARACTERS)), False
    if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, _, inner = given
        own, empty = together(inner)
        return own, empty or not least
    if kind is sre.SUBPATTERN:
        return together(given[-1])
    if kind is sre.ATOMIC_GROUP:
        return together(given)
    if kind is sre.BRANCH:
        ways = [together(way) for way in given[1]]
        return frozenset().union(*[own for own, _ in ways]), any(empty for _, empty in ways)
    if kind in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
        return frozenset(), True
    return ANYTHING, True


def together(items):
    own = [letters(item) for item in items]
    return frozenset().union(*[letters for letters, _ in own]), all(empty for _, empty in own)


def flat(items):
    """The items one after the other, groups opened; alternatives stay."""
    for item in items:
        if item[0] is sre.SUBPATTERN:
            yield from flat(item[1][-1])
        else:
            yield item


def goes_back(item):
    return item[0] in (sre.MAX_REPEAT, sre.MIN_REPEAT) and item[1][1] == sre.MAXREPEAT


def repeats_within(items):
    for item in flat(items):
        if goes_back(item):
            yield item
        elif item[0] in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            yield from repeats_within(item[1][2])
        elif item[0] is sre.BRANCH:
            for way in item[1][1]:
                yield from repeats_within(way)


def faults(items):
    """What may cost more than linear time in a pattern."""
    items = list(flat(items))
    for place, item in enumerate(items):
        kind, given = item
        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            if given[1] == sre.MAXREPEAT and list(repeats_within(given[2])):
                yield "a repeat that goes back within another"
            yield from faults(given[2])
        if kind is sre.BRANCH:
            for way in given[1]:
                yield from faults(way)
        if not goes_back(item):
            continue
        own, _ = letters(item)
        for later in items[place + 1 :]:
            matched, empty = letters(later)
            if any(letters(repeat)[0] & own for repeat in repeats_within([later])):
                yield "two repeats over the same characters"
            if not empty and not matched & own:
                break


def starts_with_a_repeat(items):
    """Whether a search may run on and fail from each place; a pattern that is one repeat does not fail."""
    items = list(flat(items))
    for item in items if len(items) > 1 else ():
        if item[0] in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT) and item[1][1] == sre.MAXREPEAT:
            return True
        if not letters(item)[1]:
            return False
    return False


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        (r"(\(.*\)|-?\d+)\s*(?:([+-])\s*(\d+))?\s*", "two repeats"),
        (r"(a+)*b", "within another"),
        (r"a*b*a*c", "two repeats"),
        (r"\s*x?\s*", "two repeats"),
        (r"(?:a|b+)*+", "within another"),
    ],
)
def test_w8_the_search_for_faults_finds_them(pattern, fault):
    assert any(fault in found for found in faults(parser.parse(pattern)))


@pytest.mark.parametrize("pattern", [r"\s*+x?+\s*+", r"a*b", r"[^:]*:\s*", r"(?:a++,)*+", r"a{0,9}a{0,9}"])
def test_w8_what_is_linear_is_no_fault(pattern):
    assert not list(faults(parser.parse(pattern)))


def test_w8_no_pattern_of_the_package_goes_back_far():
    found = patterns()
    assert len(found) > 30
    assert not {
        name: list(faults(parser.parse(pattern.pattern, pattern.flags)))
        for name, pattern in found.items()
        if list(faults(parser.parse(pattern.pattern, pattern.flags)))
    }


def calls_of_patterns():
    """Each call of `re`, or of a method of patterns: file, name of the method, and what it is called on."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                yield path, node.func.attr, node.func.value


def test_w8_patterns_stand_by_name_and_searches_begin_with_a_letter():
    compiled = {name.rsplit(".", 1)[1]: pattern for name, pattern in patterns().items()}
    searched = []
    for path, method, owner in calls_of_patterns():
        if isinstance(owner, ast.Name) and owner.id == "re":
            assert method in ("compile", "escape"), f"{path}: re.{method} hides its pattern: compile it"
        searches = method in ("search", "split", "sub", "subn", "findall", "finditer")
        if searches and isinstance(owner, ast.Name) and owner.id in compiled:
            searched.append(owner.id)
            assert not starts_with_a_repeat(parser.parse(compiled[owner.id].pattern, re.ASCII)), path
    assert searched


READERS = {
    "Shape.parse": Shape.parse,
    "Shape.from_json": Shape.from_json,
    "Labels.parse": Labels.parse,
    "Mask.parse": tw.Mask.parse,
    "Mask.from_json": tw.Mask.from_json,
    "BlockPattern.parse": tw.BlockPattern.parse,
    "BlockPattern.from_json": tw.BlockPattern.from_json,
    "ShapePattern.parse": ShapePattern.parse,
    "Symmetry.parse": tw.Symmetry.parse,
    "Symmetry.from_json": tw.Symmetry.from_json,
    "Tiling.from_json": tw.Tiling.from_json,
    "RowPartitions.parse": RowPartitions.parse,
    "Layout.parse": Layout.parse,
    "parse_tiler": parse_tiler,
    "IndexDomain.from_json": IndexDomain.from_json,
    "IndexTransform.from_json": IndexTransform.from_json,
    "Graph.from_json": sharding.Graph.from_json,
    "IndexMap.parse": sharding.IndexMap.parse,
    "Projection.parse": sharding.Projection.parse,
    "Selector.parse": sel.Selector.parse,
    "selection.from_json": lambda text: sel.from_json(text, sources={}),
    "Catalogue.from_json": Catalogue.from_json,
    "parse_json": lambda text: parse_json(text, "a text", depth=9, digits=9),
}
PARTS = [*' ([{1+-|x"\\', "1,", "1 ", "(1)", "1:", " o ", "i,", ". ", "@("]
STARTS = ["", "(", "[", '"', "(2):(1)", "(2):", "tiled(", "tiles 1", "tiles | of (", "(i) -> (", "(3, 4)"]


def work_of(reader, text):
    """How many calls, of Python or of C, reading a text takes."""
    count = 0

    def counted(_frame, event, _given):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        reader(text)
    except TensorWrapperError:
        pass
    finally:
        sys.setprofile(None)
    return count


def test_w8_every_reader_of_texts_is_in_the_table():
    public = {
        node.name
        for path in ROOT.rglob("*.py")
        if not re.search(r"selection/(expressions|jagged)/", path.as_posix())
        for node in nodes_of(path)
        if isinstance(node, ast.ClassDef)
        for part in node.body
        if isinstance(part, ast.FunctionDef) and part.name in ("parse", "from_json")
    }
    facades = {
        "ShapeConstructors": "Shape",
        "LayoutOrdinals": "Layout",
        "TilingExchange": "Tiling",
        "PatternExchange": "BlockPattern",
    }
    known = {name.split(".")[0] for name in READERS}
    assert {facades.get(name, name) for name in public} <= known


@pytest.mark.parametrize("name", READERS)
def test_w8_readers_take_work_in_proportion_to_the_text(name):
    reader = READERS[name]
    for start in STARTS:
        for part in PARTS:
            texts = [start + part * (length // len(part)) + "!" for length in (2_000, 8_000)]
            few, many = [work_of(reader, text) for text in texts]
            assert many <= 6 * few + 200, (start, part)


@pytest.mark.parametrize("name", READERS)
def test_w8_readers_end_with_long_texts(name):
    for part, end in ((" ", "x"), ("(", "x"), ("1", ""), ("i,", "x")):
        for start in ("", "(2):(1)"):
            with contextlib.suppress(TensorWrapperError):
                READERS[name](start + part * (200_000 // len(part)) + end)


def test_w8_the_text_of_a_layout_has_a_limit():
    with pytest.raises(TensorWrapperError, match="at most 1048576 characters"):
        Layout.parse("(2):(1)" + " " * 2**20)
    with pytest.raises(TensorWrapperError, match="at most 1048576 characters"):
        parse_tiler("[" * 2**21)
    with pytest.raises(TensorWrapperError, match="is not a layout"):
        Layout.parse("(2):(1)" + " " * 200_000 + "x")
    with pytest.raises(TensorWrapperError, match="space on both sides"):
        Layout.parse("(2):(1)o 0 o (2):(1)")
