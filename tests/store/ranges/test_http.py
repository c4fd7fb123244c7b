"""Files at http addresses: ranges, versions, redirects, and servers that do otherwise than they should."""

import base64

import numpy as np
import pytest

from tensorwrapper.errors import DataFileError, VersionChangedError
from tensorwrapper.store import Ranges
from tests.support.store.served_files import served

RAW = np.random.default_rng(2).bytes(2_500_000)


def test_one_request_opens_and_brings_the_end():
    with served(RAW) as server:
        ranges = Ranges.of(server.url)
        assert ranges.read_at(len(RAW) - 8000, 8000) == RAW[-8000:]
        assert (server.requests, ranges.requests) == (1, 1)
        assert (server.nbytes, ranges.bytes_fetched) == (12_288, 12_288)


def test_counters_are_those_of_the_server_and_far_spans_come_at_once():
    with served(RAW) as server:
        ranges = Ranges.of(server.url)
        wanted = [(k * 100_000, k * 100_000 + 10) for k in range(20)]
        assert ranges.read(wanted) == [RAW[start:stop] for start, stop in wanted]
        assert (ranges.requests, ranges.bytes_fetched) == (server.requests, server.nbytes)
        assert ranges.requests == 21


def test_later_requests_ask_for_the_version_that_was_opened():
    with served(RAW) as server:
        ranges = Ranges.of(server.url)
        assert ranges.version == '"one"'
        ranges.read([(0, 10)])
        assert server.seen[-1]["If-Match"] == '"one"'
        server.etag = '"two"'
        with pytest.raises(VersionChangedError, match="no longer"):
            ranges.read([(0, 10)])


def test_without_if_match_the_tag_of_the_answer_tells():
    with served(RAW, etag='W/"one"') as server:
        ranges = Ranges.of(server.url)
        ranges.read([(0, 10)])
        assert "If-Match" not in server.seen[-1]
        server.etag = 'W/"two"'
        with pytest.raises(VersionChangedError, match="was changed"):
            ranges.read([(0, 10)])


def test_another_size_is_another_version():
    with served(RAW, etag=None) as server:
        ranges = Ranges.of(server.url)
        server.raw = RAW + b"more"
        with pytest.raises(VersionChangedError, match=f"had {len(RAW)} bytes"):
            ranges.read([(0, 10)])


def test_an_empty_file_has_no_bytes():
    with served(b"") as server:
        assert Ranges.of(server.url).size == 0


@pytest.mark.parametrize(("size", "is_taken"), [(5000, True), (2_000_000, False)])
def test_a_server_that_ignores_ranges_gives_small_files_whole(size, is_taken):
    raw = RAW[:size]

    def whole(handler, _start, _stop):
        handler.answer(200, raw)
        return True

    with served(raw) as server:
        server.twist = whole
        if is_taken:
            assert Ranges.of(server.url).read([(10, 20)]) == [raw[10:20]]
        else:
            with pytest.raises(DataFileError, match="ignores Range"):
                Ranges.of(server.url)


def wrong(status, headers, body=b"x" * 10):
    def twist(handler, start, _stop):
        if start > len(RAW) - 20_000:
            return False
        handler.answer(status, body, headers)
        return True

    return twist


@pytest.mark.parametrize(
    ("twist", "text"),
    [
        (wrong(200, {}), "ignores Range"),
        (wrong(206, {}), "three numbers"),
        (wrong(206, {"Content-Range": "bytes 5-14/2500000"}), "did not return"),
        (wrong(206, {"Content-Range": "bytes 0-9/*"}), "three numbers"),
        (wrong(206, {"Content-Range": "bytes 0-9/" + "9" * 30}), "18 digits"),
        (wrong(206, {"Content-Range": "lines 0-9/2500000"}), "three numbers"),
        (wrong(206, {"Content-Range": "bytes 0-9/2500000"}, b"x" * 9), "did not return"),
        (wrong(206, {"Content-Range": "bytes 0-9/2500000"}, b"x" * 11), "did not return"),
        (
            wrong(206, {"Content-Range": "bytes 0-9/2500000", "Content-Encoding": "gzip"}),
            "the encoding 'gzip'",
        ),
        (wrong(404, {}), "does not exist"),
        (wrong(403, {}), "is not for you"),
        (wrong(418, {}), "returned status 418"),
        (wrong(503, {}), "returned status 503"),
    ],
)
def test_answers_that_are_not_what_was_asked_for_are_refused(twist, text):
    with served(RAW) as server:
        ranges = Ranges.of(server.url)
        server.twist = twist
        with pytest.raises(DataFileError, match=text):
            ranges.read([(0, 10)])


def test_a_server_that_is_busy_is_asked_again():
    with served(RAW) as server:
        ranges = Ranges.of(server.url)
        refusals = [503, 503]

        def busy(handler, _start, _stop):
            if not refusals:
                return False
            handler.answer(refusals.pop(), b"")
            return True

        server.twist = busy
        assert ranges.read([(0, 10)]) == [RAW[:10]]
        assert ranges.requests == 2


def test_a_connection_that_the_server_closed_is_opened_again():
    with served(RAW) as server:
        ranges = Ranges.of(server.url)

        def last(handler, _start, _stop):
            handler.close_connection = True
            return False

        server.twist = last
        for start in (0, 100, 200):
            assert ranges.read([(start, start + 10)]) == [RAW[start : start + 10]]


def breaking_off(n_bytes, status=206, times=9):
    left = [True] * times

    def twist(handler, start, stop):
        if not left:
            return False
        left.pop()
        handler.send_response(status)
        handler.send_header("Content-Length", str(stop - start))
        handler.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(RAW)}")
        handler.end_headers()
        handler.wfile.write(RAW[start : start + n_bytes])
        handler.close_connection = True
        return True

    return twist


def test_an_answer_that_breaks_off_is_refused():
    with served(RAW) as server:
        ranges = Ranges.of(server.url)
        server.twist = breaking_off(3)
        with pytest.raises(DataFileError, match=r"cannot read|did not return"):
            ranges.read([(0, 10)])


def test_an_answer_that_breaks_off_once_is_asked_for_again():
    with served(RAW) as server:
        ranges = Ranges.of(server.url)
        server.twist = breaking_off(3, times=1)
        assert ranges.read([(0, 10)]) == [RAW[:10]]


def test_a_whole_file_that_breaks_off_is_not_taken_for_the_file():
    with served(RAW[:5000]) as server:
        server.twist = breaking_off(3000, status=200)
        with pytest.raises(DataFileError, match="cannot read"):
            Ranges.of(server.url)


def test_a_server_that_sends_too_slowly_is_given_up():
    with served(RAW) as server:
        ranges = Ranges.of(server.url, timeout=2)

        def slow(handler, _start, _stop):
            handler.send_response(206)
            handler.send_header("Content-Length", "1000000")
            handler.end_headers()
            # One byte a time, each of which comes soon enough by itself.
            for _ in range(4000):
                try:
                    handler.wfile.write(b"x")
                    handler.wfile.flush()
                except OSError:
                    break
                server.finished.wait(0.05)
            return True

        server.twist = slow
        with pytest.raises(DataFileError, match=r"did not answer within 2 s; Ranges.of\(timeout=...\)"):
            ranges.read([(0, 1_000_000)])


def redirecting(*targets):
    left = list(targets)

    def twist(handler, _start, _stop):
        if not left:
            return False
        handler.answer(302, b"", {"Location": left.pop(0)})
        return True

    return twist


def test_redirects_are_followed():
    with served(RAW) as first, served(RAW) as second:
        first.twist = redirecting(second.url)
        assert Ranges.of(first.url).read_at(len(RAW) - 4, 4) == RAW[-4:]
        assert second.requests == 1


def test_redirects_end_somewhere_and_stay_with_http():
    with served(RAW) as server:
        server.twist = redirecting(*[server.url] * 50)
        with pytest.raises(DataFileError, match="exceeds 5 redirects"):
            Ranges.of(server.url)
        for target in ("file:///x", "ftp://host/x"):
            server.twist = redirecting(target)
            with pytest.raises(DataFileError, match="redirects to another scheme"):
                Ranges.of(server.url)


def test_user_and_password_go_to_the_first_host_alone_and_are_in_no_text():
    with served(RAW) as first, served(RAW) as second:
        given = first.url.replace("http://", "http://us%20er:pass@") + "?key=hidden"
        first.twist = redirecting(second.url)
        ranges = Ranges.of(given)
        sent = base64.b64decode(first.seen[0]["Authorization"].removeprefix("Basic ")).decode()
        assert sent == "us er:pass"
        assert "Authorization" not in second.seen[0]
        first.twist = wrong(404, {})
        second.twist = wrong(404, {})
        with pytest.raises(DataFileError) as refused:
            ranges.read([(0, 10)])
        for text in (str(refused.value), repr(ranges), ranges.name):
            assert not any(word in text for word in ("pass", "us%20er", "us er", "hidden"))


@pytest.mark.parametrize("address", ["http://", "http://host:port/x", "http://host:99999/x", "http://a b/x"])
def test_addresses_that_are_none_are_refused(address):
    with pytest.raises(DataFileError, match="not an address"):
        Ranges.of(address)


def test_a_server_that_is_not_there_is_told():
    with served(RAW) as server:
        url = server.url
    with pytest.raises(DataFileError, match="cannot read"):
        Ranges.of(url)


def closing(version):
    def twist(handler, start, stop):
        handler.protocol_version = version
        handler.close_connection = True
        handler.send_response(206)
        handler.send_header("Content-Length", str(stop - start))
        handler.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(RAW)}")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(RAW[start:stop])
        return True

    return twist


@pytest.mark.parametrize("version", ["HTTP/1.0", "HTTP/1.1"])
def test_a_server_that_closes_after_each_answer_is_read(version):
    with served(RAW) as server:
        server.twist = closing(version)
        ranges = Ranges.of(server.url)
        # The second has more bytes than come with the headers.
        assert ranges.read([(0, 10), (10**6, 2 * 10**6)]) == [RAW[:10], RAW[10**6 : 2 * 10**6]]


def test_a_connection_stays_open():
    with served(RAW) as server:
        ranges = Ranges.of(server.url)
        for start in range(0, 1000, 100):
            ranges.read([(start, start + 10)])
        assert server.connections == 1


@pytest.mark.parametrize(
    "address", ["http://[::1", "http://[x", "memory://[x", "http://a..b/x", "http://a.%/x"]
)
def test_odd_addresses_are_errors_of_ours(address):
    with pytest.raises(DataFileError):
        Ranges.of(address)


@pytest.mark.parametrize("target", ["http://[", "http://a..b/", "http://host:port/"])
def test_odd_redirects_are_errors_of_ours(target):
    with served(RAW) as server:
        server.twist = redirecting(target)
        with pytest.raises(DataFileError):
            Ranges.of(server.url)


def test_names_with_other_letters_are_sent_as_they_have_to_be():
    with served(RAW, "ä b.npy".replace(" ", "")) as server:
        assert Ranges.of(server.url).size == len(RAW)
        assert server.paths[-1] == "/%C3%A4b.npy"


def test_what_came_as_a_whole_makes_no_more_requests():
    def whole(handler, _start, _stop):
        handler.answer(200, RAW[:5000])
        return True

    with served(RAW[:5000]) as server:
        server.twist = whole
        ranges = Ranges.of(server.url)
        ranges.read([(0, 10), (4000, 4010)])
        assert (ranges.requests, server.requests) == (1, 1)
