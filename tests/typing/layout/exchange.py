"""What checkers know of the exchange of layouts. Checked, never run."""

from typing import assert_type

import numpy as np

from tensorwrapper.layout import (
    ArrayInterface,
    BufferInfo,
    DLTensor,
    HalideBuffer,
    IndexTransform,
    Layout,
    LossKind,
    LossReport,
    MdspanKind,
    MdspanMapping,
    MemoryLayout,
    StorageOrder,
)
from tensorwrapper.shape import Shape
from tensorwrapper.typing import IntArray

row = Layout(Shape(2, 3))

# Exports are values of their own, each with its report.

assert_type(row.losses("dlpack"), LossReport)
assert_type(row.losses("dlpack").lost, tuple[LossKind, ...])
assert_type(row.to_array_interface("f8"), ArrayInterface)
assert_type(row.to_array_interface(np.float64, nbytes=48).to_dict(4096, 48), dict[str, object])
assert_type(row.to_buffer_info("f8"), BufferInfo)
assert_type(row.to_dltensor("f8"), DLTensor)
assert_type(row.to_mdspan(), MdspanMapping)
assert_type(row.to_mdspan().kind, MdspanKind)
assert_type(row.storage_order(), StorageOrder)
assert_type(row.storage_order().ascend, tuple[bool, ...])
assert_type(row.to_halide(), HalideBuffer)
assert_type(row.to_tensorstore(Shape(2, 3)), IndexTransform)
assert_type(row.to_tensorstore(row, labels=["x", "y"]).output[0].index_array, IntArray | None)

# What is read is a layout, alone or with the facts of its memory.

assert_type(Layout.from_dlpack(np.zeros(3)), MemoryLayout[Layout])
assert_type(Layout.from_memoryview(memoryview(b"abc")).layout, Layout)
assert_type(Layout.from_array_interface({"shape": (2,)}, within=(0, 64)).address, int | None)
assert_type(Layout.from_mdspan((2, 3), "right_padded", padding=4), Layout)
assert_type(Layout.from_halide([(0, 3, 1)]), Layout)
assert_type(Layout.from_tensorstore("{}", (2, 3)), Layout)
assert_type(Layout.aligned((2, 3), 4, order="F"), Layout)

# Questions about two layouts.

assert_type(row.overlaps(row[0], limit=100), bool)
assert_type(row.may_overlap(row.permute((1, 0))), bool)

row.losses("numpy")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Layout.from_mdspan((2,), "padded")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
row.to_array_interface("f8", 48)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
