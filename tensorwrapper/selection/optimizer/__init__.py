"""The normal form of a view: every step between it and its sources is fused."""
