"""Tensors sharded over several servers by tiles or rows: catalogues, reading, and resharding plans."""
