"""What checkers know of copy plans. Never run."""

from collections.abc import Iterator
from typing import Literal, assert_type

import numpy as np

from tensorwrapper import Layout, Shape
from tensorwrapper.buffer import copy_between, run_copy
from tensorwrapper.layout import CopyPlan
from tensorwrapper.typing import IntArray

row = Layout(Shape(2, 3))
plan = row.copy_plan(Layout(Shape(2, 3), order="F"))

assert_type(plan, CopyPlan)
assert_type(plan.inverse(), CopyPlan)
assert_type(plan.method, Literal["run", "strided", "blocks", "gather"])
assert_type(plan.run_length, tuple[int, int])
assert_type(plan.run_batches(), Iterator[IntArray])
assert_type(row.simplify(), Layout)

run_copy(plan, np.zeros(6), np.zeros(6), threads=2)
copy_between(np.zeros(6), row, np.zeros(6), row)

row.copy_plan(Shape(2, 3))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
run_copy(plan, np.zeros(6), [0.0] * 6)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
