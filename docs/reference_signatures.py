"""Signatures in the reference: the text of the source, with a link for each name that has a page.

Python evaluates annotations to other texts: `IntArray` becomes a class of NumPy with two parameters, and
`ArrayLike` half a screen of private protocols. So the reference shows the text of the source, and looks up
each name among all public names.
"""

import ast
import importlib
import inspect
import zlib
from functools import cache
from pathlib import Path

from docutils import nodes
from reference_pages import FLOORS
from reference_types import constructor_text, type_text, written_arguments
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.napoleon import NumpyDocstring
from sphinx.util.nodes import make_refnode

_PYTHON = (
    "collections.abc.Callable collections.abc.Collection collections.abc.Hashable "
    "collections.abc.Iterable collections.abc.Iterator collections.abc.Mapping "
    "collections.abc.MutableMapping collections.abc.Sequence abc.ABC concurrent.futures.Executor "
    "contextlib.ExitStack fractions.Fraction os.PathLike os.stat_result pathlib.Path types.EllipsisType "
    "uuid.UUID"
)
_NUMPY = (
    "numpy.bool numpy.bool_ numpy.dtype numpy.float64 numpy.generic numpy.int8 numpy.int32 "
    "numpy.int64 numpy.integer numpy.ma.MaskedArray numpy.ndarray numpy.number numpy.object_ "
    "numpy.random.Generator numpy.str_ "
    "numpy.ufunc numpy.uint8 numpy.uint64 numpy.void numpy.typing.ArrayLike numpy.typing.DTypeLike "
    "numpy.typing.NDArray"
)

_SHORT = {name.rpartition(".")[2]: name for name in _PYTHON.split()}
_MODULES = {"np": "numpy", "np.ma": "numpy.ma", "npt": "numpy.typing"}
_FOREIGN = ("ak", "contextlib", "da", "hypothesis", "numpy._typing", "pa", "pd", "pl", "torch", "xr", "zmq")
"""Modules whose names are shown without a link."""


def inventories() -> dict[str, tuple[str, str]]:
    """Return the setting `intersphinx_mapping`: names of other libraries, without network access."""
    known = {
        "python": ("https://docs.python.org/3", _PYTHON),
        "numpy": ("https://numpy.org/doc/stable", _NUMPY),
    }
    folder = Path(__file__).parent / "_build" / "inventories"
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for project, (address, names) in known.items():
        lines = [f"{name} py:class 1 {_place(project, name)} -\n" for name in names.split()]
        head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version:\n# The rest: zlib\n"
        path = folder / f"{project}.inv"
        path.write_bytes(head.encode() + zlib.compress("".join(lines).encode()))
        mapping[project] = (address, str(path))
    return mapping


def _place(project: str, name: str) -> str:
    """Return the address of the page of a name in the documentation of its project."""
    if project == "python":
        return f"library/{name.rpartition('.')[0]}.html#$"
    return (
        "reference/typing.html#$" if name.startswith("numpy.typing") else f"reference/generated/{name}.html#$"
    )


@cache
def _functions(path: str) -> dict[int, ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the functions of a file by their first line, including decorators."""
    nodes_ = ast.walk(ast.parse(Path(path).read_text()))
    functions = [node for node in nodes_ if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {min(part.lineno for part in (node, *node.decorator_list)): node for node in functions}


def written_signature(
    _app: Sphinx,
    what: str,
    _name: str,
    value: object,
    _options: object,
    signature: str | None,
    _returned: str | None,
) -> tuple[str, str] | None:
    """Return the source text of the parameters and result of a function, or of the type of a property."""
    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    if what == "class" and isinstance(value, type):
        text = constructor_text(value)
        return None if text is None or signature is None else (text, "")
    if code is None or signature is None or not Path(code.co_filename).exists():
        return None
    node = _functions(code.co_filename).get(code.co_firstlineno)
    if node is None:
        return None
    arguments = ast.parse(f"def f({ast.unparse(node.args)}): ...").body[0].args  # type: ignore[attr-defined]
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    if what in {"method", "property"} and "staticmethod" not in decorators:
        (arguments.posonlyargs or arguments.args)[:1] = []
    return written_arguments(arguments), type_text(node.returns) if node.returns else ""


@cache
def _public() -> dict[str, str]:
    """Return the module that documents each public name: the first one, if several export it."""
    modules = [importlib.import_module(f"tensorwrapper.{floor}") for floor in reversed(FLOORS)]
    return {name: module.__name__ for module in modules for name in module.__all__}


def find_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement
) -> nodes.Element | None:
    """Return a link for a name in the source; the name alone if it has no page.

    Names without a page are type variables and private aliases. A wrong name would be a fault of the source,
    which both type checkers read.
    """
    # Sphinx leaves the brackets of ``Callable[[], int]`` at the name.
    node["reftarget"] = target = str(node["reftarget"]).rstrip("[]")
    head, _, last = target.rpartition(".")
    ours = not head or head.split(".")[0] == "tensorwrapper"
    entry = (
        env.domains.python_domain.objects.get(f"{_public()[last]}.{last}")
        if ours and last in _public()
        else None
    )
    if entry is not None:
        return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content)
    if not head and last in _SHORT:
        node["reftarget"] = _SHORT[last]
    elif head in _MODULES:
        node["reftarget"] = f"{_MODULES[head]}.{last}"
    elif ours or head.startswith(_FOREIGN):
        return content
    return None


class Attributes:
    """Docstrings of attributes and properties, where napoleon would treat text before a colon as a type."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}

    def read(
        self, app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
    ) -> None:
        """Read the sections of a text before napoleon does."""
        if what in {"attribute", "data", "property"}:
            self._lines[name] = NumpyDocstring(lines, app.config, app, "method", name, value, options).lines()

    def put_back(
        self, _app: Sphinx, _what: str, name: str, _value: object, _options: object, lines: list[str]
    ) -> None:
        """Restore the sections."""
        lines[:] = self._lines.pop(name, lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect."""
    attributes = Attributes()
    app.connect("autodoc-process-signature", written_signature)
    app.connect("autodoc-process-docstring", attributes.read, priority=400)
    app.connect("autodoc-process-docstring", attributes.put_back, priority=600)
    app.connect("missing-reference", find_name, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
