"""Pictures of plans: how much is read of each source."""

from typing import TYPE_CHECKING, Final

from tensorwrapper._displays import html_block
from tensorwrapper._error_text import shortened
from tensorwrapper.drawing import Drawing, ModeBar, bar_lengths, bytes_text, draw_bars, note

if TYPE_CHECKING:
    from tensorwrapper.selection.plans._plan import Plan

_DRAWN: Final = 24  # sources
_NAME: Final = 40  # characters


def draw_plan(plan: "Plan") -> Drawing:
    """Return a picture with a bar for each source, as long as the bytes read from it."""
    reads = plan.reads[:_DRAWN]
    title = f"{bytes_text(plan.bytes_read)} read of {len(plan.reads)} sources"
    if not reads:
        return note(("nothing is read",), title=title)
    bars = [
        ModeBar(shortened(repr(own.source))[:_NAME], length, bytes_text(own.nbytes))
        for own, length in zip(reads, bar_lengths([own.nbytes for own in reads]), strict=True)
    ]
    more = len(plan.reads) - len(bars)
    return draw_bars(bars, title=title, notes=[f"and {more} more sources"] if more else [])


def plan_html(plan: "Plan") -> str:
    """Return the HTML of a plan for notebooks."""
    facts = [("steps", f"{len(plan.steps):,}"), ("read", bytes_text(plan.bytes_read))]
    facts.append(("written", bytes_text(plan.nbytes)))
    return html_block("Plan", facts, draw_plan(plan).to_svg())
