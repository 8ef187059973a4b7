"""An `OverlapTable` becomes `Estimates`: pure functions, no files and no printing."""
