"""Targets that read Wire-Cell's tensor sets, from messages and from files."""

import contextlib
import io
import itertools
import random
import tarfile
import zipfile
from functools import partial
from pathlib import Path

import numpy as np

import tensorwrapper as tw
from tensorwrapper import store, wire
from tensorwrapper.errors import (
    ConversionError,
    DataFileError,
    RemoteProtocolError,
    TensorNameError,
    TensorSetError,
    TensorWrapperError,
)
from tensorwrapper.wirecell import PointTree, TensorSet
from tests.fuzz.messages import LIMITS, file_of, use_tensor
from tests.fuzz.mutate import (
    NUMBERS,
    Mutate,
    mutate_bytes,
    mutate_frames,
    mutate_json,
    mutate_npy,
    pack,
    unpack,
)
from tests.fuzz.target import Target

MOST = 20
"""Items of one set that are used: a million of one name would all be the same."""


def sets() -> list[TensorSet]:
    points = {"x": tw.jagged([[1.5, 2.5], [], [3.5]]), "n": tw.jagged([[1, 2], [], [3]])}
    corners = {"xyz": tw.jagged([np.zeros((1, 3)), np.ones((2, 3)), np.zeros((0, 3))])}
    tree = PointTree([0, 0, 1], {"3d": points, "corners": corners}, {"run": 3})
    frame = {"datapath": "f/0", "datatype": "frame", "traces": ["f/0/t"], "time": 1.5, "masks": {"a": [1]}}
    trace = {"datapath": "f/0/t", "datatype": "trace", "tbin": 3}
    return [
        TensorSet.from_point_trees(5, {"t/0": tree, "t/1": PointTree([0], {})}, {"datatype": "tensorset"}),
        TensorSet(0, [tw.no_elements(), np.arange(6, dtype="i2").reshape(2, 3)], [frame, trace]),
        TensorSet(1, [], metadata={"empty": True}),
    ]


def use_set(given: TensorSet) -> None:
    """Do what readers of sets do: follow paths, take trees apart, and write all of it again."""
    for number in range(min(len(given), MOST)):
        with contextlib.suppress(TensorWrapperError):
            use_tensor(given.tensors[number])
    with contextlib.suppress(TensorWrapperError):
        TensorSet.from_message(wire.decode(given.to_frames()))
    tree = given.tree
    str(tree)
    tree.children()
    for item in itertools.islice(tree.values(), MOST):
        for key in itertools.islice(item.metadata, MOST):
            with contextlib.suppress(TensorWrapperError):
                repr(item.follow(key))
        with contextlib.suppress(TensorWrapperError):
            tree.dataset(item.path)
        with contextlib.suppress(TensorWrapperError):
            _use_points(given.point_tree(item.path))


def _use_points(tree: PointTree) -> None:
    assert len(tree.children()) == len(tree)
    for cloud in itertools.islice(tree.clouds.values(), MOST):
        for points in itertools.islice(cloud.values(), MOST):
            assert points.shape.extent(0) == len(tree)
            use_tensor(points)
    if len(tree.clouds) < MOST:
        TensorSet.from_point_trees(0, {"again": tree})


def _read_file(data: bytes, end: str) -> Path:
    source, target = file_of(data, f"in{end}"), file_of(b"", "out.tens")
    with contextlib.suppress(DataFileError, TensorNameError, TensorSetError):
        # What is damaged is found where it is read.
        _use_file(source)
    store.convert(source, target, overwrite=True)
    return target


def _use_file(path: Path) -> None:
    with tw.open(path, limits=LIMITS) as file:
        for prefix in {name.partition("tensor")[0] for name in file}:
            for own in itertools.islice(file.sets(prefix).values(), MOST):
                use_set(own)


def _use_target(path: Path) -> None:
    with tw.open(path, limits=LIMITS) as file:
        for name in itertools.islice(file, MOST):
            use_tensor(file[name])


def _files(end: str) -> list[bytes]:
    path = file_of(b"", f"seed{end}")
    found = []
    for given in [[own] for own in sets()] + [sets()]:
        store.save_sets(path, given)
        found.append(path.read_bytes())
    if end == ".zip":
        found += [_zipped(_members_of_zip(data), zipfile.ZIP_DEFLATED) for data in found]
    return found


def _members_of_tar(data: bytes) -> list[tuple[str, bytes]]:
    """Return the members of an archive that nobody spoilt."""
    with contextlib.suppress(Exception), tarfile.open(fileobj=io.BytesIO(data)) as archive:
        infos = archive.getmembers()
        if sum(info.size for info in infos) < 2**20:
            return [(i.name, archive.extractfile(i).read() if i.isfile() else b"") for i in infos]
    return []


def _members_of_zip(data: bytes) -> list[tuple[str, bytes]]:
    with contextlib.suppress(Exception), zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        if sum(info.file_size for info in infos) < 2**20:
            return [(info.filename, archive.read(info)) for info in infos if info.filename]
    return []


def _tarred(files: list[tuple[str, bytes]], form: int) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, content in files:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def _zipped(files: list[tuple[str, bytes]], how: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in {name: (name, content) for name, content in files}.values():
            archive.writestr(name, content, how)
    return out.getvalue()


def _changed(
    files: list[tuple[str, bytes]], rng: random.Random, others: list[tuple[str, bytes]]
) -> list[tuple[str, bytes]]:
    """Change a member, its name, or which there are."""
    k, how = rng.randrange(len(files)), rng.random()
    name, content = files[k]
    if how < 0.6:
        mutate = mutate_json if name.endswith(".json") else mutate_npy
        files[k] = name, mutate(content, rng, rng.choice(others)[1])[: 2**20]
    elif how < 0.8:
        files[k] = name.replace(str(rng.randrange(3)), str(rng.choice(NUMBERS)), 1), content
    else:
        files.insert(k, rng.choice(others))
        del files[rng.randrange(len(files))]
    return files


def _resealed(data: bytes, rng: random.Random) -> bytes:
    """Change a header of a tar archive, whose sum then is right."""
    spoilt = bytearray(data)
    place = 512 * rng.randrange(len(data) // 512)
    for _ in range(rng.randrange(1, 4)):
        spoilt[place + rng.choice((124, 135, 156, rng.randrange(512)))] = rng.choice(
            b"01234567xgLKSV\x80\xff\0"
        )
    spoilt[place + 148 : place + 156] = b" " * 8
    spoilt[place + 148 : place + 156] = b"%06o\0 " % sum(spoilt[place : place + 512])
    return bytes(spoilt)


def _mutate_tar(data: bytes, rng: random.Random, donor: bytes) -> bytes:
    files = _members_of_tar(data)
    if not files or rng.random() < 0.1:
        return mutate_bytes(data, rng, donor)
    if rng.random() < 0.3:
        return _resealed(data, rng)
    with contextlib.suppress(ValueError, UnicodeError):
        form = rng.choice((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT))
        return _tarred(_changed(files, rng, _members_of_tar(donor) or files), form)
    return data


def _mutate_zip(data: bytes, rng: random.Random, donor: bytes) -> bytes:
    files = _members_of_zip(data)
    if not files or rng.random() < 0.3:
        return mutate_bytes(data, rng, donor)
    how = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    return _zipped(_changed(files, rng, _members_of_zip(donor) or files), how)


def _of_files(end: str, mutate: Mutate) -> Target:
    return Target(
        f"sets{end}",
        partial(_read_file, end=end),
        partial(_files, end),
        ("store.convert", "store.open", "store.ArrayFile"),
        _use_target,
        (DataFileError, ConversionError),
        mutate,
    )


TARGETS = [
    _of_files(".tar", _mutate_tar),
    _of_files(".zip", _mutate_zip),
    Target(
        "set-message",
        lambda data: TensorSet.from_message(wire.decode(unpack(data), limits=LIMITS)),
        lambda: [pack([bytes(frame) for frame in own.to_frames()]) for own in sets()],
        ("wirecell.TensorSet.from_message",),
        use_set,
        (RemoteProtocolError, TensorSetError),
        mutate_frames,
    ),
]
