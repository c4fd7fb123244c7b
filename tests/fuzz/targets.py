"""All targets, by name."""

from tests.fuzz import arrays, documents, exchange, files, messages, texts
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    target.name: target
    for room in (messages, files, documents, texts, exchange, arrays)
    for target in room.TARGETS
}
