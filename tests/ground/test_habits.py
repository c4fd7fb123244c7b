"""What users of other libraries write by habit, on every kind of value: it works, or they are told what does.

Some hundred names, calls, operators and functions of NumPy are tried on each kind. What is raised is an error
of this package, or says what works; it is one line, and what it advises runs.
"""

import re
import warnings

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import TensorWrapperError
from tests.support.advice import code_in, run_all, values

ARRAYS = ["t", "v", "r", "sparse", "st"]
OTHERS = ["s", "l", "g", "m", "f"]


def words(text):
    return text.split()


# The names of NumPy's arrays are asked for as they are, those of others by what is common.
COMMON = words(
    """
    fields type to_list tolist show counts num offsets content dims coords sel isel loc where fillna
    dropna isnull notnull equals identical rename stack unstack groupby rolling coarsen resample interp
    plot reduce median quantile count head tail to_netcdf to_dataset to_dict attrs name assign_coords
    chunks rechunk map_blocks map_overlap persist compute visualize blocks partitions numblocks
    npartitions to_zarr store vindex oindex nchunks cdata_shape fill_value order read_only info path
    metadata update_attributes get_orthogonal_selection set_basic_selection get_block_selection
    compressor toarray todense tocsr tocoo tocsc tolil row col indptr indices data getnnz nnz setdiag
    sqrt sin log1p floor numel dim cpu cuda to detach clone numpy unsqueeze permute expand expand_as
    repeat_interleave float double masked_select index_select unfold unbind narrow chunk requires_grad
    contiguous is_contiguous element_size iloc values isna startswith str lower upper append insert
    concat astype norm abs amax nanmean shift
    """
)

OPERATORS = words(
    """
    + - * / // % ** @ < <= > >= & | ^ << >>
    """
)

CALLS = """
{}.sum(axis=0)  {}.mean()  {}.reshape(-1)  {}.reshape(3, 2, order='F')  {}.astype('f4', copy=False)
{}.copy(order='C')  {}.copy(deep=True)  {}.flatten('F')  {}.flatten(start_dim=0)  {}.squeeze(axis=0)
{}.unsqueeze(dim=0)  {}.permute(axes=(1, 0))  {}.repeat(2, axis=0)  {}.tolist(1)  {}.item(0)
{}.diagonal(offset=1)  {}.pad(1, mode='edge')  {}.gather(axis=0, indices=[0])  {}.reverse(axis=0)
{}.rotate(1, axis=0)  {}.broadcast(5, 2, 3)  {}.to_numpy(dtype='f4')  {}.row_lengths(axis=1)  {}.cells(0)
{}.rows(0)  {}.tile(0, 0)  {}.tiled(chunks=2)  {}.window(0, 1)  {}.sliding_window(window_shape=2)
{}.named(x=0)
{}.to_xarray(dims=['x', 'y'])  {}.to_scipy(format='csr')  {}.to_padded(length=3)  {}.pad_rows(target=3)
{}.merge_modes((0, 1))  {}.translate_to(1, 1)  {}.array_equal()  {}.local_index(axis=1)  {}.element(0, 0)
{}.scatter(0, [0], 1)  {}.assign(x=0)  {}.contains(0, 1)  {}.vindex[[0, 1], [0, 0]]  {}.oindex[[0], [0]]
{}.shape[-1]  {}.shape()  len({}.shape)  range({}.shape[0])  {}.shape + (1,)  np.prod({}.shape)  {}.shape * 2
{}[[0, 1], [0, 0]]  {}['x']  {}[0.5]  {}[{'x': 0}]  {}[m]  {}[x > 2]  {}[t > 2]  {}[None]  {}[s]
{}.shape = (3, 2)  {}.dtype = 'f4'  {}.mT = x  {}.real = 0  {}.flags.writeable = False
bool({})  int({})  float({})  len({})  list({})  round({})  divmod({}, 2)  -{}  ~{}  abs({})  {} += 1  {} &= 1
tw.concat({}, {})  tw.stack({}, axis=0)  tw.concat([{}, {}], axis=0)  tw.zeros({}, 'f4')  tw.Tensor({})
tw.as_tensor({}, dtype='f4')  tw.where({})  tw.Shape({})  tw.Tiling({})  tw.Mask({}, [0])  tw.jagged({})
"""

FUNCTIONS = words(
    """
    sum mean std prod max any all argmax sort cumsum median transpose ravel squeeze flip diff unique
    count_nonzero nonzero argwhere copy zeros_like ones_like isnan sqrt shape ndim size concatenate
    vstack where
    """
)

# Python and NumPy say all that there is to say.
PLAIN = re.compile(
    r"object is not (callable|iterable|an iterator)"
    r"|object does not support item"
    r"|type \w+ doesn't define __round__ method"
    r"|divmod"
    r"|unsupported operand type|bad operand type|'[^']+' not supported between|can't multiply sequence"
    r"|not '\w+'$|cannot be interpreted as an integer"  # of int(), float() and round()
    r"|does not support ufuncs"  # NumPy's word for values that are no arrays
    r"|is read-only$"
    r"|a (Layout|Tiling|Mask) keeps its attributes"
    # Methods that are called so often that they are called without a detour.
    r"|(permute|gather|reshape|element|contains|translate_to|flatten)\(\) (got an unexpected|takes)"
)

RAN: set[str] = set()


def names_of(who):
    arrays = [name for name in dir(np.ndarray) if not name.startswith("_")]
    return arrays + COMMON if who in ARRAYS else arrays


def provoked(who):
    yield from [f"{who}.{name}" for name in names_of(who)]
    for sign in OPERATORS:
        yield from [f"{who} {sign} {other}" for other in ("1", "x", "(1, 2)", "t", "s", "m")]
        yield f"2 {sign} {who}"
    yield from [call.replace("{}", who) for call in re.split(r"\s{2,}|\n", CALLS.strip())]
    yield from [
        f"np.{name}([{who}, {who}])" if name in ("concatenate", "vstack") else f"np.{name}({who})"
        for name in FUNCTIONS
    ]


@pytest.mark.parametrize("who", ARRAYS + OTHERS)
def test_what_is_written_by_habit_works_or_is_answered_by_what_does(who, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = values(tmp_path)
    dead, long, said = [], [], set()
    with tw.open("f.tens") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code in provoked(who):
            try:
                exec(code, {**found, "f": file})
            except Exception as error:  # noqa: BLE001 - of whatever kind
                text = str(error)
                if len(text) > 600 or "\n" in text:
                    long.append((code, text))
                if "`" in text:
                    said.add(text)
                elif not isinstance(error, TensorWrapperError) and not PLAIN.search(text):
                    dead.append((code, type(error).__name__, text))
    assert dead == []
    assert long == []
    advice = {code for text in said for code in code_in(text)} - RAN
    RAN.update(advice)
    for code in sorted(advice):
        run_all(f"`{code}`", tmp_path, monkeypatch)
