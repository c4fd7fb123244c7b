"""Tests of how the reference shows types: as the source has them."""

import ast

import pytest
import reference_types as types
from docutils import nodes
from reference_pages import _members, _top
from sphinx.addnodes import desc_name, desc_signature

import tensorwrapper as tw
from tensorwrapper import buffer, selection, shape, tensor, wire


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("IntArray", "IntArray"),
        ("'Shape | None'", "Shape | None"),
        ("Iterable['Shape']", "Iterable[Shape]"),
        ("Literal['C', 'F']", "Literal['C', 'F']"),
    ],
)
def test_quotes_around_names_are_dropped(written, shown):
    assert types.type_text(ast.parse(written, mode="eval").body) == shown


@pytest.mark.parametrize(
    ("cls", "shown"),
    [
        (shape.Indices, "(shape: Flat | NestedCommon, order: Order='C', places: range | None=None)"),
        (wire.Packed, "(data: Array, fields: dict[str, Json], place_of: Callable[[int], int] | None = None)"),
        (selection.Runs, "(starts: npt.ArrayLike, lengths: npt.ArrayLike=...)"),
    ],
)
def test_what_makes_a_class_is_written_or_made_of_its_fields(cls, shown):
    assert types.constructor_text(cls) == shown


def test_a_field_that_is_made_anew_has_dots_for_its_default():
    assert "id: UUID = ..." in types.constructor_text(tw.sharding.NoteNode)


@pytest.mark.parametrize(
    ("module", "name", "shown"),
    [
        ("tensorwrapper.shape", "Tiling.marks", "tuple[IntArray, ...]"),
        ("tensorwrapper.layout", "MemoryLayout.dtype", "np.dtype[Any]"),
        ("tensorwrapper.shape", "Shape.rank", "int"),
        ("tensorwrapper.shape", "Shape.no_such_name", None),
    ],
)
def test_attributes_and_properties_have_the_type_that_is_written(module, name, shown):
    assert types._type_of(module, name) == shown


@pytest.mark.parametrize(
    ("value", "count"),
    [(selection.as_view, 2), (tensor.jagged, 7), (buffer.Sparse, 2), (shape.Shape.to_svg, 0)],
)
def test_overloads_are_found_where_they_are_written(value, count):
    found = types._overloads_of(value)

    assert len(found) == count
    assert all(isinstance(node, ast.FunctionDef) for node in found)


def test_the_page_of_a_large_class_links_to_its_members_and_to_no_other_name():
    text = _members(shape, "Shape")

    for name in ("jagged", "rank", "slice", "to_svg"):
        assert f"<tensorwrapper.shape.Shape.{name}>" in text
    assert "Shape.num_elements>" not in text
    assert "implementation" not in text
    assert _members(shape, "LossReport") == ""


def test_the_first_page_has_every_name_once_and_shapes_first():
    lines = [line.strip() for line in _top().splitlines() if line.startswith("   ")]
    names = [line for line in lines if line and not line.startswith(":")]

    public = {name for name in tw.__all__ if not isinstance(getattr(tw, name), str | type(tw))}
    assert sorted(names) == sorted(public)
    assert names[0] == "Shape"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("rank", ["rank"]),
        ("a_name", ["a_name"]),
        ("test_views_over_it_are_read", ["test_", "views_", "over_", "it_", "are_", "read"]),
        ("__a_long__name_of_some_kind__", ["__", "a_", "long__", "name_", "of_", "some_", "kind__"]),
    ],
)
def test_long_names_may_be_broken_at_underscores(name, parts):
    signature = desc_signature("", "", desc_name(name, name))
    types._let_break(signature)
    (shown,) = signature.findall(desc_name)

    assert [part.astext() for part in shown.findall(nodes.Text) if "<" not in part] == parts
