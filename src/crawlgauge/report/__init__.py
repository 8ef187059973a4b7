"""`Estimates` become text and JSON; renderers return strings and write nothing."""
