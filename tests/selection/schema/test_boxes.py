"""A region of one tensor is Tapestry's ``{"tensorId", "range"}``, both ways."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, SelectionError

A = tw.as_tensor(np.arange(24).reshape(4, 6))
SOURCE = sel.sources(sel.as_view(A))["0"]


@pytest.mark.parametrize(
    ("view", "text"),
    [
        (sel.as_view(A), '{"range":{"end":[4,6],"start":[0,0]},"tensorId":"0"}'),
        (sel.as_view(A)[1:3, 2:], '{"range":{"end":[3,6],"start":[1,2]},"tensorId":"0"}'),
        (sel.as_view(A)[1:, ::-1][:2, ::-1], '{"range":{"end":[3,6],"start":[1,0]},"tensorId":"0"}'),
        (
            sel.as_view(A).window(Shape(1, 2, origin=(3, 4))),
            '{"range":{"end":[4,6],"start":[3,4]},"tensorId":"0"}',
        ),
        (sel.concat([A[:2], A[2:]])[1:3], '{"range":{"end":[3,6],"start":[1,0]},"tensorId":"0"}'),
        (sel.pad(A, [(1, 1), (1, 1)])[1:2, 1:3], '{"range":{"end":[1,2],"start":[0,0]},"tensorId":"0"}'),
        (sel.as_view(A)[2:2, 1:], '{"range":{"end":[0,5],"start":[0,0]},"tensorId":"0"}'),
        (sel.as_view(tw.as_tensor(7)), '{"range":{"end":[],"start":[]},"tensorId":"0"}'),
        (
            sel.as_view(tw.from_buffer(np.arange(3), Shape(3, origin=(5,))))[1:],
            '{"range":{"end":[8],"start":[6]},"tensorId":"0"}',
        ),
    ],
)
def test_regions_are_written_and_read(view, text):
    sources = {"0": SOURCE} if SOURCE in sel.sources(view).values() else sel.sources(view)
    assert sel.to_json(view, form="box", sources=sources) == text
    read = sel.from_json(text, sources=sources)
    assert np.array_equal(read.compute(), view.compute())
    assert read.normal_form().node == view.normal_form().node


@pytest.mark.parametrize(
    "view",
    [
        sel.as_view(A)[::2],
        sel.as_view(A)[::-1],
        sel.as_view(A).permute((1, 0)),
        sel.as_view(A)[1],
        sel.as_view(A).unsqueeze(0),
        sel.as_view(A).rotate((1, 0)),
        sel.as_view(A).broadcast((2, 4, 6)),
        sel.concat([A, A]),
        sel.pad(A, [(1, 0), (0, 0)]),
        sel.zeros((2, 2)),
    ],
)
def test_what_is_no_region_is_refused(view):
    with pytest.raises(ConversionError, match=r"region|route|full|zeros"):
        sel.to_json(view, form="box")


def test_a_region_keeps_its_place():
    read = sel.from_json('{"tensorId":"x","range":{"start":[1,2],"end":[3,5]}}', sources={"x": A})
    assert read.shape == Shape(2, 3, origin=(1, 2))
    assert np.array_equal(read.compute(), A[1:3, 2:5])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"tensorId":"y","range":{"start":[0,0],"end":[1,1]}}', "source"),
        ('{"tensorId":0,"range":{"start":[0,0],"end":[1,1]}}', "source"),
        ('{"tensorId":"x","range":{"start":[0],"end":[1]}}', "bounds"),
        ('{"tensorId":"x","range":{"start":[0,0],"end":[5,1]}}', "bounds"),
        ('{"tensorId":"x","range":{"start":[-1,0],"end":[1,1]}}', "bounds"),
        ('{"tensorId":"x","range":{"start":[2,0],"end":[1,1]}}', "bounds"),
        ('{"tensorId":"x","range":{"start":[0,5],"end":[3,2]}}', "bounds"),
        ('{"tensorId":"x","range":{"start":[0,0],"end":[1]}}', "schema"),
        ('{"tensorId":"x","range":{"start":[0,0]}}', "schema"),
        ('{"tensorId":"x","range":[0,0,1,1]}', "schema"),
        ('{"tensorId":"x","range":{"start":[0,0],"end":[1,1]},"view":1}', "schema"),
        ('{"tensorId":"x","range":{"start":[0,0],"end":[1,true]}}', "schema"),
        ('{"tensorId":"x","range":{"start":[0,0],"end":[1,1.0]}}', "schema"),
        ('{"tensorId":"jagged","range":{"start":[0,0],"end":[1,1]}}', "source"),
    ],
)
def test_regions_that_are_none_are_refused(text, reason):
    with pytest.raises(SelectionError) as caught:
        sel.from_json(text, sources={"x": A, "jagged": tw.jagged([[1], [2, 3]])})
    assert caught.value.reason == reason
