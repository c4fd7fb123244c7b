"""JSON of any tree of selections: what every tree is checked for."""

from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.transforms._transform import maps_of
from tests.support.selection.brute import elements_of

__all__ = ["json_texts"]

_REFUSED = ("a Python function computes", "written as steps")


def json_texts(tree, rng):
    """Check that both forms are read as the same view, whose text and normal form are the same."""
    view, sources = tree.view, sel.sources(tree.view)
    tiled = any(maps_of(own.tensor.layout) is None for own in sources.values())
    for form in ("steps", "normal"):
        frames = [] if rng.random() < 0.5 else None
        try:
            text = sel.to_json(view, form=form, frames=frames)
        except ConversionError as error:
            if not any(words in str(error) for words in _REFUSED):
                raise
            continue
        read = sel.from_json(text, sources=sources, frames=frames or ())
        assert (read.shape, read.dtype) == (view.shape, view.dtype)
        assert elements_of(read._expression).tolist() == tree.array.tolist()
        assert elements_of(read.normal_form()).tolist() == tree.array.tolist()
        # What went on from an optimized view goes on from what was written once it was read; and a slice of
        # all of a tiled tensor is a step that changes its layout, and is not written.
        # What is one view used twice here is two in a short text, of which none is made once.
        once = any(own.node.is_kept for own in operands_first([view.normal_form()]))
        other = tiled or once or any("optimize" in step for step in tree.steps)
        assert other or read.normal_form() == view.normal_form()
        again = None if frames is None else []
        assert sel.to_json(read, form=form, sources=sources, frames=again) == text or other
        assert again == frames or other
