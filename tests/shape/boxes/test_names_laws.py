"""Names change nothing but names: whatever a shape answers without them, it answers with them."""

from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.shape import Shape
from tensorwrapper.testing import shapes

WORDS = ["atom", "shell", "spin", "k", "x", "y", "z", "\u03bc"]


@st.composite
def pairs(draw):
    """A shape without names, and the same with names, some of them left out."""
    plain = draw(shapes())
    names = draw(st.permutations(WORDS))[: plain.rank]
    bare = draw(st.lists(st.booleans(), min_size=plain.rank, max_size=plain.rank))
    given_ = [None if b or k >= len(names) else names[k] for k, b in enumerate(bare)]
    return plain, plain.named(*given_)


def without(shape):
    return shape.named(*[None] * shape.rank)


@given(pairs())
def test_facts_do_not_depend_on_names(pair):
    plain, named = pair
    assert (plain == named) == (not any(named.names))
    assert (hash(plain) == hash(named)) or any(named.names)
    assert plain.is_congruent(named)
    assert named.same_elements(plain)
    assert (plain.rank, plain.size, plain.kind, plain.layers) == (
        named.rank,
        named.size,
        named.kind,
        named.layers,
    )
    assert plain.is_uniform(0) == named.is_uniform(named.names[0] or 0) if plain.rank else True


@given(pairs())
def test_text_and_json_carry_names_and_all_else(pair):
    _, named = pair
    assert Shape.parse(format(named, "full")) == named
    assert Shape.from_json(named.to_json()) == named


@given(pairs(), st.data())
def test_parts_are_those_without_names_and_keep_the_names(pair, data):
    plain, named = pair
    offset = data.draw(st.tuples(*[st.integers(-3, 3)] * plain.rank))
    moved = named.translate_by(offset)
    assert (without(moved), moved.names) == (plain.translate_by(offset), named.names)
    assert without(named.as_smooth()) == plain.as_smooth()
    if not plain.size:
        return
    index = plain.index(data.draw(st.integers(0, plain.size - 1)))
    depth = data.draw(st.integers(0, plain.rank))
    chip = named.chip(*index[:depth])
    assert (without(chip), chip.names) == (plain.chip(*index[:depth]), named.names[depth:])
    leading = named.leading(depth)
    assert (without(leading), leading.names) == (plain.leading(depth), named.names[:depth])
    if not plain.rank:
        return
    # Along mode 0 a key may choose whatever there is; further on rows differ.
    key = index[0] if data.draw(st.booleans()) else slice(index[0], index[0] + 1)
    part = named[key]
    assert (without(part), part.names) == (plain[key], named.names[isinstance(key, int) :])
    if named.names[0] is not None:
        assert named[{named.names[0]: key}] == part
