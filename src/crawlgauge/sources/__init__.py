"""Archive files become batches of captures: one reader per format, told by content."""
