"""Wire-Cell's tensor files: archives whose members are the tensors of sets, and their metadata."""
