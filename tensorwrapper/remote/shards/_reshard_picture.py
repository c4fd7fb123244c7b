"""Pictures of plans that move a tensor between holders: senders, receivers and bytes."""

from typing import TYPE_CHECKING, Final, cast

import numpy as np

from tensorwrapper._displays import html_block
from tensorwrapper.drawing import Drawing, bytes_text, count_text, draw_grid

if TYPE_CHECKING:
    from tensorwrapper.remote.shards._reshard import ReshardPlan

_PARTS: Final = 64  # rows and columns of the picture


def draw_reshard(plan: "ReshardPlan") -> Drawing:
    """Return a picture of the bytes that each holder sends to each; the diagonal has those that stay."""
    count = len(plan.holders)
    parts = max(min(count, _PARTS), 1)
    sent = np.zeros((parts, parts))
    places = plan.senders * parts // max(count, 1), plan.receivers * parts // max(count, 1)
    np.add.at(sent, places, plan.nbytes.astype(np.float64))
    most = float(sent.max(initial=0.0))
    return draw_grid(
        cast("list[list[float]]", (sent / max(most, 1.0)).tolist()),
        down=(0, count),
        across=(0, count),
        names=("who sends", "who receives"),
        full=bytes_text(int(most)),
        title=f"{bytes_text(plan.moved)} move between {count} holders, {bytes_text(plan.kept)} stay",
    )


def reshard_html(plan: "ReshardPlan") -> str:
    """Return the HTML of a plan for notebooks."""
    facts = [(name, bytes_text(n)) for name, n in (("moves", plan.moved), ("stays", plan.kept))]
    facts.append(("pieces", count_text(plan.pieces)))
    return html_block(type(plan).__name__, facts, draw_reshard(plan).to_svg())
