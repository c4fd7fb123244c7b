"""Files of other formats, NumPy's and safetensors: read lazily, written, and used as a mapping of names."""
