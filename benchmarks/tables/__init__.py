"""The tables: one file each, with what is compared, at which sizes, and against which targets."""
