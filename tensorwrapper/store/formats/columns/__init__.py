"""Tables whose columns are tensors: Parquet and Feather."""
