"""The viewer's server: ranges of the files that it was given, to its own page alone."""

import http.client
import json
import os
import re
from urllib.parse import urlsplit

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, DataFileError, TransportError
from tensorwrapper.viewer import page, view


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.tens"
    tw.save(path, {"x": np.arange(1000.0)})
    return path


def ask(viewer, rest, headers=None, secret=None):
    parts = urlsplit(viewer.address)
    connection = http.client.HTTPConnection(parts.netloc)
    target = f"/{viewer.secret if secret is None else secret}/{rest}"
    connection.request("GET", target, headers=headers or {})
    answer = connection.getresponse()
    found = answer.status, answer.read(), answer.headers
    connection.close()
    return found


def test_the_page_and_its_files_come_with_a_strict_policy(path):
    with view(path) as viewer:
        for rest in ("", "app.js", "style.css", "tensorwrapper.js", "files.json"):
            status, body, headers = ask(viewer, rest)
            assert status == 200
            assert body
            assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Access-Control-Allow-Origin"] is None
        assert ask(viewer, "files.json")[1] == b'[{"name": "run.tens"}]'


def test_ranges_are_those_of_the_file(path):
    raw = path.read_bytes()
    with view(path) as viewer:
        for given, expected in [("bytes=0-9", raw[:10]), ("bytes=-7", raw[-7:]), ("bytes=5000-", raw[5000:])]:
            status, body, headers = ask(viewer, "file/0", {"Range": given})
            assert (status, body) == (206, expected)
            assert headers["Content-Range"].endswith(f"/{len(raw)}")
        assert ask(viewer, "file/0?r=0-4,100-108,0-0")[:2] == (200, raw[:4] + raw[100:108])
        assert (viewer.n_requests, viewer.n_bytes) == (4, 10 + 7 + len(raw) - 5000 + 12)


@pytest.mark.parametrize(
    "wanted",
    [
        "bytes=9-3",
        "bytes=a-b",
        "lines=0-1",
        "bytes=0",
        "",
        "bytes=99999999-",
        "bytes=0-1,4-5",
        "bytes=--1",
        "bytes=-0",
        "bytes=٣-4",
    ],
)
def test_ranges_that_are_none_are_refused(path, wanted):
    with view(path) as viewer:
        assert ask(viewer, "file/0", {"Range": wanted.encode()} if wanted else {})[0] == 416


@pytest.mark.parametrize(
    "query", ["r=5-3", "r=0-99999999", "r=", "r=1", "q=0-1", "r=" + ",".join(["0-1"] * 513)]
)
def test_batches_that_are_none_are_refused(path, query):
    with view(path) as viewer:
        assert ask(viewer, f"file/0?{query}")[0] == 416


def test_a_file_that_was_changed_says_so(path):
    with view(path) as viewer:
        tag = ask(viewer, "file/0", {"Range": "bytes=0-1"})[2]["ETag"]
        assert ask(viewer, "file/0", {"Range": "bytes=0-1", "If-Match": tag})[0] == 206
        os.utime(path, ns=(5, 5))
        assert ask(viewer, "file/0", {"Range": "bytes=0-1", "If-Match": tag})[0] == 412


def test_nothing_is_given_without_the_secret_or_to_another_host(path):
    with view(path) as viewer:
        assert len(viewer.secret) >= 32
        assert ask(viewer, "files.json", secret="wrong")[0] == 404
        assert ask(viewer, "files.json", {"Host": "example.org"})[0] == 403
        for rest in ("file/1", "file/-1", "file/x", "file/", "other", "file/0/x", "../x"):
            assert ask(viewer, rest)[0] == 404


def test_a_folder_stands_for_the_files_in_it_and_links_do_not_lead_out(tmp_path, path):
    inside = tmp_path / "folder" / "deeper"
    inside.mkdir(parents=True)
    tw.save(inside / "a.tens", {"x": [1]})
    (tmp_path / "folder" / "out.tens").symlink_to(path)
    with view(tmp_path / "folder") as viewer:
        assert [own.name for own in viewer.shown] == ["deeper/a.tens"]


def select(viewer, question, headers=None):
    parts = urlsplit(viewer.address)
    connection = http.client.HTTPConnection(parts.netloc)
    body = question if isinstance(question, bytes) else json.dumps(question)
    connection.request("POST", f"{parts.path}select/0", body, headers or {})
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def tensors_of(body):
    return [own.tolist() for own in tw.wire.decode(tw.wire.decode_frames(body)).tensors]


def test_of_other_files_parts_are_selected(tmp_path):
    np.savez(tmp_path / "a.npz", w=np.arange(12.0).reshape(3, 4), n=np.arange(5))
    with view(tmp_path / "a.npz") as viewer:
        assert json.loads(ask(viewer, "files.json")[1]) == [{"name": "a.npz", "select": True}]
        assert json.loads(ask(viewer, "file/0")[1]) == ["w", "n"]
        (first, second) = json.loads(select(viewer, {"list": [0, 9]})[1])
        assert (first["name"], first["shape"], first["type"], second["rows"]) == ("w", [3, 4], "float64", 5)
        status, body = select(viewer, {"name": "w", "window": [[1, 3], [2, 9]]})
        assert (status, tensors_of(body)) == (200, [[[6.0, 7.0], [10.0, 11.0]]])
        assert tensors_of(select(viewer, {"name": "n", "rows": [3, 5]})[1]) == [[3, 4]]


def test_of_a_server_parts_are_selected():
    rows = tw.jagged([[1, 2], [], [3]])
    tiles = tw.as_tensor(np.arange(16.0).reshape(4, 4)).tiled(tw.Tiling([1, 3], [2, 2]))
    long = tw.jagged([np.arange(70_000), np.arange(3)])
    deep = tw.jagged([[[1] * 70_000], [[2, 3]]])
    tensors = {"rows": rows, "tiles": tiles, "words": tw.strings(["a", None]), "long": long, "deep": deep}
    with tw.serve(tensors) as server, view(server.address) as viewer:
        assert viewer.shown[0].name == server.address
        said = {own["name"]: own for own in json.loads(select(viewer, {"list": [0, 9]})[1])}
        assert [said[own]["kind"] for own in ("rows", "tiles", "words")] == ["jagged", "tiled", "dense"]
        assert said["tiles"]["marks"] == [[0, 1, 4], [0, 2, 4]]
        assert said["words"]["type"] == "text"
        asked = {
            "rows": ({"rows": [0, 3]}, [[[1, 2], [], [3]]]),
            "tiles": ({"window": [[2, 4], [1, 3]]}, [[[9.0, 10.0], [13.0, 14.0]]]),
            "words": ({"rows": [0, 2]}, [["a", None]]),
            "long": ({"rows": [0, 2]}, [[list(range(24)), [0, 1, 2]], [70_000, 3]]),
            "deep": ({"rows": [0, 2]}, [[[[2, 3]]], [70_000, 2], [1]]),
        }
        for name, (question, wanted) in asked.items():
            status, body = select(viewer, {"name": name, **question})
            assert (status, tensors_of(body)) == (200, wanted), name
        lengths = {"name": "rows", "lengths": [[0, 2], [2, 3]]}
        assert tensors_of(select(viewer, lengths)[1]) == [[2, 0, 1]]


@pytest.mark.parametrize(
    ("question", "status"),
    [
        (b"", 422),
        (b"[" * 60_000, 422),
        (b"[1]", 422),
        (b"x" * 2**16 + b"x", 413),
        ({"name": "none", "rows": [0, 1]}, 422),
        ({"name": "x"}, 422),
        ({"name": "x", "rows": [5, 1]}, 422),
        ({"name": "x", "rows": [0, 1.5]}, 422),
        ({"name": "x", "window": [[0, 1]] * 99}, 422),
        ({"name": "x", "window": [[0, 2000], [0, 2000]]}, 422),
        ({"list": "all"}, 422),
        ({"name": "x", "rows": [0, 5000]}, 422),
        ({"name": "x", "lengths": [[0, 2**21]]}, 422),
    ],
)
def test_questions_that_are_none_are_refused(tmp_path, question, status):
    np.savez(tmp_path / "a.npz", x=np.zeros((2000, 2000), "u1"))
    with view(tmp_path / "a.npz") as viewer:
        assert select(viewer, question)[0] == status
        assert select(viewer, {"name": "x", "window": [[0, 1], [0, 1]]})[0] == 200


@pytest.mark.parametrize(
    ("end", "module"), [(".h5", "h5py"), (".zarr", "zarr"), (".parquet", "pyarrow"), (".feather", "pyarrow")]
)
def test_files_of_each_kind_are_selected_from(tmp_path, end, module):
    pytest.importorskip(module)
    tensors = {"rows": tw.jagged([[1, 2], [], [3]]), "x": np.arange(3.0)}
    path = tmp_path / f"a{end}"
    tw.save(tmp_path / "a.tens", tensors)
    tw.store.convert(tmp_path / "a.tens", path)
    with view(path) as viewer:
        said = {own["name"]: own for own in json.loads(select(viewer, {"list": [0, 9]})[1])}
        assert (said["rows"]["kind"], said["rows"]["rows"], said["x"]["shape"]) == ("jagged", 3, [3])
        assert tensors_of(select(viewer, {"name": "rows", "rows": [0, 3]})[1]) == [[[1, 2], [], [3]]]
        assert tensors_of(select(viewer, {"name": "x", "window": [[1, 3]]})[1]) == [[1.0, 2.0]]


def test_a_question_that_is_refused_is_not_the_next_request(path):
    with view(path) as viewer:
        connection = http.client.HTTPConnection(urlsplit(viewer.address).netloc)
        body = b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"
        connection.request("POST", "/wrong/select/0", body)
        answer = connection.getresponse()
        assert answer.status == 404
        answer.read()
        connection.request("GET", f"/{viewer.secret}/files.json")
        assert connection.getresponse().status == 200
        connection.close()


def test_questions_need_the_secret_and_the_host(path):
    with view(path) as viewer:
        assert select(viewer, {"list": [0, 1]}, {"Host": "example.org"})[0] == 403
        # Bytes of a `.tens` file are read, and not asked for.
        assert select(viewer, {"list": [0, 1]})[0] == 404


def test_what_cannot_be_shown_is_refused(tmp_path):
    with pytest.raises(DataFileError, match=r"has no \.tens files"):
        view(tmp_path)
    with pytest.raises(DataFileError, match="does not exist"):
        view(tmp_path / "none.tens")
    with pytest.raises(DataFileError, match="no file to show"):
        view()


def test_ports_that_cannot_be_listened_at_are_told(path):
    for port in (-1, 2**16):
        with pytest.raises(ConversionError, match="from 0 to 65535"):
            view(path, port=port)
    with view(path) as viewer, pytest.raises(TransportError, match="cannot be listened at"):
        view(path, port=int(viewer.hosts[0].partition(":")[2]))


def test_what_is_no_tens_file_by_its_content_is_refused(tmp_path):
    (tmp_path / "junk.tens").write_bytes(b"junk" * 100)
    with pytest.raises(DataFileError):
        view(tmp_path / "junk.tens")


def test_one_file_has_the_whole_page():
    whole = page()
    assert "src=" not in whole
    assert "import " not in "".join([line for line in whole.splitlines() if line.startswith("import ")])
    assert len(whole) < 155_000


def test_the_package_has_the_files_of_the_page():
    from importlib.resources import files

    static = files("tensorwrapper.viewer").joinpath("static")
    names = {own.name for own in static.iterdir()}
    assert names == {"index.html", "app.js", "style.css", "tensorwrapper.js", "tensorwrapper.d.ts"}
    code = static.joinpath("app.js").read_text() + static.joinpath("tensorwrapper.js").read_text()
    # Names and texts of files are text, and never markup.
    assert "innerHTML" not in code
    assert "insertAdjacentHTML" not in code
    exported = re.findall(r"^export (?:async )?(?:function\*?|const|class) (\w+)", code, re.MULTILINE)
    types = static.joinpath("tensorwrapper.d.ts").read_text()
    typed = re.findall(r"^export declare (?:function|const|class) (\w+)", types, re.MULTILINE)
    assert set(exported) == set(typed)
