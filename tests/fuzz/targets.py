"""All targets, by name."""

from tests.fuzz import arrays, documents, exchange, files, flows, messages, sets, texts
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    target.name: target
    for room in (messages, flows, files, sets, documents, texts, exchange, arrays)
    for target in room.TARGETS
}
