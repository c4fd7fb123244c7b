"""What users of other libraries ask of shapes, tilings and masks."""

from tests.support.advice import advice_tests

# What somebody writes, and what the error says that works; all that it says is run.
MISTAKES = {
    "s.ndims": "s.rank",
    "s.strides": "tw.Layout(s).strides",
    "s.numel()": "s.size",
    "s.prod()": "s.size",
    "s.transpose()": "s.permute(1, 0)",
    "s.dims": "s.extents",
    "s.append(1)": "tw.Shape.product([s, tw.Shape(4)])",
    "g.ndim": "g.rank",
    "g.T": "g.permute(1, 0)",
    "g.tile(0, 0)": "g.tile((0, 0))",
    "g.find(0, 0)": "g.find((2, 1))",
    "g.size": "g.elements.size",
    "g.extents": "g.elements.extents",
    "g.numblocks": "g.grid.extents",
    "g.nchunks": "g.grid.size",
    "g.trange": "g.grid",
    "g.elements_range": "g.elements",
    "m.sum()": "m.size",
    "m.any()": "m.size > 0",
    "m.T": "tw.Mask(m.source.permute(0), [0, 2])",
    "m.ndim": "m.rank",
    "m.nonzero()": "m.source.indices_at(m.ordinals())",
    "m.indices": "m.source.indices_at(m.ordinals())",
    "m.to_numpy()": "m.ordinals()",
    "m.invert()": "m.complement()",
    "m == t": "m.gather(tw.zeros(m.source))",
    "tw.Shape.from_numpy(x)": "tw.as_shape((2, 3))",
    "tw.Shape.from_array(x)": "tw.as_shape((2, 3))",
    "tw.Shape.of(x)": "tw.as_shape((2, 3))",
    "tw.Shape.jagged(3, 1, 2)": "tw.Shape.jagged([3, 1, 2])",
    "tw.Shape.from_cells([(1, 2)])": "tw.Shape.from_cells((2,), [(1, 2), (3, 4)])",
    "tw.Shape.nested(tw.Shape(2, 3))": "tw.Shape.nested(tw.Shape(2, 3), layers=(1, 1))",
    "tw.Shape(2, 3).stack()": "tw.Shape.stack([s, s])",
    "s.as_list()": "s.extents",
    "s.chunks": "tw.Tiling([1, 1], [3]).chunks",
    "s.lower": "s.origin",
    "s.labels": "s.names",
    "s.union(s)": "s.hull(s)",
    "s.intersection(s)": "s.intersect(s)",
    "s.broadcast_to((5, 2, 3))": "tw.Layout(s).broadcast((5, 2, 3)).shape",
    "s.squeeze()": "s.reshape(6)",
    "s.pad(1)": "tw.Shape(4, 5, origin=(-1, -1))",
    "s.translate((1, 1))": "s.translate_to((5, 5))",
    "r.shape.row_lengths()": "r.shape.lengths(1)",
    "r.shape.row_splits": "r.shape.splits(1)",
    "g.rechunk(2)": "g.retile(tw.Tiling([2, 1], [2, 1]))",
    "g.dims": "g.elements.extents",
    "m.astype(int)": "m.contains((0,))",
    "m.all()": "m.size == m.source.size",
    "m.count()": "m.size",
    "m.tolist()": "m.ordinals()",
    "m.argwhere()": "m.source.indices_at(m.ordinals())",
}


test_a_mistake_is_answered_by_what_works, test_all_that_is_advised_works = advice_tests(
    MISTAKES, "Shape", "Tiling", "Mask"
)
