"""Keys that are arrays or jagged tensors: read and write their selections in place."""
