"""The normal form of a view: what runs, with every step between it and its sources fused."""
