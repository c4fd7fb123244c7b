"""How a file grows: records appended, rows added to a tensor, and all records of one as one lazy tensor."""
