"""The 58 cases that transport and remote must stand: where each is tested; four of them here."""

import re
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from tensorwrapper import wire
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.transport import Socket, Transfers
from tensorwrapper.transport._counters import count_message
from tensorwrapper.transport.transfer._window import Window

TESTS = Path(__file__).parents[2]
ROWS = {
    1: (
        "transport/transfer/test_table.py::each_cell_of_the_table",
        "remote/protocol/test_state_table.py::the_table_of",
    ),
    2: (
        "transport/transfer/test_receiver.py::every_element_comes_once",
        "remote/protocol/test_state_table.py::every_request_can_end",
    ),
    3: (
        "transport/flow/test_flows.py::a_recorded_client",
        "transport/flow/test_machine.py::",
    ),
    4: (
        "transport/flow/test_machine.py::",
        "transport/transfer/test_sender.py::",
    ),
    5: ("transport/transfer/test_dispatch.py::a_chunk_that_does_not_fit",),
    6: (
        "transport/flow/test_table.py::",
        "transport/transfer/test_table.py::each_cell_of_the_table",
    ),
    7: (
        "transport/transfer/test_table.py::an_end_that_failed",
        "remote/protocol/test_state_table.py::nothing_of_a_lost",
    ),
    8: (
        "remote/test_kinds.py::what_is_large_comes_in_pieces",
        "remote/batching/test_request_sizes.py::pieces_are_all",
    ),
    9: (
        "transport/transfer/test_missing_runs.py::",
        "transport/transfer/test_scheduler.py::a_taker_that_was_killed",
    ),
    10: ("remote/client/test_connection.py::a_server_that_starts_anew_with_memory",),
    11: (
        "remote/protocol/test_positions.py::positions_of_modes",
        "remote/protocol/test_positions.py::what_a_stranger",
    ),
    12: (
        "transport/troubles/test_rows_of_faults.py::bytes_on_the_wire",
        "transport/test_counters.py::bytes_on_the_wire",
    ),
    13: ("remote/client/test_bandwidth.py::packing_pays",),
    14: (
        "remote/client/test_connection.py::a_request_has_a_deadline",
        "remote/protocol/test_state_table.py::",
    ),
    15: (
        "remote/served/test_writing.py::a_write_that_is_sent_again",
        "remote/served/test_writing.py::answers_are_kept",
    ),
    16: (
        "wire/test_bad_inputs.py::",
        "transport/flow/test_machine.py::",
    ),
    17: ("transport/transfer/test_boxes.py::",),
    18: ("remote/test_processes.py::another_process_is_selected_from",),
    19: (
        "remote/test_kinds.py::what_is_selected_there",
        "transport/transfer/test_transfers.py::a_tensor_of_each_kind",
    ),
    20: (
        "transport/transfer/test_target.py::",
        "remote/client/test_tensor.py::computed_into_an_array",
    ),
    21: ("remote/reliability/test_many_clients.py::every_answer_is_exact",),
    22: ("remote/server/test_clients.py::no_client_and_no_server_has_more",),
    23: (
        "transport/transfer/test_budget.py::",
        "transport/troubles/test_rows_of_faults.py::new_memory_is",
    ),
    24: ("remote/server/test_event_loop.py::a_client_that_takes_no_answers",),
    25: (
        "transport/aio/test_async_socket.py::",
        "remote/test_async_remote.py::a_task_that_is_cancelled",
    ),
    26: (
        "remote/client/test_connection.py::a_child_of_fork",
        "transport/test_context.py::",
    ),
    27: (
        "transport/test_ending.py::",
        "transport/connections/test_connection_attempts.py::ctrl_c_leaves_nothing",
    ),
    28: ("remote/reliability/test_versions.py::replaced_tensors",),
    29: ("remote/reliability/test_versions.py::edited_tensors",),
    30: ("remote/server/test_files.py::a_file_that_is_written_anew",),
    31: ("remote/client/test_pushdown.py::what_puts_tensors_together",),
    32: (
        "remote/test_kinds.py::bytes_on_the_wire",
        "remote/shards/test_source.py::what_is_planned",
    ),
    33: ("remote/shards/test_source.py::each_element_comes_once",),
    34: (
        "remote/test_sharded_remote.py::a_holder_that_is_killed",
        "remote/shards/test_shard_pool.py::a_replica",
    ),
    35: ("remote/test_independent_client.py::boxes_points_and_rows",),
    36: ("remote/reliability/test_kills.py::reads_go_on",),
    37: ("remote/reliability/test_kills.py::clients_that_end_or_freeze",),
    38: ("remote/reliability/test_kills.py::clients_that_end_or_freeze",),
    39: ("remote/test_processes.py::a_server_that_is_frozen",),
    40: ("transport/connections/test_networks.py::",),
    41: ("transport/connections/test_networks.py::",),
    42: (
        "transport/troubles/test_rows_of_faults.py::what_is_under_way",
        "transport/connections/test_networks.py::",
    ),
    43: ("remote/reliability/test_kills.py::a_server_that_drains",),
    44: (
        "remote/client/test_write_source.py::nobody_knows",
        "remote/client/test_write_source.py::a_write_that_names_the_version",
    ),
    45: ("transport/test_curve.py::nobody_else_is",),
    46: ("remote/reliability/test_strangers.py::hostile_requests",),
    47: ("remote/protocol/test_positions.py::what_a_stranger",),
    48: ("remote/served/test_served_tensor.py::what_leaves_the_tensor",),
    49: ("remote/client/test_pushdown.py::hostile_views",),
    50: ("remote/reliability/test_strangers.py::missing_and_forbidden",),
    51: (
        "remote/reliability/test_strangers.py::a_wrong_key",
        "transport/troubles/test_curve_attacks.py::a_list_that_changes",
    ),
    52: (
        "transport/test_curve.py::nobody_gets_in",
        "transport/troubles/test_curve_attacks.py::who_answered_is_replaced",
    ),
    53: ("transport/troubles/test_rows_of_faults.py::a_message_of_one_frame_more",),
    54: ("remote/server/test_event_loop.py::a_number_that_is_in_use",),
    55: (
        "remote/server/test_event_loop.py::answers_that_nobody_takes",
        "transport/troubles/test_strangers.py::offers_of_64",
    ),
    56: ("remote/client/test_bandwidth.py::what_is_packed_wrong",),
    57: ("remote/reliability/test_lying_servers.py::a_lie_is_an_error",),
    58: (
        "transport/troubles/test_curve_attacks.py::hundreds_of_handshakes",
        "transport/connections/test_connection_attempts.py::what_listens",
    ),
}
"""A file below ``tests`` and how the name of a test in it begins; after a single colon, a text in it."""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"row-{row}")
def test_each_row_has_a_test(row):
    for place in ROWS[row]:
        file, _, name = place.partition("::")
        file, _, word = file.partition(":")
        text = (TESTS / file).read_text(encoding="utf-8")
        assert re.search(rf"^(?:async )?def test_{name}", text, re.MULTILINE) or (word and word in text), (
            place
        )


def test_no_row_is_left_out():
    assert [*ROWS] == [*range(1, 59)]


@pytest.mark.parametrize("is_encrypted", [False, True], ids=["row-12-null", "row-12-curve"])
def test_bytes_on_the_wire_are_the_frames_as_zmtp_writes_them(is_encrypted):
    chance = np.random.default_rng(12)
    for lengths in np.split(chance.integers(0, 600, 30_000), np.sort(chance.integers(0, 30_000, 9_999))):
        counts, written = [0] * 4, 0
        count_message(counts, lengths.tolist(), hidden=1, is_encrypted=is_encrypted)
        for length in [0, *lengths.tolist()]:
            # A command: its name, a nonce, a mark, what is said, and 16 bytes that prove it.
            body = (
                b"\x07MESSAGE" + bytes(8) + bytes(1 + length) + bytes(16) if is_encrypted else bytes(length)
            )
            size = len(body).to_bytes(1 if len(body) < 256 else 8, "big")
            written += len(b"\x00" + size + body)
        assert counts == [1, len(lengths) + 1, int(lengths.sum()), written]


@pytest.mark.parametrize("credit", [4, 8], ids=["row-42-four", "row-42-eight"])
def test_what_is_under_way_takes_a_link_of_10_mbit_a_tenth_of_a_second(credit):
    """So long a cancel, or a ping, waits behind it: 16 KiB is the least that a chunk has."""
    window, now, rate = Window(credit, 2**20, is_local=False), 0.0, 1.25e6
    window.granted(now, 0)
    for _ in range(200):
        now += window.chunk / rate
        window.arrived(now, window.chunk)
    assert window.chunk == 2**14
    assert credit * window.chunk / rate <= 0.11


def memory_of_this_process(word):
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(word):
            return int(line.split()[1]) * 1024
    raise AssertionError(word)


@pytest.mark.skipif(sys.platform != "linux", reason="what a process had at most is known there")
def test_new_memory_is_that_of_the_tensor_and_a_few_chunks():
    tensor = np.arange(2**23)

    def give(address):
        with Socket("DEALER") as socket:
            socket.connect(address)
            with Transfers(socket, timeout=20) as transfers:
                for part in (tensor[:1000], tensor):
                    transfers.send(part)

    with Socket("ROUTER") as socket, Transfers(socket, timeout=20) as transfers:
        giver = threading.Thread(target=give, args=[socket.bind("tcp://127.0.0.1:*")])
        giver.start()
        transfers.receive()
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        before = memory_of_this_process("VmRSS")
        received = transfers.receive()
        most = memory_of_this_process("VmHWM") - before
        giver.join()
    assert np.array_equal(received.to_numpy(), tensor)
    # Both ends are in this process: eight chunks at each, and what ZeroMQ keeps.
    assert most < tensor.nbytes + 2 * 8 * 2**20 + 2**24


@pytest.mark.parametrize("more", [0, 1], ids=["row-53-as-many-as-may-be", "row-53-one-more"])
def test_a_message_of_one_frame_more_than_may_be_is_dropped_and_the_next_one_comes(more):
    """ZeroMQ 4.3.5 gathers all frames first, and ends the process where memory ends before they do."""
    limits = wire.Limits(parts=8)
    # The empty frame of a DEALER, what a ROUTER calls it, and two header frames stand before the parts.
    with Socket("ROUTER", limits=limits) as router, Socket("DEALER") as dealer:
        dealer.connect(router.bind("tcp://127.0.0.1:*"))
        dealer.send([*wire.Message(form="FLOW").to_frames(), *[b""] * (8 + more)])
        dealer.send(wire.encode([[7]]))
        if more:
            with pytest.raises(RemoteProtocolError, match="over 8 parts") as caught:
                router.receive_frames()
            assert caught.value.reason == "limit"
        else:
            assert len(router.receive_frames()[1]) == 2 + 8
        assert router.receive().tensors[0].tolist() == [7]
