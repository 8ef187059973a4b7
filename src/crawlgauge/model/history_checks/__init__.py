"""The checks that capture histories allow, one file each."""
