"""Records: a name gives a field, everything else records. Checked, never run."""

from typing import assert_type

import attrs
import numpy as np

import tensorwrapper as tw
from tensorwrapper import Records, Tensor
from tensorwrapper.selection import View


@attrs.frozen
class Hits:
    """Attributes that are fields."""

    t: Tensor[np.int64]


def of_records(r: Records, mask: Tensor[np.bool_]) -> None:
    """Ask records for fields and rows."""
    assert_type(tw.records({"t": [1, 2]}), Records)
    assert_type(r["t"], Tensor | View)
    assert_type(r.field("t"), Tensor | View)
    assert_type(r.field("t", np.float64), Tensor[np.float64])
    assert_type(r[["t", "q"]], Records)
    assert_type(r[0], Records)
    assert_type(r[1:, :2], Records)
    assert_type(r[mask], Records)
    assert_type(r[[2, 0]], Records)
    assert_type(r[{"event": 1}], Records)
    assert_type(list(r), list[Records])
    assert_type(r.sort_by("t")[:, :1].flatten(), Records)
    assert_type(r.unpack(Hits), Hits)
    assert_type(r.unpack(Hits).t, Tensor[np.int64])
    assert_type(r.get("t", 3), Tensor | View | int | None)
    assert_type(dict(r), dict[str, Tensor | View])


def of_joins(r: Records, mask: Tensor[np.bool_]) -> None:
    """Put records together."""
    assert_type(tw.concat([r, r]), Records)
    assert_type(tw.stack([r, r], mode=1), Records)
    assert_type(tw.where(mask, r, r), Records)


def of_what_is_refused(r: Records) -> None:
    """Checkers know that records have no operators."""
    r + 1  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
