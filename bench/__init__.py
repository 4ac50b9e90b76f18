"""Honest numbers about this program, each beside something known; `python -m bench` runs them."""
