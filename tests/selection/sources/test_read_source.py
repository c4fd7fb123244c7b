"""What is read of two versions of a source is not joined."""

import pickle

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, ExtentMismatchError, VersionChangedError
from tests.support.selection.counting_source import CountingSource, SlowSource

X = np.arange(240.0).reshape(12, 20)


class Changing(CountingSource):
    """A source whose version moves on when so many selections have arrived."""

    after = 1

    def start(self, selections, out):
        handle = super().start(selections, out)
        numbers = handle.numbers

        def arriving():
            for count, number in enumerate(numbers, 1):
                if count > self.after:
                    self.version = "2"
                yield number

        handle.completed = arriving
        return handle


def parts(source):
    view = sel.as_view(source)
    return sel.concat([view[:2], view[9:]])


def test_a_change_between_two_answers_names_both_versions():
    source = Changing(X)
    with pytest.raises(VersionChangedError, match="from version '1' to '2'"):
        parts(source).compute()


def test_a_change_after_the_last_answer_is_none():
    source = Changing(X)
    source.after = 2
    np.testing.assert_array_equal(parts(source).compute(), np.concatenate([X[:2], X[9:]]))


def test_a_source_that_begins_to_tell_its_version_has_changed():
    source = Changing(X)
    source.version = ""
    with pytest.raises(VersionChangedError, match="from version ''"):
        parts(source).compute()


def test_the_others_are_cancelled():
    slow = SlowSource(X)
    slow.gate.clear()
    with pytest.raises(VersionChangedError):
        sel.concat([parts(Changing(X)), slow]).compute()
    assert slow.handles[0].stop.is_set()


def test_blocks_are_of_one_version():
    source = CountingSource(X)
    blocks = sel.as_view(source).blocks(X.nbytes // 4)
    next(blocks)
    source.version = "2"
    with pytest.raises(VersionChangedError):
        next(blocks)


def test_every_computation_may_see_another_version():
    source = CountingSource(X)
    view = sel.as_view(source)[3]
    view.compute()
    source.version = "2"
    assert view.compute().tolist() == X[3].tolist()


def test_elements_that_routes_lead_to_are_of_one_version():
    class Edited(CountingSource):
        def start(self, selections, out):
            self.version = "2"
            return super().start(selections, out)

    (group,) = sel.as_view(Edited(X)).route_many([(0, 0), (1, 1)])
    with pytest.raises(VersionChangedError):
        group.read()


class InTiles(CountingSource):
    """A box that is seen in tiles."""

    layout = None


def in_tiles(tiling):
    source = InTiles(X)
    source.layout = tw.Layout(tw.Shape(*X.shape)).as_tiled(tiling)
    return source


def test_a_source_says_through_which_layout_it_is_seen():
    tiling = tw.Tiling([5, 7], [4, 16])
    source, here = in_tiles(tiling), tw.as_tensor(X).tiled(tiling)
    view = sel.as_view(source)
    assert (view.shape, view.tiling) == (here.shape, tiling)
    assert view[1, 0].tolist() == here[1, 0].tolist()
    assert view.untiled()[3, ::2].tolist() == X[3, ::2].tolist()
    assert source.nbytes == 8 * (28 + 10)
    assert view.select_tiles([(0, 1)]).tolist() == here.select_tiles([(0, 1)]).tolist()
    assert pickle.loads(pickle.dumps(view.expression.layout)) == view.expression.layout


def test_steps_of_what_is_seen_in_tiles_are_written_and_read():
    tiling = tw.Tiling([5, 7], [4, 16])
    source = in_tiles(tiling)
    whole = sel.as_view(source)
    for view in (whole, whole[1:], whole.untiled(), whole.untiled()[::2], whole.select_tiles([(1, 1)])):
        for form in ("steps", "normal") if view.shape.is_box else ("steps",):
            found = sel.from_json(sel.to_json(view, form=form), sources={"0": source})
            assert found.shape == view.shape
            assert found.tolist() == view.tolist()
    with pytest.raises(ConversionError, match="tiles"):
        sel.to_json(whole.untiled()[1:3], form="box")


def test_holders_of_one_tensor_are_seen_through_one_layout():
    first, same, other = (in_tiles(tw.Tiling([5, 7], [own, 20 - own])) for own in (4, 4, 5))
    assert sel.as_view(sel.Alternatives([first, same])).tiling == tw.Tiling([5, 7], [4, 16])
    with pytest.raises(ExtentMismatchError, match="tiles"):
        sel.Alternatives([first, other])
