"""What public names are, and what importing them costs."""

import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

import tensorwrapper as tw
from tests.support.public_names import MODULES

pytestmark = pytest.mark.slow

RUNNING = {
    "AsyncDelivery",
    "AsyncSocket",
    "Assembler",
    "IndexIterator",
    "CopyCount",
    "Flow",
    "FlowMachine",
    "Flows",
    "TransferSender",
    "TransferReceiver",
    "Transfer",
    "Transfers",
    "Socket",
    "StreamReader",
    "Delivery",
    "TensFile",
    "Ranges",
    "Viewer",
    "ArrayFile",
}
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


def test_no_signature_writes_an_unknown_rank_out():
    # Where a mode is dropped, pyright takes `Shape[tuple[int, ...]]` for rank 0: a bare class says unknown.
    written = re.compile(
        r"\b((Shape|Indices|IndexIterator|Layout|Tiling|BlockPattern|Mask)\[|(Tensor|View)\[[\w.]+, )"
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
    "value",
    [
        v
        for public, v in public_classes()
        # A text says to Python itself that it never changes.
        if not inspect.isabstract(v) and public not in RUNNING and not issubclass(v, str)
    ],
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
