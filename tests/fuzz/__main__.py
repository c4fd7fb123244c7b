"""Search for inputs that break targets: ``python -m tests.fuzz message stream --minutes 30``.

Each target has a process of its own; all of them run at once.

With atheris (``pip install --group fuzz``) coverage guides the search; without it chance alone does. What is
found is kept in the folder of results, one file for each place in the sources that an exception comes from,
and the search goes on.
"""

import argparse
import contextlib
import hashlib
import json
import os
import random
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from types import TracebackType

from tests.fuzz import target as budget

_RENEWED = 2000  # inputs
CORPUS = Path(__file__).parent / "corpus"


class Search:
    """Tries inputs on one target, counts, and keeps what breaks it."""

    def __init__(self, aim: budget.Target, results: Path) -> None:
        self.aim, self.results = aim, results / aim.name
        self.results.mkdir(parents=True, exist_ok=True)
        self.started, self.tried, self.read, self.said = time.monotonic(), 0, 0, 0.0
        self.found: dict[str, str] = {}

    def late(self, _number: int, _frame: object) -> None:
        raise budget.SlowInputError("too slow")

    def attempt(self, data: bytes) -> None:
        """Try one input; never raise."""
        signal.setitimer(signal.ITIMER_PROF, budget.SECONDS)
        try:
            self.read += budget.try_input(self.aim, data)
        except (Exception, budget.SlowInputError) as error:  # noqa: BLE001 - these are what is sought
            self.keep(data, error)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        self.tried += 1
        if not self.tried % _RENEWED:
            # The search itself keeps inputs and what they reached: after an hour a gigabyte.
            budget.limit_memory()
        if time.monotonic() - self.said > 5:
            self.say()

    def keep(self, data: bytes, error: BaseException) -> None:
        place = _place_of(error.__traceback__)
        what = f"{type(error).__name__} at {place}: {str(error)[:200]}"
        key = hashlib.sha1(f"{type(error).__name__} {place}".encode(), usedforsecurity=False).hexdigest()[:10]
        known = self.results / f"found-{key}"
        if key not in self.found or len(data) < known.stat().st_size:
            known.write_bytes(data)
            lines = "".join(traceback.format_exception(error))
            known.with_suffix(".txt").write_text(f"{what}\n\n{lines[-6000:]}", "utf-8", "replace")
        self.found[key] = what

    def say(self) -> None:
        """Write what was done so far."""
        self.said = time.monotonic()
        used = resource.getrusage(resource.RUSAGE_SELF)
        said = {
            "target": self.aim.name,
            "minutes": round((self.said - self.started) / 60, 1),
            "processor_minutes": round((used.ru_utime + used.ru_stime) / 60, 1),
            "tried": self.tried,
            "read": self.read,
            "peak_mib": used.ru_maxrss // 1024,
            "found": self.found,
        }
        (self.results / "figures.json").write_text(json.dumps(said, indent=1))


def _place_of(trace: TracebackType | None) -> str:
    """Return the last line in the package that an exception went through."""
    frames = [frame for frame in traceback.extract_tb(trace) if "/tensorwrapper/" in frame.filename]
    if not frames:
        frames = traceback.extract_tb(trace)[-1:]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "nowhere"


def inputs_of(aim: budget.Target) -> list[bytes]:
    """Return where a search starts: what the target makes, and what was kept."""
    kept = sorted((CORPUS / aim.name).glob("*"))
    return aim.seeds() + [path.read_bytes() for path in kept]


def _by_chance(search: Search, seconds: float, seed: int) -> None:
    rng, inputs = random.Random(seed), inputs_of(search.aim)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        data = rng.choice(inputs)
        for _ in range(rng.choice((1, 1, 2, 3, 8))):
            data = search.aim.mutate(data, rng, rng.choice(inputs))
        search.attempt(data)


def _by_coverage(search: Search, seconds: float, seed: int, merge: Path | None) -> None:
    import atheris

    corpus = search.results / "corpus"
    corpus.mkdir(exist_ok=True)
    inputs = inputs_of(search.aim)
    for data in inputs:
        (corpus / hashlib.sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)

    def change(data: bytes, most: int, number: int) -> bytes:
        rng = random.Random(number)
        if rng.random() < 0.2:
            return atheris.Mutate(data, most)
        for _ in range(rng.choice((1, 1, 2, 4))):
            data = search.aim.mutate(data, rng, rng.choice(inputs))
        return data[:most]

    options = [f"-max_total_time={int(seconds)}", f"-seed={seed + 1}", "-max_len=200000", "-rss_limit_mb=0"]
    options += ["-timeout=300", "-print_final_stats=0", "-verbosity=0", "-len_control=0"]
    if merge is not None:
        merge.mkdir(parents=True, exist_ok=True)
        options = ["-merge=1", "-max_len=20000", "-rss_limit_mb=0", "-timeout=300", str(merge)]
    atheris.Setup([sys.argv[0], *options, str(corpus)], search.attempt, custom_mutator=change)
    atheris.Fuzz()


def _search(aim: budget.Target, given: argparse.Namespace, *, has_atheris: bool) -> int:
    """Run one target; return 1 if anything was found."""
    search = Search(aim, given.results)
    signal.signal(signal.SIGPROF, search.late)
    for data in inputs_of(aim):
        search.attempt(data)
    with budget.memory_limited():
        if has_atheris:
            # libFuzzer ends the process itself: figures are written as they come.
            _by_coverage(search, given.minutes * 60, given.seed, given.merge)
        else:
            _by_chance(search, given.minutes * 60, given.seed)
    search.say()
    return 1 if search.found else 0


def main() -> int:
    """Run the targets; return 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="+", help="names of targets, or `list`, or `all`")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--merge", type=Path, help="write the fewest inputs with the same coverage here")
    parser.add_argument(
        "--by-chance", action="store_true", help="without atheris, also where it is installed"
    )
    given = parser.parse_args()
    hook = contextlib.nullcontext()
    has_atheris = False
    if not given.by_chance and given.targets != ["list"]:
        with contextlib.suppress(ImportError):
            import atheris

            hook, has_atheris = atheris.instrument_imports(include=["tensorwrapper"]), True
    # What is loaded when it is first used is instrumented, too.
    with hook:
        from tests.fuzz.targets import TARGETS

        if given.targets == ["list"]:
            sys.stdout.write("".join(f"{name}\n" for name in TARGETS))
            return 0
        names = list(TARGETS) if given.targets == ["all"] else given.targets
        children = []
        for name in names:
            # Forked, so that the package is loaded, and instrumented, once.
            child = os.fork()
            if not child:
                code = 2
                try:
                    code = _search(TARGETS[name], given, has_atheris=has_atheris)
                finally:
                    os._exit(code)
            children.append(child)
        return max([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 for child in children])


if __name__ == "__main__":
    sys.exit(main())
