"""Inner loops as machine code: made at the first call, and kept on disk."""
