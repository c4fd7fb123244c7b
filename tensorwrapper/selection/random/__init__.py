"""Random numbers at any index, with the same bits on every machine."""
