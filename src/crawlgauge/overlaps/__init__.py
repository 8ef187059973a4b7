"""Sorted sets become an `OverlapTable`: pairwise counts and capture histories."""
