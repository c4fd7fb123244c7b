"""What a user's editor sees, and what importing costs."""

import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import attrs
import jedi
import pytest

import tensorwrapper as tw

pytestmark = pytest.mark.slow

MODULES = [
    "buffer",
    "drawing",
    "errors",
    "layout",
    "selection",
    "shape",
    "store",
    "tensor",
    "testing",
    "transport",
    "typing",
    "wire",
]
RUNNING = {"Assembler", "IndexIterator", "CopyCount", "Socket", "StreamReader", "Delivery", "TensFile"}
"""What runs or holds a resource: final, with slots, and no value."""


def public_classes():
    for name in MODULES:
        module = importlib.import_module(f"tensorwrapper.{name}")
        for public in module.__all__:
            value = getattr(module, public)
            ours = inspect.isclass(value) and value.__module__.startswith("tensorwrapper")
            # A protocol is what a stranger's class must have: it has no instances, and no rules of ours.
            if ours and name != "errors" and not getattr(value, "_is_protocol", False):
                yield public, value


def fresh(code: str) -> object:
    """Return what a program prints as JSON in an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("prefix", ["tw.", *[f"tw.{name}." for name in MODULES if name != "drawing"]])
def test_tab_shows_every_public_name(prefix):
    source = f"import tensorwrapper as tw\n{prefix}"
    shown = {c.name for c in jedi.Script(source).complete(2, len(prefix))}
    module = tw if prefix == "tw." else getattr(tw, prefix.split(".")[1])

    assert set(module.__all__) <= shown


@pytest.mark.parametrize("public", ["Shape", "Tiling", "Layout", "Tensor", "Indices"])
def test_tab_shows_every_member_of_a_class(public):
    source = f"import tensorwrapper as tw\ntw.{public}."
    shown = {c.name for c in jedi.Script(source).complete(2, len(public) + 4)}
    members = {name for name in dir(getattr(tw, public)) if not name.startswith("_")}

    assert members <= shown


def public_callables():
    """Every public class and function once, with the text that leads to it; no protocols, no errors."""
    seen = set()
    for prefix in ["tw", *[f"tw.{name}" for name in MODULES if name not in ("errors", "drawing")]]:
        module = tw if prefix == "tw" else importlib.import_module(f"tensorwrapper.{prefix[3:]}")
        for name in module.__all__:
            value = getattr(module, name)
            ours = callable(value) and getattr(value, "__module__", "").startswith("tensorwrapper")
            error = inspect.isclass(value) and issubclass(value, Exception | Warning)
            if ours and not error and not getattr(value, "_is_protocol", False) and id(value) not in seen:
                seen.add(id(value))
                yield f"{prefix}.{name}", value


@pytest.mark.parametrize(("way", "value"), list(public_callables()))
def test_an_editor_shows_parameters_and_one_text(way, value):
    floor = way.split(".")[1] if way.count(".") == 2 else "shape"
    shown = jedi.Script(f"import tensorwrapper as tw\nimport tensorwrapper.{floor}\n{way}(").get_signatures()
    texts = {signature.docstring(raw=True) for signature in shown} - {""}
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:
        parameters = ()
    # What takes any number of positions jedi replaces by what the body does with them.
    named = [parameter for parameter in parameters if parameter.kind is not parameter.VAR_POSITIONAL]

    assert len(texts) == 1
    assert not named or any(signature.params for signature in shown)


def test_no_signature_writes_an_unknown_rank_out():
    # Where a mode is dropped, pyright takes `Shape[tuple[int, ...]]` for rank 0: a bare class says unknown.
    written = re.compile(
        r"\b((Shape|Indices|IndexIterator|Layout|Tiling|Mask)\[|(Tensor|View)\[[\w.]+, )"
        r"(tuple\[int, \.\.\.\]|Index)\]"
    )
    package = Path(tw.__file__).parent
    found = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in sorted(package.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if written.search(line) and "cast(" not in line
    ]

    assert found == []


def test_dir_and_all_agree():
    assert set(tw.__all__) <= set(dir(tw))
    assert sorted(tw.__all__) == tw.__all__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        tw.no_such_name  # noqa: B018


@pytest.mark.parametrize(("public", "value"), list(public_classes()))
def test_every_public_class_is_abstract_or_final(public, value):
    abstract = inspect.isabstract(value)

    assert abstract or getattr(value, "__final__", False), f"{public} is neither"
    for base in value.__mro__[:-1]:
        if base.__module__.startswith("tensorwrapper"):
            assert "__slots__" in vars(base), f"{base.__name__} has no slots"
    if abstract:
        assert not attrs.has(value)
        assert value.__slots__ == ()


@pytest.mark.parametrize(
    "value", [v for public, v in public_classes() if not inspect.isabstract(v) and public not in RUNNING]
)
def test_values_never_change(value):
    field = next(iter(attrs.fields(value)))
    instance = object.__new__(value)

    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(instance, field.name, None)


def test_every_error_has_the_root_and_a_builtin():
    errors = importlib.import_module("tensorwrapper.errors")
    for name in errors.__all__:
        value = getattr(errors, name)
        if not inspect.isclass(value) or value in (errors.TensorWrapperError, errors.TensorWrapperWarning):
            continue
        root = errors.TensorWrapperWarning if issubclass(value, Warning) else errors.TensorWrapperError
        builtin = [
            b for b in value.__mro__ if b.__module__ == "builtins" and b not in (object, BaseException)
        ]

        assert issubclass(value, root)
        assert any(b not in (Exception, Warning) for b in builtin), name


def test_import_alone_loads_nothing_of_a_third_party():
    loaded = fresh("import sys, json, tensorwrapper; print(json.dumps(sorted(sys.modules)))")

    assert not {"numpy", "attrs", "attr", "zmq"} & set(loaded)


def test_shapes_load_attrs_and_numpy_and_nothing_else_of_a_third_party():
    code = (
        "import sys, json; before = set(sys.modules); import tensorwrapper; tensorwrapper.Shape\n"
        "new = {m.split('.')[0] for m in set(sys.modules) - before} - sys.stdlib_module_names\n"
        "print(json.dumps(sorted(new)))"
    )
    # Compiled parts of NumPy register a few modules of their own.
    foreign = {name for name in fresh(code) if not name.startswith(("_", "numpy"))}

    assert foreign == {"attr", "attrs", "tensorwrapper"}


@pytest.mark.parametrize("floor", ["tensor", "wire", "layout", "buffer", "drawing"])
def test_zeromq_is_loaded_by_transport_alone(floor):
    loaded = fresh(f"import sys, json, tensorwrapper.{floor}; print(json.dumps('zmq' in sys.modules))")

    assert loaded is False
