"""Views in files: records of expressions over tensors of this file and of others."""
