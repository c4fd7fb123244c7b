"""The same call gives one answer, or is refused, wherever a tensor lies: of every kind.

Places: in memory, a view, a file, a server, and a collection of Dask where one is rows of several partitions.
"""

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Symmetry, Tiling
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, LayoutError, TensorWrapperError
from tensorwrapper.tensor import Tensor

A = np.arange(12).reshape(4, 3)
SQUARE = np.arange(9.0).reshape(3, 3)
KINDS = {
    "box": tw.as_tensor(A),
    "rows": tw.jagged([[3, 1], [], [2, 5, 4]]),
    "deep rows": tw.jagged([[[1, 2], []], [], [[3]]]),
    "cells": tw.as_tensor(A).unflatten([1, 0, 3]),
    "nullable": tw.nullable(A, A % 3 != 0),
    "nullable rows": tw.jagged([[3, None], [], [2]]),
    "texts": tw.strings([["b", "a"], ["", ""], ["é", "z"]]),
    "rows of texts": tw.strings([["b", "a"], [], ["c"]]),
    "texts with nulls": tw.strings(["a", None, "b"]),
    "bytes with nulls": tw.strings([[b"b", b"a"], [None]]),
    "bytes": tw.strings([[b"b", b"a"], [], [b"c"]]),
    "sparse": tw.sparse([(0, 1), (2, 0), (3, 2)], [5.0, 7.0, 9.0], Shape(4, 3)),
    "sparse rows": tw.sparse([(0,), (3,)], [5.0, 7.0], Shape(4)).unflatten([1, 3]),
    "tiles": tw.as_tensor(A).tiled(Tiling([1, 3], [2, 1])),
    "layers": tw.from_buffer(np.arange(12), Shape.nested(Shape(4, 3), layers=(1, 1))),
    "names": tw.as_tensor(A).named("p", "q"),
    "dates": tw.as_tensor(A.astype("M8[s]")),
    "durations": tw.jagged([[3, 1], [], [2]], dtype="i8").astype("m8[s]"),
    "truths": tw.as_tensor(A % 2 == 0),
    "complex": tw.as_tensor(A * 1j),
    "one": tw.as_tensor(3.5),
    "none": tw.as_tensor(np.zeros((0, 3))),
    "empty rows": tw.from_buffer(np.zeros(0), Shape.jagged([0, 0])),
    "origin": tw.as_tensor(A).translate_to((10, 20)),
    "origin of rows": tw.jagged([[1, 2], [], [3]]).translate_to((5, 7)),
    "triangle": tw.from_buffer(np.arange(6.0), Shape.triangular(3)),
    "blocks": tw.as_tensor(np.diag([1.0, 2, 3])).tiled(Tiling([1, 2], [1, 2])).screened(1e-9),
    "orbits": tw.as_tensor(SQUARE + SQUARE.T).to_packed(Symmetry.symmetric(0, 1, rank=2)),
}


def rank(t):
    return t.shape.flatten().rank


CALLS = {
    "T": lambda t: t.T,
    "astype f4": lambda t: t.astype("f4"),
    "astype i1": lambda t: t.astype("i1"),
    "astype text": lambda t: t.astype("T"),
    "astype itself": lambda t: t.astype(t.dtype),
    "broadcast": lambda t: t.broadcast((2, *t.shape.extents)),
    "byte_lengths": lambda t: t.byte_lengths(),
    "density": lambda t: t.density,
    "diagonal": lambda t: t.diagonal(),
    "drop_null": lambda t: t.drop_null(),
    "fill_null": lambda t: t.fill_null(0),
    "fill_value": lambda t: t.fill_value,
    "flatten": lambda t: t.flatten(),
    "flatten 2": lambda t: t.flatten(2),
    "gather": lambda t: t.gather(0, [1, 0, 1]),
    "group_by_shape": lambda t: [(g.extents, g.cells.tolist()) for g in t.group_by_shape()],
    "is_valid": lambda t: t.is_valid(),
    "local_index": lambda t: t.local_index(),
    "nnz": lambda t: t.nnz,
    "null_count": lambda t: t.null_count,
    "pad_rows": lambda t: t.pad_rows(2),
    "pad_rows 9": lambda t: t.pad_rows(2, fill_value=9),
    "pad_rows with nulls": lambda t: t.pad_rows(2, fill_value=None),
    "pad_rows clipped": lambda t: t.pad_rows(1, clip=True),
    "permute": lambda t: t.permute(tuple(range(rank(t)))[::-1]),
    "reduce_tiles": lambda t: t.reduce_tiles(np.add),
    "reduce_tiles median": lambda t: t.reduce_tiles(np.median),
    "repeat": lambda t: t.repeat((2,) + (1,) * (rank(t) - 1)),
    "reverse": lambda t: t.reverse(0),
    "row_lengths": lambda t: t.row_lengths(),
    "run_lengths": lambda t: t.run_lengths(),
    "screened": lambda t: t.screened(2.0),
    "sliding_window": lambda t: t.sliding_window(0, 1),
    "squeeze": lambda t: t.squeeze(),
    "tile_norms": lambda t: t.tile_norms(),
    "tiled": lambda t: t.tiled(Tiling([2, 2], [3])),
    "to_dense": lambda t: t.to_dense(),
    "translate_to": lambda t: t.translate_to((0,) * rank(t)),
    "unflatten": lambda t: t.unflatten([1, t.shape.extent(0) - 1]),
    "gathered and dealt": lambda t: t[[1, 0, 0, 1]].unflatten([0, 3, 1]),
    "dealt and merged": lambda t: t[[1, 0, 0, 1]].unflatten([0, 3, 1])[None].flatten(),
    "dealt and merged cells": lambda t: t[[1, 0, 0, 1]].unflatten([0, 3, 1]).flatten(2),
    "dealt twice": lambda t: t[[1, 0, 0, 1]].unflatten([0, 3, 1]).unflatten([1, 2]),
    "dealt in rows": lambda t: t[[1, 0, 0, 1]].unflatten([0, 3, 1]).unflatten([2, 1, 1], 1),
    "unsqueeze": lambda t: t.unsqueeze(0),
    "untiled": lambda t: t.untiled(),
    "window": lambda t: t.window(t.shape),
    "len": len,
    "neg": lambda t: -t,
    "sum of two": lambda t: t + t,
    "plus 1": lambda t: t + 1,
    "equal": lambda t: t == t,  # noqa: PLR0124 - both operands are read
    "square": lambda t: t**2,
    "sqrt": np.sqrt,
    "logical_not": np.logical_not,
    "where": lambda t: tw.where(t == t, t, t),  # noqa: PLR0124
    "concat": lambda t: tw.concat([t, t]),
    "concat 1": lambda t: tw.concat([t, t], mode=1),
    "stack": lambda t: tw.stack([t, t]),
    "stack 1": lambda t: tw.stack([t, t], mode=1),
    "rows sorted": lambda t: t.rows().sort(),
    "sorted rows cut": lambda t: t.rows().sort()[:, :1],
    "sorted rows reversed": lambda t: t.rows().sort().reverse(rank(t) - 1),
    "unique rows chosen": lambda t: t.rows().unique()[[1, 0]],
    "rows summed": lambda t: t.rows().sum(),
    "rows unique": lambda t: t.rows().unique(),
    "rows top": lambda t: t.rows().top_k(1),
    "rows counted": lambda t: t.rows().count(),
    "rows reduced": lambda t: t.rows().reduce(np.add),
    "np.cumsum": lambda t: np.cumsum(t, axis=-1),
    "[0]": lambda t: t[0],
    "[-1]": lambda t: t[-1],
    "[:1]": lambda t: t[:1],
    "[::-1]": lambda t: t[::-1],
    "[[1, 0]]": lambda t: t[[1, 0]],
    "[[]]": lambda t: t[np.array([], dtype=np.int64)],
    "[:, :1]": lambda t: t[:, :1],
    "[:, [0]]": lambda t: t[:, [0]],
    "[None]": lambda t: t[None],
    "[...]": lambda t: t[...],
    "[0, 0]": lambda t: t[0, 0],
    "[mask]": lambda t: t[np.arange(t.shape.extent(0)) % 2 == 0],
    "[own mask]": lambda t: t[t == t],  # noqa: PLR0124
    "oindex": lambda t: t.oindex[[1, 0], [0]],
    "oindex of a mask": lambda t: t.oindex[np.arange(t.shape.extent(0)) % 2 == 0],
    "vindex": lambda t: t.vindex[[1, 0], [0, 0]],
}
# Tensors in orbits are no arrays, for NumPy's functions; a view of one computes all elements.
APART = {("orbits", "np.cumsum")}
# Servers send texts, and no other objects.
NOT_SENT = {"bytes", "bytes with nulls"}


class Places(dict):
    """What failures do not print: the places of all kinds."""

    def __repr__(self):
        return "Places()"


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Return the places where each kind lies, by the names of the kinds."""
    path = tmp_path_factory.mktemp("kinds") / "kinds.tens"
    tw.save(path, KINDS)
    sent = {kind: t for kind, t in KINDS.items() if kind not in NOT_SENT}
    with tw.open(path) as file, tw.serve(sent) as server, tw.connect(server.address) as client:
        yield Places(
            {
                kind: {"a view": sel.as_view(t), "a file": file[kind]}
                | ({"a server": client[kind]} if kind in sent else {})
                for kind, t in KINDS.items()
            }
        )


def answer(call, t):
    """Return what tells one answer from another; what places have no such method refuse."""
    try:
        found = call(t)
        if hasattr(found, "compute"):
            found = found.compute()
    except (TensorWrapperError, AttributeError):
        return "refused"
    if isinstance(found, Tensor):
        return found.shape, found.dtype, repr(found.tolist()), found.is_nullable, found.is_sparse
    if isinstance(found, np.ndarray):
        return found.shape, found.dtype, repr(found.tolist()), "array"
    return repr(found)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_every_place_answers_as_memory(places, kind):
    t = KINDS[kind]
    for name, call in CALLS.items():
        if (kind, name) not in APART:
            expected = answer(call, t)
            for place, there in places[kind].items():
                assert (name, place, answer(call, there)) == (name, place, expected)


# Of one operand, and with one answer: what a call gives is the operand of the next.
STEPS = [
    name
    for name in CALLS
    if name not in {"density", "fill_value", "group_by_shape", "nnz", "null_count", "len"}
]


@pytest.mark.filterwarnings("ignore")
@given(kind=st.sampled_from([*KINDS]), steps=st.lists(st.sampled_from(STEPS), min_size=2, max_size=3))
def test_calls_after_calls(places, kind, steps):
    operands = {"memory": KINDS[kind], **places[kind]}
    for name in steps:
        call = CALLS[name]
        if (kind, name) in APART or needs_copy(call, operands["memory"]):
            return
        expected = answer(call, operands["memory"])
        for place, operand in operands.items():
            # Whether few elements are stored as sparse ones is the place's choice.
            assert (place, *answer(call, operand)[:4]) == (place, *expected[:4])
        operands = (
            {place: call(operand) for place, operand in operands.items()} if expected != "refused" else {}
        )
        if not isinstance(operands.get("memory"), Tensor):
            return


def needs_copy(call, t):
    """Return whether a tensor refuses what no layout of its memory answers; views compute it."""
    try:
        call(t)
    except LayoutError:
        return True
    except (TensorWrapperError, AttributeError):
        pass
    return False


# A key of a collection is computed first: the advice of the error has its own test.
UNCOMPUTED = {"[own mask]"}
COLLECTIONS = ["rows", "deep rows", "cells", "nullable rows", "durations", "empty rows", "triangle"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [*COLLECTIONS, "origin of rows"])
def test_a_collection_of_dask_answers_as_memory(kind):
    t = KINDS[kind]
    rows = t.to_dask(max_elements=2)
    with dask.config.set(scheduler="sync"):
        for name in [name for name in CALLS if name not in UNCOMPUTED]:
            try:
                CALLS[name](rows)
            except AttributeError:  # Collections have fewer methods; what they have must answer.
                continue
            except TensorWrapperError:
                pass
            found, expected = answer(CALLS[name], rows), answer(CALLS[name], t)
            if found[-1] == "array":  # Boxes are arrays in Dask, and lie nowhere.
                assert (name, *found[:3]) == (name, expected[0].extents, *expected[1:3])
            else:
                assert (name, found) == (name, expected)


@pytest.mark.parametrize("kind", ["origin", "origin of rows"])
@pytest.mark.parametrize("make", [lambda t: t, sel.as_view])
def test_what_a_key_selects_starts_at_zero(make, kind):
    t = make(KINDS[kind])
    half = np.arange(t.shape.extent(0)) % 2 == 0
    for part in (t[[1, 0]], t[half], t.oindex[[1, 0]], t.oindex[half], t.oindex[[]], t[:1], t[...]):
        assert part.shape == part.shape.zero_based()
    assert (t[[0, 1]] + t[:2]).tolist() == (t[:2] * 2).tolist()


def test_rows_of_sparse_tensors_are_filled_up_with_their_fill():
    rows = KINDS["sparse rows"]
    for made in (rows.pad_rows(2), sel.as_view(rows).pad_rows(2).compute()):
        assert (made.tolist(), made.is_sparse) == ([[5.0, 0.0], [0.0, 0.0, 7.0]], True)
    for t in (rows, sel.as_view(rows)):
        with pytest.raises(ConversionError, match=r"fills 0\.0 and 9\.0"):
            t.pad_rows(2, fill_value=9.0)


def test_one_number_at_a_server_is_no_sequence():
    with tw.serve({"one": tw.as_tensor(3.5)}) as server, tw.connect(server.address) as client:
        one = client["one"]
        for call in (len, iter):
            with pytest.raises(ConversionError, match="rank 0 has no len"):
                call(one)
