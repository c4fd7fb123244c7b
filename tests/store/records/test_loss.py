"""A loss is a sentence for people, and says the same to programs."""

import copy
import pickle

import pytest

from tensorwrapper.store import Loss
from tensorwrapper.store.records._loss import loss_in, unread, unsaid

LOSS = Loss("'o' holds objects", "o", "objects", "np.load has them")


def test_it_is_a_text_with_what_programs_ask():
    assert LOSS == "'o' holds objects: np.load has them"
    assert (LOSS.name, LOSS.code, LOSS.help) == ("o", "objects", "np.load has them")
    assert Loss("'o' is left", "o", "type") == "'o' is left"
    assert unsaid("x", "the layers") == Loss("the layers of 'x'", "x", "kind")


def test_nothing_of_it_changes():
    for name in ("name", "code", "help"):
        with pytest.raises(AttributeError):
            setattr(LOSS, name, "other")


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda own: pickle.loads(pickle.dumps(own))])
def test_copies_say_the_same(again):
    for loss in (LOSS, Loss("a: b", "n", "name", ""), Loss("a", "n", "name", "b: c")):
        found = again(loss)
        assert (type(found), found) == (Loss, loss)
        assert (found.name, found.code, found.help) == (loss.name, loss.code, loss.help)


def test_what_an_error_says_as_a_loss_is_told_by_its_code():
    assert loss_in(ValueError("bad")) is loss_in(ValueError()) is None
    assert loss_in(ValueError(LOSS)) is LOSS
    assert unread("'r' is not read", "r", ValueError("bad")) == "'r' is not read, bad"
    assert unread("'r' is not read", "r", ValueError("bad")).code == "damage"
    found = unread("'r' is not read", "r", ValueError(LOSS), "kind")
    assert found == "'r' is not read, 'o' holds objects: np.load has them"
    assert (found.name, found.code, found.help) == ("r", "objects", "np.load has them")
