"""Two or more archives side by side: relative sizes, and what they cover together."""
