"""Staged orchestration: what each stage gives back, what it is given, and whom it may ask."""
