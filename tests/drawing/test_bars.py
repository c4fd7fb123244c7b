"""Bars, one per mode: to scale, never too short to be seen, and of many modes the first."""

import pytest

from tensorwrapper.drawing._bars import ModeBar, bar_lengths, draw_bars
from tests.support.pictures import Picture


def test_bars_are_to_scale_and_can_be_seen():
    short, half, long = bar_lengths([1, 500, 1000])

    assert half == pytest.approx(long / 2)
    assert short == 2.0
    assert bar_lengths([0, 0]) == [2.0, 2.0]


def test_of_many_modes_the_first_are_drawn_and_it_is_said():
    bars = [ModeBar(f"mode {k}", 10.0, "3") for k in range(30)]
    drawn = Picture(draw_bars(bars, title="many modes").to_svg())

    assert [box.title for box in drawn.boxes("bar")] == [f"mode {k}: 3" for k in range(24)]
    assert "and 6 more modes" in draw_bars(bars, title="many modes").to_svg()
