"""How much memory a computation takes beside its result: each view in a process of its own."""

import subprocess
import sys

import pytest

MOST = 64 << 20

SETUP = """
import resource
import numpy as np
import tensorwrapper as tw
from tensorwrapper import selection as sel

n = 2048
x = np.arange(n * n * 2.0).reshape(n, 2 * n)  # 64 MiB
v = sel.as_view(tw.as_tensor(x))
m = sel.as_view(tw.as_tensor(np.tile([True, False], (n, n))))
order = np.random.default_rng(0).permutation(n)
lengths = tw.Shape.jagged(np.tile([1, 2 * n - 1], n))
view = {view}
view.normal_form()
view.plan()
# What is loaded on first use is no part of it.
box = view.shape.kind == "smooth"
(view.window(tw.Shape(*[1] * view.rank, origin=view.shape.origin)) if box else view[:1]).compute()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = view.compute()
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
unit = 1 if {darwin} else 1024
print((after - before) * unit - result.nbytes)
"""

VIEWS = {
    "permuted": "v.permute((1, 0))",
    "rotated": "v.rotate((3, 5))",
    "repeated": "v.repeat((1, 2))",
    "positions of both modes": "v.gather(0, order).gather(1, order)",
    "positions of joined rows": "sel.concat([v[: n // 2], v[n // 2 :]]).gather(0, order)",
    "positions of joined columns": "sel.concat([v[:, :n], v[:, n:]], mode=1).gather(1, order)",
    "points": "v.vindex[order[:, None], order]",
    "points of joined rows": "sel.concat([v[: n // 2], v[n // 2 :]]).vindex[order[:, None], order]",
    "rows chosen by a mask": "sel.as_view(tw.from_buffer(x.reshape(-1), lengths))"
    "[tw.from_buffer(x.reshape(-1) % 3 == 0, lengths)]",
    "joined": "sel.concat([v, v], mode=1)",
    "interleaved": "sel.interleave([v, v], mode=1)",
    "padded": "sel.pad(v, [(10, 10), (10, 10)], fill_value=1)",
    "folded": "sel.pad(v, [(10, 10), (10, 10)], boundary='reflect')",
    "chosen": "sel.where(m, sel.concat([v[:5], v[5:]]), sel.minimum(v, v[::-1]))",
    "cast": "sel.concat([v, v]).astype('f4').astype('f8')",
    "counted": "sel.iota((n, 2 * n), 1, dtype='f8')",
    "counted along one mode": "sel.linspace(0, 1, 2 * n * n)",
    "random": "sel.normal((n, n), v[:, :n], 2.0, seed=1)[:500]",
    "joined and reshaped": "sel.concat([v, v[::-1]]).reshape((n // 2, 8 * n)).permute((1, 0))",
    "least of joined, in another order": "sel.minimum(sel.concat([v, v]), 5.0).reshape((-1,))"
    ".gather(0, np.arange(4 * n * n)[::-7])",
}


@pytest.mark.parametrize("name", VIEWS)
def test_w6_beside_the_result_little_memory_is_needed(name):
    text = SETUP.format(view=VIEWS[name], darwin=sys.platform == "darwin")
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert int(found.stdout) <= MOST
