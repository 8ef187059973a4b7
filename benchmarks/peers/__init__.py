"""Programs that could do the same: each file is one, and prints what it counted."""
