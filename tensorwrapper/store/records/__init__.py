"""Parts of a `.tens` file: headers, messages, checksums, and the directory of records."""
