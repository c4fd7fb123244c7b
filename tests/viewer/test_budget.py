"""How many requests and bytes the page takes, as its server counts them."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper.viewer import view
from tests.support.browser import choose, needs_browser, rows_of

pytestmark = needs_browser


class Spent:
    """Requests and bytes since the last time that somebody asked."""

    def __init__(self, viewer):
        self.viewer = viewer
        self.last = (0, 0)

    def __call__(self):
        now = self.viewer.n_requests, self.viewer.n_bytes
        spent = now[0] - self.last[0], now[1] - self.last[1]
        self.last = now
        return spent


def test_a_file_of_many_records(tmp_path, opened):
    path = tmp_path / "many.tens"
    with tw.open(path, "a") as file:
        for k in range(100_000):
            file[f"tensor{k}"] = np.full((40, 64), k, "f4") if k < 100 else np.arange(4)
    with view(path) as viewer:
        spent = Spent(viewer)
        shown = opened(viewer.address, "many.tens")
        # The list takes 3, and the first tensor, which is chosen at once, 2 more.
        requests, nbytes = spent()
        assert requests <= 5
        assert nbytes <= 100_000
        assert rows_of(shown)[0][:2] == ["0", "0"]
        choose(shown, "tensor7")
        assert spent()[0] <= 2
        assert rows_of(shown)[0][:2] == ["0", "7"]
        assert shown.faults == []


def test_many_rows(tmp_path, opened):
    path = tmp_path / "rows.tens"
    counts = np.random.default_rng(1).integers(0, 5, 10**7)
    splits = np.append(0, np.cumsum(counts))
    tw.save(path, {"hits": tw.from_buffer(np.zeros(splits[-1], "f4"), tw.Shape.from_offsets(splits))})
    with view(path) as viewer:
        spent = Spent(viewer)
        shown = opened(viewer.address, "rows.tens")
        requests, nbytes = spent()
        assert requests <= 5
        assert nbytes <= 200_000
        shown.get_by_label("Go to row").fill("7654321")
        shown.get_by_label("Go to row").press("Enter")
        shown.wait_for_selector("#values >> text='7654321'")
        assert spent()[0] <= 2
        shown.locator("#values").press("End")
        shown.wait_for_selector("#values >> text='9999999'")
        assert spent()[0] <= 2
        shown.locator("#values").press("PageUp")
        shown.wait_for_selector("#values >> text='9999999'", state="detached")
        shown.wait_for_timeout(200)
        assert spent()[0] <= 2
        assert shown.faults == []


def test_a_window_of_a_matrix(tmp_path, opened):
    path = tmp_path / "matrix.tens"
    grid = np.arange(4000 * 1000, dtype="f4").reshape(4000, 1000)
    tw.save(path, {"a": [1], "grid": grid})
    tw.save(tmp_path / "z.tens", {"a": [1], "packed": grid[:400]}, compress="zlib")
    with view(path) as viewer:
        shown = opened(viewer.address, "matrix.tens")
        shown.locator("#list").get_by_role("option", name="grid").click()
        shown.wait_for_selector("text=Rows 0 to 199, columns 0 to 399")
        spent = Spent(viewer)
        spent()
        shown.get_by_label("Go to row").fill("3000")
        shown.get_by_label("Go to row").press("Enter")
        shown.wait_for_selector("#values >> text='3000'")
        assert spent()[0] == 1
    with view(tmp_path / "z.tens") as viewer:
        shown = opened(viewer.address, "z.tens")
        spent = Spent(viewer)
        spent()
        choose(shown, "packed")
        # The places of blocks, and blocks: of rows, and of the picture.
        assert spent()[0] <= 4
        assert shown.faults == []
