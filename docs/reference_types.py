"""Types in the reference as in the source: of attributes, of properties, and of constructors.

Sphinx shows evaluated annotations, in which `IntArray` takes half a line. `reference_signatures` shows the
source text of function signatures; this module covers the rest.
"""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path

import attrs
from docutils import nodes
from sphinx.addnodes import (
    desc_annotation,
    desc_name,
    desc_parameterlist,
    desc_returns,
    desc_sig_punctuation,
    desc_sig_space,
    desc_signature,
    pending_xref,
)
from sphinx.application import Sphinx
from sphinx.domains.python._annotations import _parse_annotation, _parse_arglist
from sphinx.transforms.post_transforms import SphinxPostTransform

_CONSTRUCTORS = 2
"""Maximal number of shown signatures of a class: with more, one per rank, only the general one is shown."""

_LONG = 24  # letters of a name


class _Unquoted(ast.NodeTransformer):
    """Remove quotes around names of later classes, and keep those of `Literal`."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return node if ast.unparse(node.value).endswith("Literal") else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.parse(node.value, mode="eval").body if isinstance(node.value, str) else node


def type_text(annotation: ast.expr) -> str:
    """Return the source text of an annotation, without quotes around names.

    Examples
    --------
    >>> type_text(ast.parse("'Shape | None'", mode="eval").body)
    'Shape | None'
    """
    return ast.unparse(_Unquoted().visit(annotation))


def written_arguments(arguments: ast.arguments) -> str:
    """Return the source text of the parameters of a function."""
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg) and argument.annotation is not None:
            # ``*names: *Types`` has one type for each name, so the name of all is shown.
            own = argument.annotation
            written = type_text(own.value if isinstance(own, ast.Starred) else own)
            argument.annotation = ast.parse(written, mode="eval").body
    return f"({ast.unparse(arguments)})"


@cache
def _classes(path: str) -> dict[str, ast.ClassDef]:
    """Return the classes of a file by their qualified names."""
    return dict(_within(ast.parse(Path(path).read_text(encoding="utf-8")).body, ""))


def _within(body: list[ast.stmt], lead: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield f"{lead}{node.name}", node
            yield from _within(node.body, f"{lead}{node.name}.")


def _source_of(cls: type) -> ast.ClassDef | None:
    path = getattr(inspect.getmodule(cls), "__file__", None)
    return None if path is None else _classes(path).get(cls.__qualname__)


def _statements(cls: type) -> Iterator[ast.stmt]:
    """Yield the statements of the body of a class, including those under `if TYPE_CHECKING`."""
    source = _source_of(cls)
    for node in source.body if source else ():
        yield from node.body if isinstance(node, ast.If) else (node,)


@cache
def _written(cls: type) -> dict[str, str]:
    """Return the types of attributes and properties of a class by name, including inherited ones."""
    found: dict[str, str] = {}
    for part in reversed(cls.__mro__):
        for node in _statements(part):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = type_text(node.annotation)
            elif isinstance(node, ast.FunctionDef) and node.returns is not None:
                found[node.name] = type_text(node.returns)
    return found


def constructor_text(cls: type) -> str | None:
    """Return the source text of the parameters of a class; None if it does not define them itself."""
    own = [n for n in _statements(cls) if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    if own:
        arguments = own[-1].args
        arguments = ast.parse(f"def f({ast.unparse(arguments)}): ...").body[0].args  # type: ignore[attr-defined]
        (arguments.posonlyargs or arguments.args)[:1] = []
        return written_arguments(arguments)
    if not attrs.has(cls):
        return None
    fields = {str(field.alias): field for field in attrs.fields(cls) if field.init}
    signature = inspect.signature(cls)
    parameters = [
        parameter.replace(annotation=_Text(_taken(cls, fields[name])), default=_shown(parameter.default))
        for name, parameter in signature.parameters.items()
        if name in fields
    ]
    if len(parameters) < len(signature.parameters):
        return None
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


def _shown(default: object) -> object:
    """Return the text of a default: its source if it is short, dots if it is computed or long."""
    simple = default is None or isinstance(default, bool | int | float | str | tuple)
    return default if simple or default is inspect.Parameter.empty else _Text("...")


class _Text:
    """An annotation that is shown as this text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _taken(cls: type, field: "attrs.Attribute[object]") -> str:
    """Return the type that a field accepts: that of its converter, if this is an annotated function."""
    text = _written(cls)[field.name]
    function: Callable[..., object] | None = field.converter
    code = getattr(function, "__code__", None)
    if code is None or not Path(code.co_filename).exists():
        return text
    tree = ast.parse(Path(code.co_filename).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = [*node.args.posonlyargs, *node.args.args][:1]
            taken = type_text(first[0].annotation) if first and first[0].annotation is not None else "object"
            return text if taken == "object" else taken
    return text


@cache
def _functions(path: str) -> dict[str, list[ast.FunctionDef]]:
    """Return all functions of a file by qualified name, with overloads in order."""
    found: dict[str, list[ast.FunctionDef]] = {}
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    scopes = [("", tree.body), *[(f"{name}.", node.body) for name, node in _classes(path).items()]]
    for lead, body in scopes:
        for node in body:
            for part in node.body if isinstance(node, ast.If) else (node,):
                if isinstance(part, ast.FunctionDef):
                    found.setdefault(f"{lead}{part.name}", []).append(part)
    return found


def _overloads_of(value: object) -> list[ast.FunctionDef]:
    """Return the source text of the overloads of a function, or of a constructor."""
    if isinstance(value, type):
        path, name = getattr(inspect.getmodule(value), "__file__", None), f"{value.__qualname__}.__init__"
    else:
        function = inspect.unwrap(getattr(value, "__func__", value)) if callable(value) else None
        code = getattr(function, "__code__", None)
        path, name = getattr(code, "co_filename", None), getattr(function, "__qualname__", "")
    if path is None or not Path(path).exists():
        return []
    found = _functions(path).get(name, [])
    return [node for node in found if "overload" in {ast.unparse(d) for d in node.decorator_list}]


def _show_overloads(app: Sphinx, kind: str, signatures: list[desc_signature]) -> None:
    """Replace Sphinx's evaluated overloads by those of the source."""
    value = _value_of(str(signatures[0].get("module", "")), str(signatures[0].get("fullname", "")))
    written = _overloads_of(value)
    if len(written) != len(signatures):
        return
    for node, source in zip(signatures, written, strict=True):
        arguments = ast.parse(f"def f({ast.unparse(source.args)}): ...").body[0].args  # type: ignore[attr-defined]
        if kind != "function" and "staticmethod" not in {ast.unparse(d) for d in source.decorator_list}:
            (arguments.posonlyargs or arguments.args)[:1] = []
        for part in list(node):
            if isinstance(part, desc_parameterlist):
                node.replace(part, _parse_arglist(written_arguments(arguments)[1:-1], app.env))
            elif isinstance(part, desc_returns) and source.returns is not None:
                node.replace(
                    part, desc_returns("", "", *_parse_annotation(type_text(source.returns), app.env))
                )


def show_types(app: Sphinx, domain: str, kind: str, content: nodes.Element) -> None:
    """Replace Sphinx's types by those of the source, and omit redundant signatures."""
    if domain != "py" or content.parent is None:
        return
    signatures = [node for node in content.parent if isinstance(node, desc_signature)]
    for node in signatures:
        _let_break(node)
    if len(signatures) > 1 and kind in {"class", "function", "method"}:
        _show_overloads(app, kind, signatures)
    if kind == "class" and len(signatures) > _CONSTRUCTORS:
        first, last = signatures[0], signatures[-1]
        last["ids"], first["ids"] = first["ids"], []
        for node in signatures[:-1]:
            content.parent.remove(node)
    if kind not in {"attribute", "property"}:
        return
    for node in signatures:
        text = _type_of(str(node.get("module", "")), str(node.get("fullname", "")))
        shown = [part for part in node if isinstance(part, desc_annotation) and part.astext().startswith(":")]
        if text is not None and shown:
            parsed = _parse_annotation(text, app.env)
            shown[0].children = []
            shown[0] += [desc_sig_punctuation("", ":"), desc_sig_space(), *parsed]


def _let_break(signature: desc_signature) -> None:
    """Allow line breaks of long names at underscores, for small screens."""
    for name in signature.findall(desc_name):
        text = name.astext()
        if len(text) > _LONG:
            name.clear()
            for part in re.findall(r"[^_]+_*|_+", text):
                name += [nodes.Text(part), nodes.raw("", "<wbr>", format="html")]


def _type_of(module: str, name: str) -> str | None:
    owner, _, last = name.rpartition(".")
    value = _value_of(module, owner)
    return _written(value).get(last) if isinstance(value, type) else None


def _value_of(module: str, name: str) -> object:
    value: object = import_module(module) if module.startswith("tensorwrapper") else None
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


class ExactNames(SphinxPostTransform):
    """Mark names that no object of the site ends with, as `int`, as exact before they are resolved.

    Sphinx compares each other name in a type with all objects of the site: a fifth of the build time.
    """

    default_priority = 5
    """Sphinx resolves references at 10."""

    def run(self) -> None:
        """Remove the mark of a partial name."""
        endings = _endings(tuple(self.env.get_domain("py").objects))
        for node in self.document.findall(pending_xref):
            if node.hasattr("refspecific") and node["reftarget"].removesuffix("()") not in endings:
                del node["refspecific"]


@lru_cache(maxsize=1)
def _endings(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset([name[k + 1 :] for name in names for k, letter in enumerate(name) if letter == "."])


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect."""
    app.connect("object-description-transform", show_types)
    app.add_post_transform(ExactNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
