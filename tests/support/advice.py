"""What errors advise, run: code in backticks is meant for whoever made the mistake."""

import re
from contextlib import ExitStack

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper._hints import hints_of


def values(folder):
    """Return the values that mistakes and advice are about, by the letters that messages use."""
    x = np.arange(6.0).reshape(2, 3)
    t = tw.as_tensor(x)
    if not (folder / "f.tens").exists():
        tw.save(folder / "f.tens", {"x": t})
    return {
        "np": np,
        "tw": tw,
        "sel": sel,
        "x": x,
        "t": t,
        "v": sel.as_view(t),
        "r": tw.jagged([[1.0, 2.0], [3.0]]),
        "e": tw.records(
            {
                "t": tw.jagged([[5, 1, 7], [], [2, 9]]),
                "q": tw.jagged([[0.5, 1.5, 2.5], [], [3.5, 4.5]]),
                "run": [10, 20, 30],
            }
        ),
        "a": tw.blocks({(1, 0): [[1.0], [2.0]]}, tw.Tiling([1, 2], [1, 2])),
        "b": tw.blocks({(0, 1): [[3.0, 4.0]]}, tw.Tiling([1, 2], [1, 2])).untiled(),
        "sparse": tw.sparse([[0, 1], [2, 2]], [1.0, 2.0], (3, 3)),
        "st": tw.strings(["ab", "c"]),
        "s": t.shape,
        "l": t.layout,
        "g": tw.Tiling([1, 2], [3]),
        "p": tw.BlockPattern(tw.Tiling([1, 2], [3]), [(1, 0)]),
        "m": tw.Mask(tw.Shape(4), [0, 2]),
    }


def code_in(text):
    """Return the code in a text."""
    return re.findall("`([^`]+)`", text)


def is_expression(code):
    """Tell whether code has a value."""
    try:
        compile(code, "advice", "eval")
    except SyntaxError:
        return False
    return True


def run_all(text, folder, monkeypatch):
    """Run all code in a text, in a folder that may be written to."""
    monkeypatch.chdir(folder)
    for code in code_in(text):
        found = values(folder)
        if re.match(r"s\.(to_dense|coords|csr|nnz|to_scipy|fill_value)", code):
            found["s"] = found["sparse"]
        with ExitStack() as files:
            if re.search(r"\bf\b(?!\.tens)", code):
                tw.save("f.tens", {"x": found["t"]})  # what was advised before may have written another
                found["f"] = files.enter_context(tw.open("f.tens"))
            if re.search(r"\bd\b[.\[,)]", code):
                found["d"] = found["r"].to_dask()
            if "g[" in code:
                found["g"] = files.enter_context(tw.open("h.tens", "w"))
            with np.errstate(all="ignore"):
                exec(f"done = {code}" if is_expression(code) else code, found)
            if isinstance(found.get("done"), tw.TensFile):
                files.enter_context(found["done"])


def message_of(mistake, folder, monkeypatch):
    """Return what is said of a mistake, after all code in it has run."""
    monkeypatch.chdir(folder)
    found = values(folder)
    with tw.open("f.tens") as file:
        found["f"] = file
        if mistake.startswith("d."):
            found["d"] = found["r"].to_dask()
        with pytest.raises((AttributeError, TypeError, ValueError, LookupError, OSError)) as caught:
            exec(mistake, found)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 600
    run_all(text, folder, monkeypatch)
    return text


def advice_tests(mistakes, *sections):
    """Return two tests: that each mistake is answered by what works, and that all hints of sections do."""

    @pytest.mark.parametrize("mistake", mistakes)
    def answered(mistake, tmp_path, monkeypatch):
        assert mistakes[mistake] in message_of(mistake, tmp_path, monkeypatch)

    @pytest.mark.parametrize(
        "advice", sorted({said for section in sections for said in hints_of(section).values()})
    )
    def works(advice, tmp_path, monkeypatch):
        run_all(advice, tmp_path, monkeypatch)

    return answered, works
