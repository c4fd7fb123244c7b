"""Tensors in notebooks."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper.buffer import from_functions


@pytest.mark.parametrize(
    "tensor",
    [
        tw.as_tensor(np.arange(6.0).reshape(2, 3)),
        tw.as_tensor(2.5),
        tw.zeros((0, 3)),
        tw.jagged([[1, 2], [], [3]]),
        tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(Tiling([1, 2], [2, 1])),
        tw.sparse([(0, 1)], [5.0], (3, 4)),
        tw.strings([["<a>", "&"], ["b", "c"]]),
        tw.zeros(Shape.nested(Shape(2, 3), layers=(1, 1))),
        tw.from_buffer(from_functions(10**16, "i8", lambda a: a), (10**8, 10**8)),
    ],
)
def test_notebooks_show_facts_first_then_values_and_a_folded_picture(tensor):
    html = tensor._repr_html_()
    root = ET.fromstring(html)
    assert root.find(".//{http://www.w3.org/2000/svg}svg") is not None
    facts = {row[0].text: row[1].text for row in root.findall(".//tr")}
    assert {"shape", "buffer"} <= facts.keys()
    assert f"<{root.find('code').text}>" == repr(tensor).split("\n")[0].split(": ")[0].removesuffix(">") + ">"
    values, picture = root.findall("details")
    assert (values.get("open"), picture.get("open")) == ("open", None)
    assert values.find("pre").text == str(tensor)
    assert picture.find("summary").text in {"memory order, not values", "stored elements"}
    assert len(html) < 100_000
