"""The rules of graphs: Tapestry's table of bad graphs row by row, its valid ones, and what it let pass."""

import copy
import json

import pytest

from tensorwrapper import Shape
from tensorwrapper.errors import ValidationError
from tensorwrapper.sharding import BlockOperation, Graph, Operand, TensorNode
from tests.support.sharding.graphs import (
    TAGS,
    TYPES,
    application,
    document,
    ident,
    linear_and_relu,
    matmul_and_row_sum,
    operation,
    read,
    region,
    rng,
    source_and_sink,
    tensor,
)


def faults(graph):
    return [(f.rule, f.where) for f in graph.findings()]


def changed(*changes):
    """Return the source and sink after changes: (node, path in the body, value)."""
    plain = source_and_sink()
    for place, path, value in changes:
        at = plain["nodes"][place]["body"]
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
    return read(plain)


# Valid graphs.


def test_a_source_and_a_sink_are_valid():
    assert read(source_and_sink()).findings() == ()


def test_matmul_and_row_sum_are_valid():
    graph, _ = matmul_and_row_sum()

    assert graph.findings() == ()
    labels = {node.label: node.box.extents for node in graph.by_type(TensorNode)}
    assert labels["matmul/z[0]"] == (3, 5)


def test_an_addition_that_broadcasts_is_valid():
    index = Shape(10, 10, 10)
    a, b = TensorNode(dtype="float32", box=index), TensorNode(dtype="float32", box=(1, 10))
    add = BlockOperation(
        "ADD",
        index,
        {"x": [Operand(index, "(i, j, k) -> (i, j, k)"), Operand((1, 10), "(i, j, k) -> (0, k)")]},
        {"z": Operand.result(index, "(i, j, k) -> (i, j, k)")},
    )
    graph, node = Graph().add_operation(add, {"x": [a, b]}, blocks=add.split_grid((5, 5, 10)).blocks)

    assert graph.findings() == ()
    assert graph.node(node.outputs["z"][0].tensor, TensorNode).box == index


def test_linear_and_relu_are_valid_before_and_after_they_are_sharded_anew():
    graph, linear, relu = linear_and_relu()
    assert graph.findings() == ()

    for node in (linear, relu):
        operation_value = graph.block_operation(node)
        graph = graph.shard(node, operation_value.split_grid((50, 16)).blocks)
        assert len(graph.shards_of(node)) == 4

    assert graph.findings() == ()
    assert graph.node(relu.outputs["z"][0].tensor, TensorNode).box == Shape(100, 32)
    shard = graph.shards_of(linear)[3]
    assert [r.box for r in (*shard.inputs["x"], *shard.inputs["w"], *shard.inputs["b"])] == [
        Shape(50, 12, origin=(10, 20)),
        Shape(12, 16, origin=(0, 16)),
        Shape(16, origin=(16,)),
    ]


# Bad graphs.


def test_an_element_type_must_be_known():
    graph = changed((0, ("dtype",), "nonesuch"))
    (finding,) = graph.findings()

    assert (finding.rule, finding.where) == ("dtype", "$.nodes[0].body.dtype")
    assert "tensor dtype (nonesuch) is not a recognized type" in finding.text
    assert graph.findings(dtypes={"nonesuch"}) == ()
    assert [f.rule for f in read(source_and_sink()).findings(dtypes={"float32"})] == ["dtype"]


def test_an_operation_has_shards():
    plain = source_and_sink()
    del plain["nodes"][5:]
    (finding,) = read(plain).findings()

    assert (finding.rule, finding.where) == ("shards", "$.nodes[4]")
    assert "no application shards" in finding.text


def test_a_shard_has_the_tensors_of_its_operation():
    plain = source_and_sink()
    plain["nodes"].append(tensor(8, (0, 0), (2, 3)))
    plain["nodes"][5]["body"]["inputs"]["foo"][0]["tensorId"] = ident(8)
    (finding,) = read(plain).findings()

    assert (finding.rule, finding.where) == ("operands", "$.nodes[5].body.inputs.foo[0].tensorId")
    assert finding.also == ("$.nodes[4].body.inputs.foo[0]",)
    assert ident(8) in finding.text
    assert ident(1) in finding.text


@pytest.mark.parametrize(
    ("place", "side", "regions", "text"),
    [
        (
            5,
            "inputs",
            {"bar": [region(1, (0, 0), (2, 1))]},
            "keys [bar] are not the keys [foo] of its operation",
        ),
        (5, "inputs", {}, "the inputs keys [] are not the keys [foo]"),
        (5, "outputs", {"x": []}, "the outputs keys [x] are not the keys []"),
        (2, "outputs", {}, "the outputs keys [] are not the keys [output]"),
    ],
)
def test_a_shard_has_the_names_of_its_operation(place, side, regions, text):
    found = changed((place, (side,), regions)).findings()

    assert found[0].rule == "operands"
    assert found[0].where == f"$.nodes[{place}].body.{side}"
    assert text in found[0].text


def test_a_shard_has_as_many_operands_as_its_operation():
    found = changed((5, ("inputs", "foo"), [region(1, (0, 0), (2, 1))] * 2)).findings()

    assert [(f.rule, f.where, f.text) for f in found] == [
        ("operands", "$.nodes[5].body.inputs.foo", "has 2 operands, but its operation has 1")
    ]


def test_shards_span_their_operation():
    graph = changed(
        (2, ("outputs", "output", 0), region(1, (0, 0), (1, 2))),
        (3, ("outputs", "output", 0), region(1, (1, 0), (2, 2))),
    )
    first, second = graph.findings()

    assert (first.rule, first.where) == ("shards", "$.nodes[1].body.outputs.output[0].range")
    assert first.text == "the operation's region [0:2, 0:3] is not spanned by its shards, but [0:2, 0:2]"
    assert first.also == ("$.nodes[2].body.outputs.output[0]", "$.nodes[3].body.outputs.output[0]")
    assert (second.rule, second.text) == ("coverage", "(0, 2) of [0:2, 0:3] is in none of the 2 boxes")


def test_a_shard_stays_inside_its_operation():
    found = changed((2, ("outputs", "output", 0), region(1, (0, -3), (1, 2)))).findings()

    assert ("bounds", "$.nodes[2].body.outputs.output[0].range") in [(f.rule, f.where) for f in found]
    assert "the shard region [0:1, -3:2] is outside the operation's [0:2, 0:3]" in [f.text for f in found]


def test_a_reference_leads_to_a_node():
    found = changed((4, ("inputs", "foo", 0, "tensorId"), ident(99))).findings()

    assert (found[0].rule, found[0].where) == ("reference", "$.nodes[4].body.inputs.foo[0].tensorId")
    assert found[0].text == f"the referenced node {ident(99)} does not exist; a TensorNode is needed"


def test_a_reference_leads_to_a_node_of_the_right_type():
    found = changed(
        (4, ("inputs", "foo", 0, "tensorId"), ident(2)), (5, ("operationId",), ident(1))
    ).findings()
    texts = {f.where: f.text for f in found}

    assert "wrong type OperationNode, not TensorNode" in texts["$.nodes[4].body.inputs.foo[0].tensorId"]
    assert "wrong type TensorNode, not OperationNode" in texts["$.nodes[5].body.operationId"]


def test_a_region_has_the_rank_of_its_tensor():
    graph = read(
        document(
            tensor(1, (0, 0), (2, 3)),
            operation(2, {"x": [region(1, (0,), (200,))]}, {}),
            application(3, 2, {"x": [region(1, (0,), (200,))]}, {}),
        )
    )

    assert [(f.rule, f.where) for f in graph.findings()] == [
        ("bounds", f"$.nodes[{k}].body.inputs.x[0].range") for k in (1, 2)
    ]
    assert graph.findings()[0].text == "the region has 1 modes, but the tensor has 2"


def test_regions_stay_inside_their_tensor():
    graph = read(
        document(
            tensor(1, (0, 0), (2, 3)),
            operation(2, {"x": [region(1, (0, 0), (5, 10))], "y": [region(1, (0, 0), (2, 8))]}, {}),
            application(3, 2, {"x": [region(1, (0, 0), (5, 10))], "y": [region(1, (0, 0), (2, 8))]}, {}),
        )
    )
    found = graph.findings()

    assert [f.where for f in found] == [
        f"$.nodes[{k}].body.inputs.{n}[0].range" for k in (1, 2) for n in "xy"
    ]
    assert found[0].text == "the region [0:5, 0:10] is out of bounds: the tensor is [0:2, 0:3]"
    assert found[0].also == ("$.nodes[0]",)


def ring():
    """A and B go into an operation that makes C and A."""
    parts = [region(k, (0,), (4,)) for k in (1, 2, 3)]
    tensors = [tensor(k, (0,), (4,), label=name) for k, name in ((1, "A"), (2, "B"), (3, "C"))]
    sides = ({"x": parts[:2]}, {"y": [parts[2], parts[0]]})
    return document(*tensors, operation(4, *sides, label="op"), application(5, 4, *sides))


def test_nothing_needs_itself():
    (finding,) = read(ring()).findings()

    assert finding.rule == "cycle"
    assert {finding.where, *finding.also} == {"$.nodes[0]", "$.nodes[3]"}
    assert "TensorNode A" in finding.text
    assert "OperationNode op" in finding.text


@pytest.mark.slow
def test_a_long_chain_is_no_cycle_and_a_long_cycle_is_one():
    count = 1200  # more than Python recurses
    nodes = [tensor(1, (0,), (1,))]
    for k in range(count):
        part = ({"x": [region(1 + k, (0,), (1,))]}, {"y": [region(2 + k, (0,), (1,))]})
        nodes += [
            tensor(2 + k, (0,), (1,)),
            operation(10_000 + k, *part),
            application(20_000 + k, 10_000 + k, *part),
        ]
    assert read(document(*nodes)).findings() == ()

    back = ({"x": [region(1 + count, (0,), (1,))]}, {"y": [region(1, (0,), (1,))]})
    nodes += [operation(30_000, *back), application(30_001, 30_000, *back)]
    (finding,) = read(document(*nodes)).findings()
    assert (finding.rule, len(finding.also)) == ("cycle", 2 * count + 1)


# Projections.


def signed():
    graph, linear, _ = linear_and_relu()
    plain = json.loads(graph.to_json())
    place = graph.nodes.index(linear)
    shard = graph.nodes.index(graph.shards_of(linear)[0])
    return plain, place, shard


def test_regions_of_an_operation_are_what_its_index_projects_to():
    plain, place, _ = signed()
    plain["nodes"][place]["body"]["inputs"]["b"][0]["range"] = rng((0,), (31,))

    assert ("projection", f"$.nodes[{place}].body.inputs.b[0].range") in faults(read(plain))
    texts = [f.text for f in read(plain).findings()]
    assert "the region is [0:31], but the index [0:100, 0:32] projects to [0:32]" in texts


def test_regions_of_a_shard_are_what_its_index_projects_to():
    plain, _, shard = signed()
    plain["nodes"][shard]["tags"][f"{TAGS}IPFIndex"] = rng((0, 0), (24, 32))
    found = faults(read(plain))

    assert ("projection", f"$.nodes[{shard}].body.inputs.x[0].range") in found
    assert ("projection", f"$.nodes[{shard}].body.outputs.y[0].range") in found
    # The blocks of the index have a gap now, too.
    assert [rule for rule, where in found if where.endswith(".tags")] == ["coverage"]


def test_a_signature_has_the_names_and_numbers_of_its_operation():
    plain, place, _ = signed()
    tag = plain["nodes"][place]["tags"][f"{TAGS}IPFSignature"]["inputs"]
    tag["c"] = tag.pop("b")
    tag["w"] *= 2
    found = [(f.rule, f.where, f.text) for f in read(plain).findings()]

    assert (
        "operands",
        f"$.nodes[{place}].body.inputs",
        "the inputs keys [b, w, x] are not the keys [c, w, x] of the signature",
    ) in found
    assert ("operands", f"$.nodes[{place}].body.inputs.w", "has 1 operands, but the signature has 2") in found


def test_a_signature_takes_the_index():
    plain, place, _ = signed()
    plain["nodes"][place]["tags"][f"{TAGS}IPFIndex"] = rng((0,), (100,))

    assert "the index range has rank 1, but the projection takes 2" in [
        f.text for f in read(plain).findings()
    ]


# What the original let pass.


def test_a_gap_beside_an_overlap_of_equal_size_is_found():
    graph = changed(
        (1, ("outputs", "output", 0), region(1, (0, 0), (2, 3))),
        (2, ("outputs", "output", 0), region(1, (0, 0), (2, 2))),
        (3, ("outputs", "output", 0), region(1, (1, 1), (2, 3))),
    )
    texts = [f.text for f in graph.findings()]

    assert len(texts) == 2
    assert texts[0].startswith("(1, 1) is in the boxes 0 ")
    assert texts[1].startswith("(0, 2) of ")


def test_inputs_of_shards_may_overlap():
    assert changed((5, ("inputs", "foo", 0), region(1, (0, 0), (2, 3)))).findings() == ()


def test_every_rule_is_checked_whatever_the_others_found():
    plain = ring()
    plain["nodes"][0]["body"]["dtype"] = "nonesuch"
    plain["nodes"] += source_and_sink()["nodes"][0:2]
    for k, n in enumerate(plain["nodes"][5:]):
        n["id"] = ident(50 + k)
    plain["nodes"][6]["body"]["outputs"]["output"][0] = region(77, (0, 0), (2, 3))
    plain["nodes"].append(application(60, 51, {}, {"output": [region(77, (0, 0), (1, 3))]}))

    assert {f.rule for f in read(plain).findings()} == {"dtype", "reference", "cycle", "shards", "coverage"}


def test_check_raises_all_findings():
    graph = changed((0, ("dtype",), "nonesuch"), (4, ("inputs", "foo", 0, "tensorId"), ident(99)))
    with pytest.raises(ValidationError, match=r"the graph: \d faults: dtype: \$\.nodes\[0\]") as caught:
        graph.check()

    assert caught.value.findings == graph.findings()
    read(source_and_sink()).check()


def test_ranges_beyond_64_bits_are_told_not_wrapped():
    far = 2**70
    graph = read(
        document(
            tensor(1, (0,), (far,)),
            operation(2, {}, {"y": [region(1, (0,), (far,))]}),
            application(3, 2, {}, {"y": [region(1, (0,), (far,))]}),
        )
    )

    assert [(f.rule, "64 bits" in f.text) for f in graph.findings()] == [("bounds", True)]


def test_findings_do_not_depend_on_the_order_of_nodes():
    plain = source_and_sink()
    plain["nodes"][2]["body"]["outputs"]["output"][0]["range"] = rng((0, 0), (1, 2))
    turned = copy.deepcopy(plain)
    turned["nodes"].reverse()

    assert (
        {f.rule for f in read(plain).findings()} == {f.rule for f in read(turned).findings()} == {"coverage"}
    )
    assert TYPES in plain["nodes"][0]["type"]
