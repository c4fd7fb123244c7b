"""``tensorwrapper demo``: model real jagged tiled tensors, select from them in another process, compare."""

import argparse
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast, final

import numpy as np

from tensorwrapper.buffer import count_copies
from tensorwrapper.cli._progress import Progress
from tensorwrapper.cli._report import Check, Report, Value
from tensorwrapper.cli.demo._demo_data import Benzene, Pairs, load_benzene, load_pairs
from tensorwrapper.cli.demo._demo_work import (
    pair_energy,
    pair_plan,
    populations,
    screened_work,
    select_tiles,
    tile_magnitudes,
)
from tensorwrapper.cli.demo._second_process import SecondProcess
from tensorwrapper.cli.demo._tile_picture import draw_tiling
from tensorwrapper.errors import DataFileError, DemoError
from tensorwrapper.remote import serve
from tensorwrapper.shape import Tiling
from tensorwrapper.store import open as open_file
from tensorwrapper.store import save
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.wire import Message, encode

_THRESHOLD = 1e-8
_PAIR = (0, 6)
"""The first carbon and the hydrogen bound to it."""
_SMALL_FRAME = 65_536
"""Frames below this are copied by pyzmq."""


@final
class _Demo:
    """One run, with its results so far."""

    __slots__ = ("benzene", "checks", "copied", "lines", "moved", "pairs", "seconds")

    def __init__(self, benzene: Benzene, pairs: Pairs) -> None:
        self.benzene = benzene
        self.pairs = pairs
        self.checks: list[Check] = []
        self.lines: list[str] = []
        self.copied: dict[str, int] = {}
        self.moved: dict[str, dict[str, int]] = {}
        self.seconds: dict[str, float] = {}

    def check(self, name: str, expected: object, found: object) -> None:
        """Record a check for exact equality."""
        self.checks.append(Check(name, _typed(expected), _typed(found), ok=expected == found))

    def check_close(self, name: str, expected: float, found: float, digits: int) -> None:
        """Record a check that a number agrees to `digits` decimal places."""
        ok = abs(expected - found) < 0.5 * 10.0**-digits
        self.checks.append(Check(name, expected, found, ok, digits))

    def check_copies(self, name: str, expected: int, found: int) -> None:
        """Record a check of the bytes of elements that the library copied."""
        self.copied[name] = found
        self.checks.append(Check(f"bytes copied: {name}", expected, found, ok=expected == found))

    def model(self) -> tuple[Tensor[Any], Tensor[Any]]:
        """Tile the matrices of benzene and check known properties."""
        shells, atoms = self.benzene.shells, self.benzene.atoms
        overlap = as_tensor(self.benzene.overlap).tiled(shells)
        density = as_tensor(self.benzene.density).tiled(shells)
        by_atoms = as_tensor(self.benzene.overlap).tiled(atoms)
        self.lines += [
            "1. Matrices of benzene are cut where its shells and its atoms are; each cut is one typed shape.",
            f"   by shells: {_grid(shells)}, the first of {_product(overlap.tile((0, 0)).shape.extents)}",
            f"   by atoms:  {_grid(atoms)}, the first of {_product(by_atoms.tile((0, 0)).shape.extents)}",
        ]
        self.check("shell tiles", (48, 48), shells.grid.extents)
        self.check("atom tiles", (12, 12), atoms.grid.extents)
        self.check_close("trace of the overlap", 114.0, float(np.trace(self.benzene.overlap)), 6)
        electrons = populations(overlap, density, atoms)
        for name, expected, atoms_of in (("carbon", 6.02465, slice(6)), ("hydrogen", 0.97535, slice(6, 12))):
            # Check only the atom with the largest deviation.
            counted = electrons[atoms_of]
            farthest = float(counted[np.argmax(np.abs(counted - expected))])
            self.check_close(f"electrons at each {name}", expected, farthest, 5)
        self.check_close("electrons in all", 42.0, float(electrons.sum()), 6)
        return overlap, density

    def select(self, far: SecondProcess, overlap: Tensor[Any], density: Tensor[Any]) -> None:
        """Select tiles in the second process, and compare the result."""
        groups = np.array(self.benzene.shells_per_atom)
        sent = [overlap, density, as_tensor(groups), self.pairs.transformations]
        request = {"task": "select", "pair": list(_PAIR), "threshold": _THRESHOLD}
        reply, report = self._ask(far, "select", sent, request)
        block, tiles, numbers, electrons, *back = reply.tensors
        mine = select_tiles(overlap, self.benzene.shells_per_atom, _PAIR, _THRESHOLD)
        self.check("tiles of one pair of atoms", True, block.array_equal(mine.block))
        self.check("tiles above 1e-8", 2148, len(tiles))
        self.check("positions of those tiles", True, tiles.array_equal(mine.tiles))
        self.check("their numbers", True, np.array_equal(np.asarray(numbers), mine.numbers))
        there = populations(overlap, density, self.benzene.atoms)
        self.check("electrons, counted there", True, np.array_equal(np.asarray(electrons), there))
        for name, old, new in zip(("S", "D", "shells per atom", "U"), sent, back, strict=True):
            self.check(f"{name} went and came back", True, old.array_equal(new))
        self.lines += [
            "2. A second process gets both in one message, and sends back what it selects.",
            f"   one pair of atoms: {_product(block.shape.outer().extents)} tiles, {block.nbytes} bytes",
            f"   tiles with an overlap above {_THRESHOLD}: {len(tiles)} of {overlap.shape.outer().size}",
            "   nothing is copied to send or to receive it, and each selected element once",
        ]
        selection = reply.label_object["reply"]["copied_by_selection"]
        self.check_copies("receiving, there", 0, report["copied_on_receipt"])
        self.check_copies("packing the tiles above 1e-8", tiles.nbytes, selection)
        self.check_copies("packing the tiles of one pair", block.nbytes, report["copied"] - selection)

    def energy(self, far: SecondProcess) -> None:
        """Compute the pair energy in the second process."""
        pairs = self.pairs
        shape = pairs.amplitudes.shape
        empty = int((shape.cell_table().extents[:, 0] == 0).sum())
        extents = shape.cell_table().extents[:, 0]
        self.lines += [
            "3. Amplitudes of four waters go there as one jagged tensor, and the pair energy comes back.",
            f"   {len(pairs.first)} cells of n x n, n from {extents.min()} to {extents.max()}, {empty} empty",
            f"   {shape.size} elements are held and sent; a padded array would have {shape.padding} more",
        ]
        self.check("elements of the amplitudes", 16_820, shape.size)
        self.check("empty pairs", 34, empty)
        sent = [pairs.amplitudes, pairs.integrals, as_tensor(pairs.first), as_tensor(pairs.second)]
        reply, report = self._ask(far, "energy", sent, {"task": "energy"})
        found, amplitudes, integrals = reply.tensors
        plan = pair_plan(pairs.amplitudes, pairs.integrals)
        here = pair_energy(plan, pairs.amplitudes, pairs.integrals, pairs.first, pairs.second)
        self.check_close("pair energy, computed there", -0.793264993801, float(found), 12)
        self.check("the same number as here", here, float(found))
        self.check("T went and came back", True, amplitudes.array_equal(pairs.amplitudes))
        self.check("K went and came back", True, integrals.array_equal(pairs.integrals))
        gathered = reply.label_object["reply"]["copied_by_energy"]
        self.check_copies("packing the transposed cells", pairs.amplitudes.nbytes, gathered)
        self.check_copies("jagged tensors, there and back", 0, report["copied"] - gathered)

    def serve(self, far: SecondProcess, overlap: Tensor[Any], address: str) -> None:
        """Serve the molecules, and let the second process read one pair of atoms and one cell."""
        by_atoms = overlap.untiled().tiled(self.benzene.atoms)
        cell = int(np.argmax(self.pairs.amplitudes.shape.cell_table().extents[:, 0]))
        wanted = {
            "S": ("one pair of atoms", by_atoms, _PAIR),
            "T": ("one cell of the amplitudes", self.pairs.amplitudes, (cell,)),
        }
        with serve({name: whole for name, (_, whole, _) in wanted.items()}, _beside(address)) as server:
            parts = [[name, list(key)] for name, (_, _, key) in wanted.items()]
            reply, _ = self._ask(far, "read", [], {"task": "read", "address": server.address, "parts": parts})
        said = reply.label_object["reply"]
        self.lines.append("4. Both molecules are served, and the second process reads parts of them.")
        for (name, (what, whole, key)), found in zip(wanted.items(), reply.tensors, strict=True):
            part = whole[key]
            self.check(f"{what}, read there", True, found.array_equal(part))
            self.check(f"bytes of elements that moved for {what}", part.nbytes, said["planned"][name])
            self.moved[what] = {
                "of the part": part.nbytes,
                "on the wire": said["moved"][name],
                "of the whole": whole.nbytes,
            }
            self.lines.append(
                f"   {what}: {part.nbytes} bytes of {whole.nbytes}, {said['moved'][name]} on the wire"
            )

    def screen(self, far: SecondProcess, address: str) -> None:
        """Screen the matrices by atoms, add, multiply and save them; the second process reads a block."""
        work = screened_work(self.benzene)
        overlap, density, total, product = work.overlap, work.density, work.total, work.product
        self.check("tiles of the overlap by atoms that are not below 0.1", 114, overlap.pattern.count)
        self.check("of them stored, one of each pair", 63, overlap.stored_pattern.count)
        self.check("elements that are stored", 6516, len(overlap.packed_values()))
        self.check("tiles of the density", 78, density.pattern.count)
        union = overlap.pattern | density.pattern
        self.check("tiles of the sum: those of either", True, total.pattern == union)
        self.check("the sum is symmetric", True, total.symmetry == overlap.symmetry)
        trace = float(np.trace(np.asarray(product.untiled().to_dense())))
        self.check_close("trace of overlap times density, screened", 41.968869627, trace, 9)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "screened.tens"
            save(path, {"S": overlap, "SD": product})
            saved = path.stat().st_size
            with open_file(path) as file, serve({"S": file["S"]}, _beside(address)) as server:
                request = {"task": "read", "address": server.address, "parts": [["S", list(_PAIR)]]}
                reply, _ = self._ask(far, "read", [], request, "one block")
        (found,) = reply.tensors
        part, what = overlap[_PAIR], "one block of the screened overlap"
        self.check(f"{what}, read there", True, found.array_equal(part))
        moved = reply.label_object["reply"]["moved"]["S"]
        whole, present = overlap.untiled().nbytes, overlap.pattern.count
        self.moved[what] = {"of the part": part.nbytes, "on the wire": moved, "of the whole": whole}
        self.lines += [
            "5. Both are screened by atoms, added, multiplied, saved, and a block is read from the file.",
            f"   {overlap.stored_pattern.count} tiles of the overlap are stored, for {present} of 144",
            f"   overlap and product, saved: {saved} bytes; both are {2 * whole} with all elements",
            f"   {what}: {part.nbytes} bytes, {moved} on the wire with the numbers of all tiles",
        ]

    def _ask(
        self,
        far: SecondProcess,
        task: str,
        tensors: list[Tensor[Any]],
        request: Mapping[str, object],
        name: str = "",
    ) -> tuple[Message, dict[str, int]]:
        start = time.perf_counter()
        with count_copies() as count:
            frames = encode(tensors, label={"request": request})
            encoded = count.nbytes
            delivery = far.send(frames)
            handed_over = count.nbytes - encoded
            reply = far.receive()
            received = count.nbytes - encoded - handed_over
        report = far.receive().label_object["report"]
        delivery.wait(far.timeout)
        name = name or task
        self.seconds[name] = round(time.perf_counter() - start, 4)
        for answer in (reply.label_object["reply"], report):
            if answer["task"] != task:
                raise DemoError(f"the second process answered {answer['task']!r} to the request {task!r}")
        self.check_copies(f"encoding for {name}", 0, encoded)
        self.check_copies(f"hand-over to the socket for {name}", 0, handed_over)
        self.check_copies(f"receiving and decoding for {name}", 0, received)
        return reply, cast("dict[str, int]", report)

    def draw(self, path: Path, overlap: Tensor[Any]) -> None:
        """Write the picture."""
        picture = draw_tiling(
            self.benzene.shells,
            magnitudes=tile_magnitudes(overlap),
            coarse=self.benzene.atoms,
            least=_THRESHOLD,
            title="benzene, cc-pVDZ: largest overlap in each tile of shells; lines between atoms",
        )
        try:
            path.write_text(picture.to_svg(), encoding="utf-8")
        except OSError as error:
            raise DataFileError(f"cannot write the picture: {error}") from error
        self.lines.append(f"   a picture of the tiles: {path}")


def _grid(tiling: Tiling) -> str:
    return f"{_product(tiling.grid.extents)} tiles over {_product(tiling.elements.extents)} elements"


def _product(extents: Sequence[int]) -> str:
    return " x ".join([str(extent) for extent in extents])


def _typed(value: object) -> Value:
    return list(cast("tuple[int, ...]", value)) if isinstance(value, tuple) else cast("Value", value)


def _beside(address: str) -> str:
    """Return the address to serve at: any port of the same host, or a path in the same folder."""
    return f"{address}.served" if address.startswith("ipc:") else f"{address.rpartition(':')[0]}:*"


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise DataFileError(f"cannot write the picture: there is no folder {folder}")


def run(options: argparse.Namespace) -> Report:
    """Run the command and return its report."""
    start = time.perf_counter()
    if options.svg is not None:
        _check_folder(options.svg.parent)
    with Progress(7) as progress:
        progress.step("reading two molecules")
        demo = _Demo(load_benzene(options.data), load_pairs(options.data))
        progress.step("tiling benzene by shells and by atoms")
        overlap, density = demo.model()
        if options.svg is not None:
            demo.draw(options.svg, overlap)
        progress.step("starting a second process")
        with SecondProcess(options.address, options.timeout) as far:
            progress.step("selecting tiles there")
            demo.select(far, overlap, density)
            progress.step("computing the pair energy there")
            demo.energy(far)
            progress.step("serving the molecules, and reading parts of them there")
            demo.serve(far, overlap, options.address)
            progress.step("screening, adding, multiplying and saving")
            demo.screen(far, options.address)
            sent, received = far.sent_frames, far.received_frames
    demo.lines += ["", "What came back, compared with what is known, or with the same work done here:"]
    small = [n for n in (*sent, *received) if n < _SMALL_FRAME]
    return Report(
        "demo",
        tuple(demo.checks),
        {
            "bytes sent": sum(sent),
            "bytes received": sum(received),
            "bytes of elements copied by the library": dict(demo.copied),
            "bytes read from where they are served": {name: dict(own) for name, own in demo.moved.items()},
            "frames that pyzmq copies because they are small": len(small),
            "bytes in those frames": sum(small),
            "seconds": {**demo.seconds, "in all": round(time.perf_counter() - start, 4)},
        },
        tuple(demo.lines),
    )
