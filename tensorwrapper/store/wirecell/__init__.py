"""Wire-Cell's tensor files: archives whose members are the tensors of sets, and what is said of them."""
