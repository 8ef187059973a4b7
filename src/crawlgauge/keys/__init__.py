"""URLs become 64-bit keys: a named canonical form, then XXH64 with seed 42."""
