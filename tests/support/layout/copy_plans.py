"""Copy plans against brute force."""


def moved(plan, size=5):
    """What the runs of a plan move, target offset to source offset; none may be written twice."""
    found = {}
    for batch in plan.run_batches(size):
        assert len(batch) <= size
        for source, target, length in batch.tolist():
            for k in range(length):
                assert target + k not in found
                found[target + k] = source + k
    return found
