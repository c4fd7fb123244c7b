"""Pictures of shards: a panel per operand, small at any size."""

import xml.etree.ElementTree as ET

import pytest

from tensorwrapper import Shape
from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.sharding import BlockOperation, Operand

SVG = "{http://www.w3.org/2000/svg}"


def named(svg, name):
    return [mark for mark in ET.fromstring(svg).iter() if mark.get("class") == name]


def operation(extents):
    names = ", ".join(f"i{k}" for k in range(len(extents)))
    same = f"({names}) -> ({names})"
    return BlockOperation("k", extents, {"x": Operand(extents, same)}, {"y": Operand.result(extents, same)})


def test_every_operand_has_a_panel_in_which_the_shard_is_marked():
    svg = operation((4, 6)).split_grid((2, 3)).to_svg(3)

    assert [mark.find(f"{SVG}title").text for mark in named(svg, "whole")] == ["[0:4, 0:6]"] * 3
    assert [mark.find(f"{SVG}title").text for mark in named(svg, "chosen")] == ["[2:4, 3:6]"] * 3
    assert "4 shards of k; shard 3 is marked" in svg


def test_what_is_marked_lies_where_it_is():
    svg = operation((4, 8)).split(1, 2).to_svg(1)
    whole, chosen = named(svg, "whole")[0], named(svg, "chosen")[0]

    assert float(chosen.get("x")) == pytest.approx(float(whole.get("width")) / 4, abs=0.02)
    assert float(chosen.get("width")) == pytest.approx(float(whole.get("width")) / 4, abs=0.02)
    assert chosen.get("height") == whole.get("height")


@pytest.mark.parametrize("extents", [(), (5,), (2, 3, 4), (0, 3), (10**6, 1), (10**30,)], ids=str)
def test_boxes_of_any_rank_and_size_have_a_picture(extents):
    shards = operation(extents).shard([Shape.smooth([min(n, 2) for n in extents])])

    assert len(named(shards.to_svg(), "whole")) == 3
    assert shards.to_svg() in shards._repr_html_()


def test_many_shards_make_a_small_picture():
    svg = operation((1000, 100)).split_grid((1, 10)).to_svg(-1)

    assert len(svg) < 100_000
    assert "200 of 10000 boxes" in svg


def test_a_shard_that_is_not_there_is_not_marked():
    with pytest.raises(OutOfBoundsError, match="shard 5 does not exist: there are 2"):
        operation((4,)).split(0, 2).to_svg(5)
    assert named(operation((4,)).shard([]).to_svg(), "chosen") == []
