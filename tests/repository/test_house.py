"""The rules of the house that no linter knows."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.support.extensions import extensions, faults
from tests.support.sources import nodes_of, tree_of

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tensorwrapper"
SOURCES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
BANNED_FILES = {"utils.py", "helpers.py", "base.py", "misc.py", "core.py"}


def tracked() -> list[Path]:
    done = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    if done.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / line for line in done.stdout.splitlines() if (ROOT / line).is_file()]


def trees() -> dict[str, ast.Module]:
    """Return the syntax of every file of the package, by its path there."""
    return {p.relative_to(PACKAGE).as_posix(): tree_of(p) for p in SOURCES}


def test_no_file_is_longer_than_the_house_allows():
    long = {
        str(p.relative_to(ROOT)): n
        for p in [*SOURCES, *TESTS, *(ROOT / "docs").glob("*.py")]
        if (n := len(p.read_text(encoding="utf-8").splitlines())) > 1000
    }

    assert long == {}


def test_files_are_named_for_what_they_are():
    assert [p for p in SOURCES if p.name.lstrip("_") in BANNED_FILES] == []


def test_the_package_does_not_import_itself_by_name():
    guilty = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.Import)
        and any(alias.name.split(".")[0] == "tensorwrapper" for alias in node.names)
    ]

    assert guilty == []


def test_only_the_command_line_prints():
    guilty = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        if "cli" not in path.parts
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]

    assert guilty == []


def test_integers_are_made_distinct_by_the_function_that_sorts_them():
    """`np.unique` of integers alone makes a set of hashes: 0.9 s for 10^6, where a sort takes 0.02 s."""
    allowed = {"shape/pictures/_tiles.py", "shape/pictures/_rows.py", "store/formats/_scipy.py"}
    found = [
        f"{path}:{node.lineno}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "np.unique" and not node.keywords
    ]
    assert {own.split(":")[0] for own in found} == allowed, found


def test_nothing_is_left_unfinished():
    words = re.compile(r"NotImplementedError|\bTODO\b|\bFIXME\b|pragma: no cover")
    guilty = [
        f"{p.relative_to(ROOT)}:{k}"
        for p in SOURCES
        for k, line in enumerate(p.read_text(encoding="utf-8").splitlines(), 1)
        if words.search(line)
    ]

    assert guilty == []


def test_files_that_pages_name_are_there():
    named = re.compile(r"`((?:tests|tensorwrapper|docs)/[\w/]+\.py)`")
    missing = [
        f"{page.relative_to(ROOT)}: {name}"
        for page in tracked()
        if page.suffix == ".md"
        for name in named.findall(page.read_text(encoding="utf-8"))
        if not (ROOT / name).exists()
    ]

    assert missing == []


def test_no_absolute_path_stands_in_the_repository():
    pattern = re.compile(r"(?<![\w.<])/(?:home|root|work|opt|Users)/\w")
    text = {".py", ".md", ".toml", ".pyi", ".json", ""}
    guilty = [
        f"{p.relative_to(ROOT)}:{k}"
        for p in tracked()
        if p.suffix in text and p != Path(__file__)
        for k, line in enumerate(p.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]

    assert guilty == []


def test_the_run_script_calls_the_test_command_of_the_readme():
    commands = re.findall(r"```sh\n(.+?)\n```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()

    assert len(commands) == 2
    assert script[-1] == commands[1]


FLOORS = {p.name for p in PACKAGE.iterdir() if (p / "__init__.py").exists()}


def test_every_floor_is_entered_by_its_surface_and_has_no_circle():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    whole = {f"tensorwrapper.{name}" for name in FLOORS}

    surfaces = [m for c in contracts if c["type"] == "protected" for m in c["protected_modules"]]
    assert {m.removesuffix(".*") for m in surfaces} == whole
    assert {m for c in contracts if c["type"] == "acyclic_siblings" for m in c["ancestors"]} == whole


def test_the_page_of_the_design_shows_the_floors_in_the_order_of_the_contract():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    floors = next(c for c in settings["tool"]["importlinter"]["contracts"] if c["name"] == "floors")
    wanted = [sorted(set(re.findall(r"\w+", line)) - {"__main__"}) for line in floors["layers"]]
    page = (ROOT / "docs" / "design" / "index.md").read_text(encoding="utf-8")
    listed = [
        sorted(re.findall(r"`(\w+)`", line.split("|")[1]))
        for line in re.findall(r"^\| `.+$", page, re.MULTILINE)
    ]

    assert listed == wanted


def test_each_extension_is_one_file_that_keeps_its_contract():
    found = extensions()

    assert found == {name: [] for name in ("shape", "layout", "buffer", "packing", "node", "source")}
    assert {f"test_{name}.py" for name in found} == {p.name for p in (ROOT / "tests/extending").glob("*.py")}


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("from tensorwrapper.layout._layout import Layout", "tensorwrapper.layout._layout.Layout"),
        (
            "from tensorwrapper.layout.boxes._strided import Strided",
            "tensorwrapper.layout.boxes._strided.Strided",
        ),
        ("from tensorwrapper.layout.lowlevel import Box", "tensorwrapper.layout.lowlevel.Box"),
        ("import tensorwrapper._arrays", "tensorwrapper._arrays"),
        ("import tensorwrapper as tw\ntw.layout._layout.Layout", "tw._layout"),
        ("from tests.extending.test_shape import Banded", "tests.extending.test_shape"),
        ("from . import conftest", "."),
    ],
)
def test_an_extension_that_takes_what_strangers_have_not_is_found_out(line, fault):
    text = "class TestOne(ShapeContract): pass\n"

    assert faults("shape", text + "import typing\nfrom tensorwrapper import Shape\n") == []
    assert faults("shape", text + line) == [fault]
    assert faults("shape", "class TestOne: pass") == ["no class runs ShapeContract"]


def test_a_room_says_in_a_sentence_what_it_is_for_and_imports_nothing():
    rooms = {path: tree for path, tree in trees().items() if re.fullmatch(r"\w+/\w+/__init__\.py", path)}

    assert rooms
    for path, tree in rooms.items():
        said = ast.get_docstring(tree)

        assert len(tree.body) == 1, f"{path} does more than speak"
        assert said, path
        assert re.fullmatch(r"[^\n]+\.", said), f"{path} says more than a sentence"


def test_a_floor_lists_its_names_alike_for_checkers_for_users_and_for_loading():
    """Where names are loaded on first use they stand three times, and no tool compares the three."""
    found = 0
    for path, tree in trees().items():
        for node in ast.walk(tree):
            match node:
                case ast.Assign(
                    value=ast.Call(func=ast.Name(id="lazy_names"), args=[_, ast.Dict() as homes])
                ):
                    found += 1
                case _:
                    continue
            package = "tensorwrapper." + path.rpartition("/")[0].replace("/", ".")
            loaded = {
                (f"{package}.{home.value}", name.value)
                for home, names in zip(homes.keys, homes.values, strict=True)
                for name in names.elts
            }
            shown = {
                (line.module, alias.name)
                for block in tree.body
                if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
                for line in block.body
                for alias in line.names
            }
            listed = next(
                {name.value for name in block.value.elts}
                for block in tree.body
                if isinstance(block, ast.Assign) and ast.unparse(block.targets[0]) == "__all__"
            )
            eager = {
                alias.asname or alias.name
                for block in tree.body
                if isinstance(block, ast.ImportFrom)
                for alias in block.names
            }

            # What comes from further down is shown as from there.
            assert {pair for pair in shown if pair[0].startswith(package)} <= loaded, path
            assert {name for _, name in shown} == {name for _, name in loaded}, path
            assert listed - eager <= {name for _, name in loaded} <= listed, path
    assert found


def test_names_of_tests_are_the_same_in_every_process(request):
    """Processes that share the work compare these names; an address in memory differs in each."""
    guilty = [item.nodeid for item in request.session.items if re.search(r"\b0x[0-9a-f]{5,}", item.nodeid)]

    assert guilty == []
