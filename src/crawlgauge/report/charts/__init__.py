"""`Estimates` as charts: one file each, defined once, for the page and for paper."""
