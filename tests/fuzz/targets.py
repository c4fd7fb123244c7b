"""All targets, by name."""

from tests.fuzz import arrays, documents, exchange, files, flows, messages, remotes, sets, texts
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    target.name: target
    for room in (messages, flows, remotes, files, sets, documents, texts, exchange, arrays)
    for target in room.TARGETS
}
