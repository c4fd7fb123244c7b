"""Row splits: partitions of one mode, columns of splits, and windows on them that copy nothing."""
