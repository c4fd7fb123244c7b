"""One typed value for any tensor's index space, its memory layout, and its way between processes.

`Shape` and `Tiling` say which indices exist, `Layout` where each lives, `Tensor` holds the elements, and
``wire`` and ``transport`` move any selection of them to another process.
"""
