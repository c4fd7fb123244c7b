"""Views in files: records that say how a view is made of tensors of this file, and of others."""
