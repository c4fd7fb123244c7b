"""The sources are read: elements are copied in three files of buffer/ and nowhere else."""

import ast
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper

ROOT = Path(tensorwrapper.__file__).parent
COPIERS = {"buffer/_copy.py", "buffer/_run_copy.py", "buffer/_strided_copy.py"}

# NumPy's functions that copy or make what they are given anew.
FUNCTIONS = {
    "append",
    "array",
    "asanyarray",
    "asarray_chkfinite",
    "ascontiguousarray",
    "asfortranarray",
    "block",
    "choose",
    "column_stack",
    "compress",
    "concatenate",
    "copy",
    "copyto",
    "delete",
    "dstack",
    "extract",
    "fromiter",
    "hstack",
    "insert",
    "pad",
    "place",
    "put",
    "put_along_axis",
    "putmask",
    "repeat",
    "require",
    "resize",
    "roll",
    "select",
    "stack",
    "take",
    "take_along_axis",
    "tile",
    "vstack",
    "where",
}
METHODS = {"astype", "byteswap", "copy", "flatten", "put", "ravel", "repeat", "take", "tobytes"}

# What the rest of the package may call, by folder or file, and why: none of it is applied to elements.
ALLOWED = {
    "shape": FUNCTIONS | METHODS,  # index arrays: splits, marks, extents, origins
    "layout": FUNCTIONS | METHODS,  # offsets and indices: a layout holds no elements
    "drawing": FUNCTIONS | METHODS,  # coordinates of pictures
    "plot": FUNCTIONS | METHODS,  # the same
    "cli": FUNCTIONS | METHODS,  # a user like any other
    "testing": FUNCTIONS | METHODS,  # the same
    "buffer/_composed.py": {"copy"},  # a table of addresses
    "buffer/_arrow_arrays.py": {"astype"},  # offsets
    "buffer/_arrow_strings.py": {"astype"},  # offsets
    "buffer/_numpy_strings.py": {
        "array",  # StringDType, made from Python's strings
        "ascontiguousarray",  # one batch of text in native order, before it becomes UTF-8
        "astype",  # the same, in little-endian order
        "fromiter",  # marks of missing values
        "tobytes",  # the same, for Python's codecs
    },
    "buffer/_string_bytes.py": {"repeat"},  # places of bytes; the copies themselves are counted
    "buffer/_string_checks.py": {"ascontiguousarray", "astype"},  # offsets
    "buffer/_string_constructors.py": {"where"},  # stops
    "buffer/_string_merge.py": {"copy"},  # starts and stops
    "buffer/_string_data.py": {
        "concatenate",  # lengths and marks
        "tobytes",  # one element, as a Python object
        "where",  # starts and stops
    },
    "buffer/_string_lists.py": {"fromiter", "tobytes"},  # lengths; what becomes Python objects
    "buffer/_strings.py": {
        "array",  # StringDType, made from Python's strings
        "take",  # StringData.take
    },
    "buffer/_tf_string.py": {"array", "astype", "tobytes"},  # offsets and lengths; one element
    "buffer/_utf8.py": {"tobytes"},  # one element that is refused
    "buffer/_varints.py": {"astype"},  # lengths
    "buffer/_dense.py": {"array"},  # one number
    "buffer/_sparse_merge.py": {"copy"},  # addresses
    "tensor/_align.py": {"flatten", "stack"},  # Shape.flatten; numbers of cells
    "tensor/_pad.py": {"copy", "repeat"},  # extents of cells, lengths of rows
    "tensor/_row_arrays.py": {"array", "fromiter"},  # extents and lengths of rows
    "tensor/_sparse.py": {
        "array",  # the origin of a box, one number per mode
        "copy",  # Tensor.copy, which counts
    },
    "tensor/_sparse_convert.py": {"append"},  # numbers of stored elements
    "tensor/_sparse_places.py": {"concatenate", "copy"},  # ordinals
    "tensor/_tensor.py": {"astype"},  # Tensor.astype of what lies under tiles, which counts
    "tensor/_copies.py": {
        "array",  # the origin of a box, one number per mode
        "copy",  # Tensor.copy itself, which counts
    },
    "tensor/_string_places.py": {
        "concatenate",  # addresses
        "take",  # StringData.take, which shares the bytes
    },
    "tensor/_string_values.py": {"array", "fromiter"},  # lengths of lists
    "tensor/_advanced.py": {"astype", "stack"},  # positions
    "tensor/_indexing.py": {"copy"},  # Tensor.copy
    "tensor/_printing.py": {"delete", "flatten"},  # the few elements that are shown; Layout.flatten
    "tensor/_queries.py": {"flatten"},  # Layout.flatten: the same elements without layers
    "tensor/_tiles.py": {
        "array",  # the first tile of a grid, one number per mode
        "astype",  # numbers of tiles
        "stack",  # origins and extents of selected tiles
    },
    "tensor/_convert.py": {
        "copy",  # Tensor.copy
        "fromiter",  # lengths of rows
    },
    "tensor/_reduce.py": {"astype"},  # results that have no element: only their type changes
    "tensor/_writes.py": {
        "array",  # lists and texts, which are converted before any is written
        "take",  # StringData.take
    },
    "selection/_atom.py": {"copy"},  # arguments that are positions
    "selection/_box_table.py": {"array", "copy", "tobytes"},  # bounds of boxes
    "selection/_build.py": {"astype"},  # View.astype
    "selection/_coordinates.py": {"array", "concatenate", "copy", "delete", "where"},  # coordinates
    # corners of boxes
    "selection/_corners.py": {"array", "ascontiguousarray", "concatenate", "copy", "ravel", "stack", "where"},
    "selection/_coverage.py": {"array"},  # numbers of boxes
    "selection/_elementwise.py": {"astype"},  # View.astype
    "selection/_generators.py": {"array", "astype", "tobytes"},  # coordinates, and one constant
    "selection/_index_map.py": {"array", "astype"},  # matrices of integers
    "selection/_nodes.py": {"array", "concatenate"},  # where operands begin
    "selection/_normal.py": {"array", "ascontiguousarray", "astype", "take"},  # positions, and AxisMap.take
    "selection/_projection.py": {"array", "tile", "where"},  # corners of boxes
    "selection/_route.py": {"array", "concatenate"},  # positions
    # coordinates
    "selection/_routes.py": {"array", "astype", "concatenate", "delete", "insert", "stack", "where"},
    "selection/_sharding.py": {"ravel", "stack"},  # numbers of blocks
    "selection/_touched.py": {"copy"},  # positions
    "selection/_transform.py": {"take"},  # AxisMap.take
    "selection/_view_routing.py": {"array"},  # coordinates
    "selection/_distinct.py": {"concatenate"},  # addresses
    "selection/_schema.py": {"array", "tobytes"},  # constants and tables of positions
    "selection/_schema_fields.py": {"array"},  # the same
    "selection/_schema_layouts.py": {"array"},  # ends of pieces
    "selection/_outer.py": {"copy", "tobytes"},  # positions
    "selection/_run_leaves.py": {"stack"},  # positions of points
    "selection/_run_nodes.py": {"array"},  # where pieces begin
    "selection/_run_whole.py": {"take"},  # AxisMap.take
    "selection/_split.py": {"astype"},  # ranks of positions
    "selection/_view_running.py": {"copy"},  # Tensor.copy
    "selection/_philox.py": {"astype", "stack"},  # random words
    "selection/_random_normal.py": {"astype", "where"},  # the same, on their way to numbers
    "selection/_random_parameters.py": {"astype"},  # parameters of distributions
    "selection/_random_values.py": {"astype", "stack", "where"},  # random words and ranks
    "selection/_random_words.py": {"astype"},  # places of words
    "wire": {"ascontiguousarray", "astype"},  # index parts, from and to little-endian order
    "wire/_assembler.py": {"put", "take"},  # methods of its own
    "wire/_assembler_boxes.py": {"array", "concatenate"},  # corners of boxes
    "wire/_compress_blocks.py": {"array"},  # sizes of blocks
    "wire/_compress_buffer.py": {"put"},  # of the cache
    "wire/_header.py": {"tobytes"},  # the prefix of a message: its label, a few kilobytes
}


def sources():
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))


def copying_calls(text):
    """The names of NumPy's copying functions and of arrays' copying methods that a source calls."""
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        name, owner = node.func.attr, node.func.value
        of_numpy = isinstance(owner, ast.Name) and owner.id in {"np", "numpy"}
        if name in (FUNCTIONS if of_numpy else METHODS):
            yield node.lineno, name


def allowed(source):
    return ALLOWED.get(source, set()) | ALLOWED.get(source.split("/")[0], set())


@pytest.mark.parametrize("source", [s for s in sources() if s not in COPIERS])
def test_no_other_module_copies_elements(source):
    calls = list(copying_calls((ROOT / source).read_text(encoding="utf-8")))
    assert [call for call in calls if call[1] not in allowed(source)] == []


@pytest.mark.parametrize(
    "source", [s for s in sources() if s.split("/")[0] not in {"shape", "drawing", "cli"}]
)
def test_numpys_functions_are_called_by_the_name_that_is_looked_for(source):
    tree = ast.parse((ROOT / source).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numpy":
            assert node.module == "numpy.typing"
        if isinstance(node, ast.Import):
            names = {alias.name: alias.asname for alias in node.names if alias.name.startswith("numpy")}
            assert names in ({}, {"numpy": "np"}, {"numpy.typing": "npt"})


def test_the_list_of_what_is_allowed_has_nothing_that_is_not_needed():
    for place, names in ALLOWED.items():
        if place.endswith(".py"):
            used = {name for _, name in copying_calls((ROOT / place).read_text(encoding="utf-8"))}
            assert names == names & used, place


def test_the_search_finds_copies():
    text = "y = np.concatenate([x, x])\nz = x[1:].copy()\nw = np.arange(3)\nnumpy.take(x, y)"
    assert list(copying_calls(text)) == [(1, "concatenate"), (2, "copy"), (4, "take")]
    assert set(FUNCTIONS) <= set(dir(np))
    assert set(METHODS) <= set(dir(np.ndarray))
