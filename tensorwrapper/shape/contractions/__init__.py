"""Which tiles of two patterns meet in a contraction, and what it costs: a plan without elements."""
