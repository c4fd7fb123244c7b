"""Files of other formats, NumPy's and safetensors: read lazily, written, and asked as a mapping of names."""
