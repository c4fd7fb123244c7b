"""The pages of the reference, written by the documentation build: one per module, one per class.

The names in `__all__` are public, so no page is forgotten, and none outlives its class.
"""

import ast
import importlib
import inspect
from pathlib import Path
from textwrap import indent
from types import FunctionType, ModuleType

from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

import tensorwrapper
from tensorwrapper.cli import COMMANDS, ExitCode
from tensorwrapper.cli.parsing._parser import parsers

FLOORS = (
    "shape",
    "layout",
    "buffer",
    "tensor",
    "selection",
    "sharding",
    "fields",
    "wire",
    "wirecell",
    "store",
    "transport",
    "remote",
    "interop",
    "errors",
    "typing",
    "testing",
)
"""The public modules of the package, in the order of the table of contents."""

_WHOLE = {"errors", "typing"}
"""Modules with many short entries, which share one page."""

_INHERITED = "ABC, Generic, Exception, BaseException, Sequence, Iterator, Mapping, int, str, tuple, dict"


_MANY = 12
"""Number of members from which the page of a class begins with links to them."""

_COMMAND_LINE = """\
``tensorwrapper COMMAND --help`` prints the sections below. These rules hold for all commands:

- ``--json`` prints the report as JSON, with numbers as numbers. An error is an object with ``error`` and
  ``kind``, the name of its class in :mod:`tensorwrapper.errors`. ``serve`` and ``recv`` first print an object
  with their ``address``, as soon as they are ready.
- The report goes to stdout. Errors go to stderr, in one line. On a terminal, long work shows its progress
  there; ``pip install tensorwrapper[progress]`` adds a progress bar.
- Terminals get colours, unless ``NO_COLOR`` is set.
- Only ``--force`` replaces a file.
- ``tensorwrapper completion SHELL`` prints a script: bash, zsh or fish then complete commands, options and
  file names.
"""


def write_pages(app: Sphinx) -> None:
    """Write the pages to `reference/api`, which git ignores; unchanged pages keep their times."""
    folder = Path(app.srcdir) / "reference" / "api"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"command-line": _command_line(), "tensorwrapper": _top()}
    for floor in FLOORS:
        pages |= _pages(importlib.import_module(f"tensorwrapper.{floor}"), whole=floor in _WHOLE)
    for path in folder.glob("*.rst"):
        if path.stem not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def _top() -> str:
    """Return the page of the top-level module; each name has an entry in it."""
    floors: dict[str, list[tuple[bool, bool, str, str]]] = {}
    for name in tensorwrapper.__all__:
        value = getattr(tensorwrapper, name)
        if name != "__version__" and not inspect.ismodule(value):
            floor = value.__module__.split(".")[1]
            # The class that the module is named after comes first.
            place = name.lower() != floor, not inspect.isclass(value), name.lower(), name
            floors.setdefault(floor, []).append(place)
    text = (
        "tensorwrapper\n=============\n\n.. py:module:: tensorwrapper\n\n"
        "``import tensorwrapper as tw`` has the names that most programs need. A name is loaded at its first "
        "use. Each group belongs to a module, which has more names.\n"
    )
    for floor in sorted(floors, key=FLOORS.index):
        table = "".join([f"   {name}\n" for *_, name in sorted(floors[floor])])
        said = (inspect.getdoc(importlib.import_module(f"tensorwrapper.{floor}")) or "").partition("\n")[0]
        text += f"\n{floor.capitalize()}\n{'-' * len(floor)}\n\n:py:mod:`tensorwrapper.{floor}`: {said}\n"
        text += f"\n.. autosummary::\n   :nosignatures:\n\n{table}"
    return text


def _command_line() -> str:
    """Return the page of the commands, with their help texts."""
    codes = "".join([f"   * - {int(code)}\n     - {_said_of(code)}\n" for code in ExitCode])
    parts = [
        "The command line\n================\n\n" + _COMMAND_LINE,
        f"Exit codes\n----------\n\n.. list-table::\n\n{codes}",
    ]
    for name, parser in parsers(COMMANDS, width=90).items():
        title = f"{name}\n{'-' * len(name)}"
        parts.append(f"{title}\n\n.. code-block:: text\n\n{indent(parser.format_help(), '   ')}")
    return "\n".join(parts)


def _said_of(code: ExitCode) -> str:
    said = ModuleAnalyzer.for_module(ExitCode.__module__).find_attr_docs()
    return " ".join(said["ExitCode", code.name]).strip()


def _pages(module: ModuleType, *, whole: bool) -> dict[str, str]:
    """Return the texts of the pages of a module, by name."""
    names = sorted((name for name in module.__all__ if not _is_from_elsewhere(module, name)), key=str.lower)
    classes = [] if whole else [name for name in names if inspect.isclass(getattr(module, name))]
    parts = [
        f"{module.__name__}\n{'=' * len(module.__name__)}\n",
        f".. automodule:: {module.__name__}\n   :no-members:\n",
    ]
    pages = {}
    if classes:
        table = "".join(f"   {name}\n" for name in classes)
        parts.append(f"Classes\n-------\n\n.. autosummary::\n   :nosignatures:\n\n{table}")
        entries = "".join(f"   {name} <{module.__name__}.{name}>\n" for name in classes)
        parts.append(f".. toctree::\n   :hidden:\n\n{entries}")
        for name in classes:
            pages[f"{module.__name__}.{name}"] = (
                f"{name}\n{'=' * len(name)}\n\n.. currentmodule:: {module.__name__}\n\n"
                f".. autoclass:: {name}\n   :members:\n   :inherited-members: {_INHERITED}\n\n"
                f"{indent(_members(module, name), '   ')}"
            )
    rest = [name for name in names if name not in classes]
    if rest:
        if classes:
            parts.append("Functions and values\n--------------------\n")
        parts += [_entry(module, name) for name in rest]
    pages[module.__name__] = "\n".join(parts)
    return pages


def _members(module: ModuleType, name: str) -> str:
    """Return links to all members of a large class, for the beginning of its page."""
    cls = getattr(module, name)
    inherited = {*_INHERITED.split(", "), "object"}
    own: dict[str, object] = {}
    for base in reversed(cls.__mro__):
        if base.__name__ not in inherited:
            own |= {key: value for key, value in vars(base).items() if not key.startswith("_")}
    documented = [key for key, value in own.items() if _is_documented(cls, key, value)]
    if len(documented) < _MANY:
        return ""
    kinds: dict[str, list[str]] = {"Made by": [], "Attributes": [], "Methods": []}
    for key in sorted(documented):
        value = own[key]
        made = isinstance(value, classmethod | staticmethod)
        kind = "Made by" if made else "Methods" if inspect.isroutine(value) else "Attributes"
        kinds[kind].append(f":py:obj:`{key} <{module.__name__}.{name}.{key}>`")
    return "".join([f"**{kind}**: {', '.join(found)}\n\n" for kind, found in kinds.items() if found])


def _is_documented(cls: type, name: str, value: object) -> bool:
    """Return True if a member has an entry: a docstring, or a string below a field."""
    if isinstance(value, FunctionType | property | classmethod | staticmethod):
        return bool(inspect.getdoc(getattr(cls, name)))
    bases = [base for base in cls.__mro__ if base.__module__.startswith("tensorwrapper.")]
    return any(
        (base.__qualname__, name) in ModuleAnalyzer.for_module(base.__module__).find_attr_docs()
        for base in bases
    )


def _is_from_elsewhere(module: ModuleType, name: str) -> bool:
    """Return True if a module re-exports a name that has a page in another one."""
    lower = [importlib.import_module(f"tensorwrapper.{floor}") for floor in FLOORS]
    return any(
        other.__name__ != module.__name__ and getattr(other, name, None) is getattr(module, name)
        for other in lower[: lower.index(module)]
        if name in other.__all__
    )


def _entry(module: ModuleType, name: str) -> str:
    """Return the directive that documents a name on the page of its module."""
    value = getattr(module, name)
    if inspect.isclass(value):
        return f".. autoclass:: {name}\n   :members:\n   :show-inheritance:\n"
    if inspect.isroutine(value):
        return f".. autofunction:: {name}\n"
    return f".. data:: {name}\n\n{indent(_comment(module, name), '   ')}\n"


def _comment(module: ModuleType, name: str) -> str:
    """Return the docstring of a value from the file that defines it."""
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text())):
        if isinstance(node, ast.ImportFrom) and any(
            (part.asname or part.name) == name for part in node.names
        ):
            return _comment(importlib.import_module(str(node.module)), name)
    return "\n".join(ModuleAnalyzer.for_module(module.__name__).find_attr_docs().get(("", name), []))


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before the sources are read."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
