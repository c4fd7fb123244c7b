"""What users of other libraries ask of layouts."""

from tests.support.advice import advice_tests

# What somebody writes, and what the error says that works; all that it says is run.
MISTAKES = {
    "l.order": "l.storage_order()",
    "l.ndim": "l.shape.rank",
    "l.T": "l.permute(1, 0)",
    "l.itemsize": "t.dtype",
    "l.transpose()": "l.permute(1, 0)",
    "l.size": "l.shape.size",
    "l.flags": "l.is_contiguous",
    "l.contiguous": "l.is_contiguous",
    "l.rank": "l.shape.rank",
    "l.extents": "l.shape.extents",
    "l.stride": "l.strides",
    "l.cosize": "l.span",
    "l.coalesce()": "tw.layout.coalesce(l)",
    "l.complement()": "tw.layout.complement(l, 12)",
    "l.domain": "l.shape",
    "l.compose(l)": "tw.layout.compose(l, tw.Layout((3, 2)))",
    "l.copy()": "l.simplify()",
    "l.ravel()": "l.flatten()",
    "l.flip(0)": "l.reverse(0)",
    "l.roll(1)": "l.rotate((1, 0))",
    "l.broadcast_to((5, 2, 3))": "l.broadcast((5, 2, 3))",
    "l.is_unique": "l.is_injective",
    "l.required_span_size": "l.span",
    "l.moveaxis(0, 1)": "l.permute(1, 0)",
}


test_a_mistake_is_answered_by_what_works, test_all_that_is_advised_works = advice_tests(MISTAKES, "Layout")
