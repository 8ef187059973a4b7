"""The compiled core: bytes of lines to keys, sorted sets of keys to counts."""
