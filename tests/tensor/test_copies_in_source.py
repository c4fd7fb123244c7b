"""The sources are read: elements are copied in buffer/copies/ and nowhere else."""

import ast
from functools import cache
from pathlib import Path

import numpy as np

import tensorwrapper
from tests.support.sources import nodes_of

ROOT = Path(tensorwrapper.__file__).parent
COPIERS = {f"buffer/copies/{name}.py" for name in ("_copy", "_run_copy", "_strided_copy", "_symmetric_copy")}

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
    "_arrays.py": FUNCTIONS | METHODS,  # index arrays
    "_compiled.py": {"ascontiguousarray", "copy"},  # splits and places
    "_text_order.py": {"array", "astype"},  # texts of Python, and places among them
    "shape": FUNCTIONS | METHODS,  # index arrays: splits, marks, extents, origins
    "layout": FUNCTIONS | METHODS,  # offsets and indices: a layout holds no elements
    "sharding": FUNCTIONS | METHODS,  # corners of boxes and matrices of integers
    "interop": {
        "ascontiguousarray",  # coordinates
        "astype",  # offsets, and marks that are of that type already
        "copy",  # Tensor.copy, which counts, and offsets
    },
    "tensor/creation/_elements_of_files.py": {"concatenate"},  # rows of files, each an array of its own
    "interop/_null_rows.py": {"flatten"},  # lists of Arrow and Awkward Array, which none of ours is
    "interop/dask": {
        "array",  # extents, and single numbers of Python
        "concatenate",  # parts that workers hold, each of which came in memory of its own
        "flatten",  # Shape.flatten
    },
    "buffer/symmetric": {"flatten"},  # Shape.flatten
    "buffer/blocks": {"put_along_axis"},  # strides of tiles
    "drawing": FUNCTIONS | METHODS,  # coordinates of pictures
    "cli": FUNCTIONS | METHODS,  # a user like any other
    "testing": FUNCTIONS | METHODS,  # the same
    "buffer": {
        "array",  # one number, or StringDType made from Python's strings
        "astype",  # offsets and lengths
        "ascontiguousarray",  # the same, and one batch of text in native order, before it becomes UTF-8
        "concatenate",  # addresses, lengths and marks
        "copy",  # addresses, starts and stops
        "fromiter",  # lengths, and marks of missing values
        "repeat",  # places of bytes; the copies themselves are counted
        "take",  # StringData.take, which shares the bytes
        "tobytes",  # single elements, as Python objects
        "where",  # starts and stops
    },
    "tensor": {
        "append",  # numbers of stored elements
        "array",  # lists and texts before any is written, origins, lengths
        "astype",  # Tensor.astype, which counts, and positions
        "copy",  # Tensor.copy itself, which counts
        "delete",  # the few elements that are shown
        "flatten",  # Shape.flatten and Layout.flatten
        "fromiter",  # extents and lengths of rows
        "repeat",  # lengths of rows
        "stack",  # positions, origins and extents
        "take",  # StringData.take
    },
    "tensor/facade/_copies.py": {"concatenate"},  # first indices of rows
    "tensor/operators/_strings.py": {"byteswap"},  # words of text that are compared
    "viewer/_select.py": {"append", "array", "concatenate"},  # lengths of rows and marks of tiles
    "tensor/tiles": {
        "concatenate",  # how many elements differ before each; blocks that are added
        "take_along_axis",  # strides of tiles
        "where",  # the elements that an error tells of
    },
    "tensor/creation/_blocks_convert.py": {
        "ascontiguousarray",
        "concatenate",
    },  # blocks of a user, each an array of its own
    "tensor/rows/_tile_blocks.py": {"concatenate", "where"},  # blocks of a user; norms of one value
    "tensor/facade/_nulls.py": {"concatenate"},  # how many elements are valid before each
    "tensor/within": {
        "append",
        "astype",
        "concatenate",
        "copy",
        "repeat",
        "take",
        "take_along_axis",
        "where",
    },  # new numbers, places
    "tensor/operators": {
        "concatenate",  # places, and what NumPy's own function of that name does
        "where",  # places, and what NumPy's own function of that name does
    },
    "_boxes.py": FUNCTIONS | METHODS,  # corners of boxes
    "selection": {
        "array",  # coordinates, positions and constants
        "ascontiguousarray",  # positions
        "astype",  # View.astype, and ranks of positions
        "concatenate",  # coordinates, addresses, and where operands begin
        "copy",  # Tensor.copy, which counts, and positions
        "delete",  # coordinates
        "flatten",  # Shape.flatten
        "stack",  # positions of points
        "take",  # AxisMap.take
        "tobytes",  # tables of positions
        "where",  # coordinates
    },
    "interop/_awkward.py": {"append"},  # where lists begin and end
    "interop/_pandas.py": {
        "array",  # one missing time
        "column_stack",  # columns of a frame, which lie apart, and their marks
        "where",  # times among which some are missing
    },
    "interop/_records.py": {"flatten"},  # of structs and lists of Arrow, which shares their memory
    "fields": {
        "array",  # one extent, one number of a row
        "copy",  # Tensor.copy, which counts
        "flatten",  # Shape.flatten, Records.flatten
        "repeat",  # positions, and a mask of rows
    },
    "selection/sources/_runs.py": {"append"},  # where runs end
    "selection/expressions/_joining.py": {"repeat"},  # where parts begin, for each place
    "selection/facade/_computed_rows.py": {"repeat"},  # numbers of rows, one for each place
    "selection/jagged": {"append", "ravel"},  # where rows begin, and of what operand they are
    "selection/jagged/_flatten.py": {"repeat"},  # numbers of rows, and places in the result
    "selection/random": {"astype", "stack", "where"},  # random words and ranks, on their way to numbers
    "_json_fields.py": {"array"},  # integers of JSON
    "store": {
        "array",  # numbers of a file's own tables
        "copy",  # the state of a check sum
    },
    "store/ranges/_joined.py": {"concatenate"},  # where requests begin
    "store/records/_taking.py": {"astype", "where"},  # numbers of rows
    "store/formats/_array_file.py": {"take"},  # ArrayFile.take
    "store/formats/_ragged.py": {"repeat"},  # lengths of rows
    "store/formats/_scipy.py": {"repeat", "stack"},  # coordinates
    "store/formats/conventions/_awkward_walk.py": {"take", "where"},  # of a form; places of options
    "store/formats/conventions/_sparse.py": {"repeat"},  # coordinates
    "store/views/_buffer.py": {"flatten"},  # Shape.flatten
    "store/views/_read.py": {"tobytes"},  # tables of names
    "store/views/_sources.py": {"concatenate"},  # lengths of rows
    "store/views/_write.py": {"concatenate"},  # lengths of rows
    "store/records/_plain_record.py": {"tobytes"},  # headers and labels
    "store/records/_reader.py": {"tobytes"},  # headers
    "store/records/_batch_read.py": {"astype", "where"},  # places of labels and splits
    "store/records/_directory.py": {"fromiter"},  # numbers of records
    "store/records/_index_rows.py": {"concatenate"},  # columns of an index
    "store/append/_appended_tensor.py": {"concatenate"},  # where pieces begin
    "store/formats": {
        "append",  # ends of chunks
        "array",  # the rows of one element of a file
        "ascontiguousarray",  # a chunk, which is written as one run of bytes
        "astype",  # times, which HDF5 has as integers, and splits
        "concatenate",  # rows that were read one by one, and where runs begin
        "flatten",  # Shape.flatten
        "tobytes",  # splits, for a token, and a chunk, as above
    },
    "store/wirecell": {
        "ascontiguousarray",
        "flatten",
    },  # an array that is written, a block at a time; Shape.flatten
    "tensor/protocols/_arrow_values.py": {"concatenate"},  # lengths of rows
    "tensor/protocols/_string_values.py": {"array", "fromiter"},  # a mask is refused; lengths
    "wirecell": {"astype"},  # parents and sizes: integers about nodes
    "wire": {"ascontiguousarray", "astype"},  # index parts, from and to little-endian order
    "wire/blocks/_assembler.py": {"put"},  # of a part
    "wire/blocks/_delivered.py": {"copy"},  # structure remembered when its tensor has gone, or has changed
    "buffer/copies/_strided_rows.py": {"append", "take"},  # lines of a table
    "selection/execution/_read_sources.py": {"put"},  # a queue
    "interop/_arrow.py": {"flatten"},  # lists of Arrow
    "store/append/_check_append.py": {"flatten"},  # lists of records
    "store/append/_fields.py": {"flatten"},  # Shape.flatten
    "store/append/_writer.py": {"take"},  # of a directory
    "store/records/_index.py": {"ascontiguousarray", "take", "tobytes"},  # its tables; take of a directory
    "transport/transfer/_dispatch.py": {"put"},  # a staged chunk into its target, by the routine of tensors
    "wire/packings/_compressed.py": {"array"},  # sizes of blocks
    "wire/packings/_compressed_buffer.py": {"put", "take"},  # of the cache, and of a claim
    "wire/packings/_jagged.py": {"where"},  # extents of empty cells
    "wire/codec/_write.py": {"flatten"},  # Shape.flatten
    "wire/blocks/_pending.py": {"copy", "put", "take"},  # of tables of boxes, and of a part
    "wire/blocks/_pieces.py": {"flatten"},  # Shape.flatten
    "remote": {
        "array",  # lengths of strings, and strings of Python's
        "ascontiguousarray",  # entries that were picked, which have memory of their own
        "astype",  # numbers, and elements of another byte order than that of the wire
        "concatenate",  # numbers, lengths, and entries that came in several answers
        "copy",  # starts and lengths of runs
        "flatten",  # View.flatten
        "put",  # of a catalogue
        "repeat",  # numbers of runs
        "take",  # of a state, and of a count
        "tobytes",  # keys of equality, and one element
    },
    "selection/random/_values.py": {"copyto", "repeat"},  # sines, ranks of pairs
    "remote/batching/_merge_runs.py": {"where"},  # numbers of rows
    "remote/shards/_reshard.py": {"fromiter", "ravel", "where"},  # numbers of tiles, sizes of pieces
    "wire/frames/_header.py": {"tobytes"},  # the prefix of a message: its label, a few kilobytes
}


def sources():
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))


def copying_calls(nodes):
    """The names of NumPy's copying functions and of arrays' copying methods that a source calls."""
    for node in nodes:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        name, owner = node.func.attr, node.func.value
        of_numpy = isinstance(owner, ast.Name) and owner.id in {"np", "numpy"}
        if name in (FUNCTIONS if of_numpy else METHODS):
            yield node.lineno, name


def allowed(source):
    parts = source.split("/")
    return set().union(*(ALLOWED.get("/".join(parts[:depth]), set()) for depth in range(1, len(parts) + 1)))


@cache
def calls_of(source):
    return list(copying_calls(nodes_of(ROOT / source)))


def test_no_other_module_copies_elements():
    found = [
        (source, *call)
        for source in sources()
        if source not in COPIERS
        for call in calls_of(source)
        if call[1] not in allowed(source)
    ]
    assert found == []


def test_numpys_functions_are_called_by_the_name_that_is_looked_for():
    for source in sources():
        if source.split("/")[0] in {"shape", "drawing", "cli"}:
            continue
        for node in nodes_of(ROOT / source):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numpy":
                assert node.module == "numpy.typing", source
            if isinstance(node, ast.Import):
                names = {alias.name: alias.asname for alias in node.names if alias.name.startswith("numpy")}
                assert names in ({}, {"numpy": "np"}, {"numpy.typing": "npt"}), source


def test_the_list_of_what_is_allowed_has_nothing_that_is_not_needed():
    for place, names in ALLOWED.items():
        if names == FUNCTIONS | METHODS:
            continue
        used = {
            name
            for source in sources()
            if source not in COPIERS and f"{source}/".startswith(f"{place}/")
            for _, name in calls_of(source)
        }
        assert names == names & used, place


def test_the_search_finds_copies():
    text = "y = np.concatenate([x, x])\nz = x[1:].copy()\nw = np.arange(3)\nnumpy.take(x, y)"
    assert list(copying_calls(ast.walk(ast.parse(text)))) == [(1, "concatenate"), (2, "copy"), (4, "take")]
    assert set(FUNCTIONS) <= set(dir(np))
    assert set(METHODS) <= set(dir(np.ndarray))
