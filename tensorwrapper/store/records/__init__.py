"""What a `.tens` file is made of: headers, messages, checksums, and the directory of what it has."""
