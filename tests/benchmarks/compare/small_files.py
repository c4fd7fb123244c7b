"""Many small things: records of files, files of a concatenation, rows that a tensor grew by, and tiles."""

import itertools
import json
import math
import mmap
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.store.formats import _safetensors
from tensorwrapper.store.records import _index
from tests.benchmarks.compare.measure import Row, Run, Tile, library, parts_made

COUNT = 5000


class _Held:
    """What has the slots of a part of a tensor."""

    __slots__ = ("one", "other")

    def __init__(self, one: object, other: object) -> None:
        self.one, self.other = one, other


def _made(slot: object) -> object:
    return _Held(slot, None)


# A place in a file, a layout over a buffer, the buffer, the tensor, and where it came from.
_SLOTS = range(5)


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDWR)
    os.fsync(file)
    os.close(file)


def records() -> Iterator[Row]:
    """Small tensors in one file: alike, of many shapes, and of a kind that is read another way."""
    rng = np.random.default_rng(0)
    shapes = [(int(k), 1 + k % 7) for k in rng.integers(1, 30, COUNT)]
    kinds: dict[str, dict[str, Any]] = {
        f"{COUNT} tensors alike": {f"layer.{k}.weight": rng.random((4, 4)) for k in range(COUNT)},
        f"{COUNT} tensors of many shapes": {
            f"layer.{k}.weight": rng.random(shape) for k, shape in enumerate(shapes)
        },
        f"{COUNT} tensors of bool": {f"layer.{k}.weight": rng.random((4, 4)) < 0.5 for k in range(COUNT)},
        "one small file": {"a": rng.random((4, 4))},
    }
    kinds[f"{COUNT} of type Tensor"] = {
        name: tw.as_tensor(array) for name, array in kinds[f"{COUNT} tensors alike"].items()
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, arrays in kinds.items():
            yield from _saved_and_opened(folder, kind, arrays)
        yield from _small_ones(folder)
        for count in (32, 33):
            path = folder / f"{count}.tens"
            # With the metadata of the file there is one record more.
            tw.save(path, {str(k): rng.random(4) for k in range(count - 1)})

            def names(path: Path = path) -> object:
                with tw.open(path) as file:
                    return list(file)

            yield Row(
                "Q10", f"an index of {count} records opened", names, {"its bytes, read": path.read_bytes}
            )


def _small_ones(folder: Path) -> Iterator[Row]:
    """Small files, each opened once in a round: of one index, which is remembered, and each of its own."""
    opener, st = library("safetensors"), library("safetensors.numpy")
    if st is None:
        return
    arrays = np.random.default_rng(0).random((300, 4, 4))
    for kind, numbers in (("the same names", [0] * 300), ("other names", range(300))):
        ours = [folder / f"{kind}{k}.tens" for k in range(300)]
        theirs = [path.with_suffix(".safetensors") for path in ours]
        for path, other, number, array in zip(ours, theirs, numbers, arrays, strict=True):
            tensors = {f"{number:03d}": array}
            tw.save(path, tensors)
            st.save_file(tensors, other)
        peers: dict[str, Run] = {"safetensors": partial(_each, partial(_got_there, opener), theirs)}
        work = f"300 small files of {kind}, opened and got, each"
        yield Row("Q10", work, partial(_each, _got, ours), peers, times=3, shares=300)
    work = "300 small files, each opened for the first time, and got, each"
    yield Row("Q10", work, partial(_each, _got_anew, ours), peers, times=3, shares=300)


def _each(run: Callable[[Path], object], paths: list[Path]) -> object:
    return [run(path) for path in paths]


def _got(path: Path) -> object:
    with tw.open(path) as file:
        return {name: file[name] for name in file}


def _got_anew(path: Path) -> object:
    _index._known_index.cache_clear()
    _index._known_rows.cache_clear()
    return _got(path)


def _got_there(opener: Any, path: Path) -> object:
    with opener.safe_open(path, "np") as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping


def _names(opened: Any, *given: object) -> list[str]:
    with opened(*given) as file:
        return list(file.keys())


def _saved_and_opened(folder: Path, kind: str, tensors: dict[str, Any]) -> Iterator[Row]:
    opener, st = library("safetensors"), library("safetensors.numpy")
    if st is None:
        return
    arrays = {name: np.asarray(tensor) for name, tensor in tensors.items()}
    ours, theirs = folder / "a.tens", folder / "a.safetensors"

    def saved() -> None:
        st.save_file(arrays, theirs)
        _sync(theirs)

    read, peer = partial(_got, ours), partial(_got_there, opener, theirs)
    tw.save(ours, tensors)
    saved()
    if len(arrays) > 1:
        yield Row("Q10", f"{kind}, saved", lambda: tw.save(ours, tensors), {"safetensors": saved}, times=2)
    with tw.open(ours) as file:
        places = [(file.describe(name).start, file.describe(name).nbytes) for name in file]

    def least() -> object:
        """Of each tensor: the size of the file, the checksum of a header, an array, and five objects."""
        file = os.open(ours, os.O_RDONLY)
        with mmap.mmap(file, 0, prot=mmap.PROT_READ) as mapped:
            raw = mapped[:]
        found: list[object] = []
        for start, nbytes in places:
            os.lseek(file, 0, os.SEEK_END)
            zlib.crc32(raw[start : start + 28])
            found += [np.frombuffer(raw, np.uint8, nbytes, start).reshape(-1), *map(_made, _SLOTS)]
        os.close(file)
        return found

    if len(arrays) > 1:
        opened = partial(_names, tw.open, ours)
        peers: dict[str, Run] = {"safetensors": partial(_names, opener.safe_open, theirs, "np")}
        yield Row("Q10", f"{kind}, opened", opened, peers, times=1.5)
    times = 1.5 if len(arrays) > 1 else 3
    limit = ("sizes, checksums, arrays and five objects each", least)
    yield Row("Q10", f"{kind}, opened and got", read, {"safetensors": peer}, times=times, limit=limit)


def files() -> Iterator[Row]:
    """Files of safetensors, one after the other."""
    st = library("safetensors.numpy")
    if st is None:
        return
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        # Headers of short files are remembered.
        for kind, sizes in (("one header", [10] * 300), ("100 headers", [1 + k % 100 for k in range(300)])):
            paths = [Path(folder, f"{kind}{k}.safetensors") for k in range(300)]
            for path, size in zip(paths, sizes, strict=True):
                st.save_file({"x": rng.random((size, 4))}, path)
            peers: dict[str, Run] = {"its reader": partial(_joined_there, st, paths)}
            # Each file opened, its header checked, an array over its bytes, and the objects of a tensor.
            limit = ("headers checked, an array and five objects each", partial(_joined_least, paths))
            work = f"concat of 300 files of safetensors, of {kind}"
            yield Row("Q17", work, partial(_joined, paths), peers, times=2, limit=limit)
        work = "concat of 300 files of safetensors, of headers read for the first time"
        yield Row("Q17", work, partial(_joined_anew, paths), peers, times=2, limit=limit)


def _joined(paths: list[Path]) -> object:
    return sel.concat([tw.open(path)["x"] for path in paths]).compute()


def _joined_anew(paths: list[Path]) -> object:
    return sel.concat([_opened_anew(path)["x"] for path in paths]).compute()


def _opened_anew(path: Path) -> Any:
    _safetensors._known_plans.cache_clear()
    return tw.open(path)


def _joined_there(st: Any, paths: list[Path]) -> object:
    return np.concatenate([st.load_file(path)["x"] for path in paths])


def _joined_least(paths: list[Path]) -> object:
    return np.concatenate([_checked(path) for path in paths])


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is there twice")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_once)


def _checked(path: Path) -> Any:
    """Return the array of a file whose header is checked as one from anywhere."""
    if not path.is_file():
        raise ValueError("this is no file")
    file = os.open(path, os.O_RDONLY)
    size = os.fstat(file).st_size
    raw = os.pread(file, size, 0)
    os.close(file)
    stop = 8 + int.from_bytes(raw[:8], "little")
    text = raw[8:stop].decode()
    if stop > size or text.count("[") + text.count("{") + text.count(",") > 10**7:
        raise ValueError("the header is too long")
    place = 0
    found: list[Any] = []
    for own in _DECODER.decode(text).values():
        (begin, end), shape = own["data_offsets"], own["shape"]
        if begin != place or not {*map(type, shape)} <= {int} or end - begin != math.prod(shape) * 8:
            raise ValueError("offsets or extents are wrong")
        place = end
        found += [np.frombuffer(raw, "<f8", math.prod(shape), stop + begin).reshape(shape)]
        found += map(_made, _SLOTS)
    if stop + place != size:
        raise ValueError("the file is longer or shorter")
    return found[0]


def growth() -> Iterator[Row]:
    """A tensor that grows by two rows at a time, and is read."""
    pa, h5py = library("pyarrow"), library("h5py")
    rows = np.random.default_rng(0).random((2, 4))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        numbers = itertools.count()

        def ours() -> None:
            with tw.open(folder / f"{next(numbers)}.tens", "w") as file:
                for _ in range(1000):
                    file.extend("x", rows)

        def stream() -> None:
            batch = pa.record_batch({"x": pa.array(rows.tolist())})
            path = folder / f"{next(numbers)}.arrows"
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, batch.schema) as writer:
                for _ in range(1000):
                    writer.write_batch(pa.record_batch({"x": pa.array(rows.tolist())}))
            _sync(path)

        peers: dict[str, Run] = {} if pa is None else {"Arrow stream": stream}
        yield Row("Q18", "extend, 1000 times by two rows", ours, peers, times=3, shares=1000)
        for count in (15, 10_000) if h5py else ():
            path, other = folder / f"grown{count}.tens", folder / f"grown{count}.h5"
            with tw.open(path, "w") as file, h5py.File(other, "w") as h5:
                data = h5.create_dataset("x", shape=(0, 4), maxshape=(None, 4), chunks=(1024, 4), dtype="f8")
                for k in range(count):
                    file.extend("x", rows)
                    data.resize(2 * k + 2, axis=0)
                    data[2 * k :] = rows
            yield from _grown(path, other, count, rows.tobytes())


def _grown(path: Path, other: Path, count: int, part: bytes) -> Iterator[Row]:
    h5py = library("h5py")
    raw, places = path.read_bytes(), list[int]()
    while (place := raw.find(part, places[-1] + len(part) if places else 0)) >= 0:
        places.append(place)
    index = int.from_bytes(raw[-16:-8], "little")
    starts = np.array([raw.rfind(b"\x89TENS\r\n\x1a", 0, place) for place in places])

    def least(key: slice) -> object:
        """Check the index, compare the headers and labels of all records that are read, copy their rows."""
        file = path.read_bytes()
        zlib.crc32(memoryview(file)[index:])
        own = slice((key.start or 0) // 2, None if key.stop is None else -(-key.stop // 2))
        for before in (24, 64):
            same = np.ndarray((len(file) - before + 1,), f"S{before}", file, 0, (1,))[starts[own]]
            np.count_nonzero(same == same[0])
        elements = np.ndarray((len(file) - len(part) + 1,), f"V{len(part)}", file, 0, (1,))
        return elements[np.array(places)[own]].view("f8").reshape(-1, 4)

    elements = np.ndarray((len(raw) - len(part) + 1,), f"V{len(part)}", raw, 0, (1,))
    begins = np.array(places)

    def copied(key: slice) -> object:
        """Copy the rows of all records that are read, whose places are known."""
        own = slice((key.start or 0) // 2, None if key.stop is None else -(-key.stop // 2))
        return elements[begins[own]].view("f8").reshape(-1, 4)

    def read(key: slice) -> object:
        with tw.open(path) as file:
            return file["x"][key].compute()

    def peer(key: slice) -> object:
        with h5py.File(other) as h5:
            return h5["x"][key]

    parts = (("whole", slice(None)), ("two rows", slice(count, count + 2)))
    for work, key in parts:
        peers: dict[str, Run] = {"HDF5": partial(peer, key)}
        limit = ("index checked, headers and labels compared, rows copied", partial(least, key))
        run = partial(read, key)
        yield Row("Q18", f"grown {count} times, opened, {work}", run, peers, times=2, limit=limit)
    with tw.open(path) as file, h5py.File(other) as h5:
        grown, data = file["x"], h5["x"]
        for work, key in parts:
            peers = {"HDF5": partial(data.__getitem__, key)}
            run = partial(_computed, grown, key)
            limit = ("rows copied from known places", partial(copied, key))
            yield Row("Q18", f"grown {count} times, {work}", run, peers, times=2, limit=limit)


def _computed(view: Any, key: slice) -> object:
    return view[key].compute()


def arrow() -> Iterator[Row]:
    """Rows of numbers to Arrow: few and many, of one level, of two, and of cells."""
    ak, pa = library("awkward"), library("pyarrow")
    if ak is None or pa is None:
        return
    rng = np.random.default_rng(0)
    for count in (10, 10**6):
        lengths, outer = rng.integers(0, 5, count), rng.integers(0, 3, count // 2)
        flat = rng.random(int(lengths[: outer.sum()].sum()))
        kinds = {
            "rows": ak.unflatten(rng.random(int(lengths.sum())), lengths),
            "rows of rows": ak.unflatten(ak.unflatten(flat, lengths[: outer.sum()]), outer),
            "rows of vectors": ak.unflatten(rng.random((int(lengths.sum()), 3)), lengths),
        }
        for name, peer in kinds.items():
            run: Callable[[], object] = tw.from_awkward(peer).to_arrow
            peers: dict[str, Run] = {"ak.to_arrow": partial(ak.to_arrow, peer)}
            yield Row("Q15", f"to_arrow of {count} {name}", run, peers, times=1.2)


def tiles() -> Iterator[Row]:
    """Tiles of a box: some as rows, put back, and all as arrays; small ones and larger ones."""
    rng = np.random.default_rng(0)
    for name, high in (("small", 7), ("larger", 30)):
        sizes = rng.integers(1, high, (2, 60)).tolist()
        marks = [np.r_[0, np.cumsum(own)].tolist() for own in sizes]
        array = rng.random([sum(own) for own in sizes])
        tiling = tw.Tiling(*sizes)
        box = tw.as_tensor(array).tiled(tiling)
        mask = rng.random((60, 60)) < 0.9
        chosen = np.argwhere(mask).tolist()
        back = box.select_tiles(mask)
        places = [
            (slice(marks[0][i], marks[0][i + 1]), slice(marks[1][j], marks[1][j + 1])) for i, j in chosen
        ]

        def taken(array: Any = array, places: Any = places) -> object:
            return np.concatenate([array[place].reshape(-1) for place in places])

        flat = taken()

        def put(array: Any = array, places: Any = places, flat: Any = flat) -> object:
            made, begin = np.zeros_like(array), 0
            for place in places:
                part = made[place]
                part[...] = flat[begin : begin + part.size].reshape(part.shape)
                begin += part.size
            return made

        count = len(chosen)
        yield Row(
            "Q16",
            f"select_tiles of {count} {name} tiles",
            lambda box=box, mask=mask: box.select_tiles(mask),
            {"a loop": taken},
            times=0.8,
        )
        yield Row(
            "Q16",
            f"scatter of {count} {name} tiles",
            lambda back=back, tiling=tiling: back.scatter(tiling),
            {"a loop": put},
            times=0.8,
        )
        yield Row(
            "Q16",
            f"all 3600 {name} tiles as arrays",
            lambda box=box: [np.asarray(tile) for _, tile in box.present_tiles()],
            {
                "a loop": lambda array=array, marks=marks: [
                    array[a:b, c:d]
                    for a, b in itertools.pairwise(marks[0])
                    for c, d in itertools.pairwise(marks[1])
                ]
            },
            times=0.8,
            limit=(
                "three objects, and NumPy's protocol for an array over memory, each",
                lambda array=array, marks=marks: (parts_made(3600), _tiles_of(array, marks)),
            ),
        )


def _tiles_of(array: Any, marks: Any) -> object:
    flat, (row, step) = array.reshape(-1), array.strides
    return [
        np.asarray(Tile(flat, (b - a, d - c), (row, step), a * row + c * step))
        for a, b in itertools.pairwise(marks[0])
        for c, d in itertools.pairwise(marks[1])
    ]


ROWS = {"Q10": records, "Q17": files, "Q18": growth, "Q15": arrow, "Q16": tiles}
