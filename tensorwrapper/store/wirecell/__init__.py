"""Wire-Cell's tensor files: archives whose members are tensors of sets, and metadata."""
