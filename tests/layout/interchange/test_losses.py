"""What each form leaves out of a layout, and what it cannot say."""

import pytest
from hypothesis import given

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.errors import ConversionError, LayoutError, SizeOverflowError
from tests.support.layout.strided import strided_layouts

ROW = Layout(Shape(2, 3))
LAYOUTS = {
    "row": ROW,
    "origin": Layout(Shape(2, 3, origin=(1, 0))),
    "offset": Layout(Shape(2, 3), offset=4),
    "reversed": ROW.reverse(1),
    "broadcast": Layout(Shape(3)).broadcast((2, 3)),
    "gaps": Layout(Shape(2, 3), strides=(4, 1)),
    "interleaved": Layout(Shape(2, 3), strides=(3, 2)),
    "unit stride": Layout(Shape(2, 1, 3), strides=(3, 77, 1)),
    "gathered": ROW.gather(1, [0, 2, 1]),
    "tiled": ROW.as_tiled(Tiling([1, 1], [3])),
    "tile-major": Layout.tiled(Tiling([1, 1], [2, 1])),
    "jagged": Layout(Shape.jagged([1, 2])),
    "hierarchical": Layout.parse("((2,2),3):((3,6),1)"),
    "composite": Layout.parse("S<1,0,2> o 0 o (4,4):(4,1)"),
    "empty": Layout(Shape(0, 3), offset=7),
    "layers": Layout(Shape.nested(Shape(2, 3), layers=(1, 1))),
}
FORMS = [
    "array_interface",
    "buffer",
    "dlpack",
    "mdspan",
    "storage_order",
    "halide",
    "tensorstore",
    "cute",
    "array_api",
]
CALLS = {
    "array_interface": lambda layout: layout.to_array_interface("i1"),
    "buffer": lambda layout: layout.to_buffer_info("i1"),
    "dlpack": lambda layout: layout.to_dltensor("i1"),
    "mdspan": lambda layout: layout.to_mdspan(),
    "storage_order": lambda layout: layout.storage_order(),
    "halide": lambda layout: layout.to_halide(),
    "tensorstore": lambda layout: layout.to_tensorstore(Shape(100)),
}
ARRAYS = ("array_interface", "buffer", "dlpack")


@pytest.mark.parametrize(
    ("name", "forms", "lost", "refused"),
    [
        ("row", FORMS, (), ()),
        ("origin", [*ARRAYS, "mdspan", "storage_order", "array_api"], ("origin",), ()),
        ("origin", ["cute"], (), ("origin",)),
        ("origin", ["halide", "tensorstore"], (), ()),
        ("offset", [*ARRAYS, "mdspan", "halide", "cute", "tensorstore"], (), ()),
        ("offset", ["storage_order", "array_api"], ("offset",), ()),
        ("reversed", [*ARRAYS, "storage_order", "halide", "tensorstore", "cute"], (), ()),
        ("reversed", ["mdspan"], (), ("negative_strides",)),
        ("reversed", ["array_api"], ("offset", "strides"), ()),
        ("broadcast", [*ARRAYS, "halide", "tensorstore", "cute"], (), ()),
        ("broadcast", ["mdspan", "storage_order"], (), ("zero_strides",)),
        ("gaps", [*ARRAYS, "mdspan", "halide", "tensorstore", "cute"], (), ()),
        ("gaps", ["storage_order"], (), ("gaps",)),
        ("gaps", ["array_api"], ("strides",), ()),
        ("interleaved", ["mdspan", "storage_order"], (), ("interleaving",)),
        ("unit stride", [*ARRAYS, "mdspan", "storage_order", "tensorstore"], ("unit_strides",), ()),
        ("unit stride", ["halide", "cute", "array_api"], (), ()),
        ("gathered", [*ARRAYS, "mdspan", "storage_order", "halide", "cute"], (), ("maps",)),
        ("gathered", ["tensorstore"], (), ()),
        ("gathered", ["array_api"], ("strides", "maps"), ()),
        ("tiled", [*ARRAYS, "mdspan", "storage_order", "halide", "tensorstore", "cute"], (), ("tiles",)),
        ("tile-major", [*ARRAYS, "mdspan", "storage_order", "halide", "tensorstore", "cute"], (), ("tiles",)),
        ("jagged", FORMS, (), ("jagged",)),
        ("hierarchical", [*ARRAYS, "mdspan", "storage_order", "halide", "tensorstore"], ("hierarchy",), ()),
        ("hierarchical", ["cute"], (), ()),
        ("composite", [*ARRAYS, "mdspan", "storage_order", "halide", "tensorstore"], (), ("composite",)),
        ("composite", ["cute"], (), ()),
        ("empty", [*ARRAYS, "storage_order", "tensorstore", "array_api"], ("offset",), ()),
        (
            "layers",
            [*ARRAYS, "mdspan", "storage_order", "halide", "tensorstore", "array_api"],
            ("layers",),
            (),
        ),
        ("layers", ["cute"], (), ("layers",)),
    ],
)
def test_a_report_names_what_is_left_out_and_what_cannot_be_said(name, forms, lost, refused):
    for form in forms:
        report = LAYOUTS[name].losses(form)
        assert (form, report.lost, report.refused) == (form, lost, refused)
        assert report.is_exact == (not lost and not refused)
        assert report.is_possible == (not refused)
        for fact in (*lost, *refused):
            assert fact in str(report)


@pytest.mark.parametrize("form", CALLS)
@pytest.mark.parametrize("name", LAYOUTS)
def test_an_export_has_the_report_or_is_refused_with_its_reasons(name, form):
    layout = LAYOUTS[name]
    report = layout.losses(form)
    if report.is_possible:
        assert CALLS[form](layout).lost == report
    else:
        with pytest.raises(LayoutError, match=report.refused[0]):
            CALLS[form](layout)


@given(strided_layouts())
def test_an_exact_storage_order_and_mapping_lead_back(layout):
    if layout.losses("storage_order").is_exact:
        found = layout.storage_order()
        assert Layout(layout.shape, order=found.order, ascend=found.ascend) == layout
    if layout.losses("mdspan").is_exact:
        found = layout.to_mdspan()
        strides = found.strides if found.kind == "stride" else None
        args = {"strides": strides, "padding": found.padding, "offset": found.offset}
        assert Layout.from_mdspan(found.extents, found.kind, **args) == layout


@given(strided_layouts())
def test_an_exact_text_and_transform_lead_back(layout):
    report = layout.losses("cute")
    if report.is_possible:
        assert (Layout.parse(str(layout)) == layout) == report.is_exact
    else:
        with pytest.raises(LayoutError):
            Layout.parse(str(layout))
    if layout.bounds()[0] >= 0:
        base = Shape(layout.bounds()[1] + 1)
        read = Layout.from_tensorstore(layout.to_tensorstore(base), base)
        assert (read == layout) == layout.losses("tensorstore").is_exact


@pytest.mark.parametrize("offset", [0, 7])
def test_a_transform_without_elements_is_where_its_base_is(offset):
    base = Layout(Shape(2, 3), offset=7)
    transform = Layout(Shape(0, 3), offset=offset).to_tensorstore(base)
    assert Layout.from_tensorstore(transform, base).offset == 7
    assert transform.lost.lost == (() if offset == 7 else ("offset",))


def test_a_form_is_one_that_is_known():
    with pytest.raises(ConversionError, match="one of array_interface"):
        ROW.losses("numpy")


def test_a_number_that_a_form_has_no_room_for_is_no_loss():
    with pytest.raises(SizeOverflowError, match="64 bits"):
        Layout(Shape(2), strides=(2**63,)).losses("dlpack")
    with pytest.raises(SizeOverflowError, match="32 bits"):
        Layout(Shape(2), strides=(2**31,)).losses("halide")
