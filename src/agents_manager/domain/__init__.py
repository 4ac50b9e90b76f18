"""Values and pure rules: no clock, no I/O, no async."""
