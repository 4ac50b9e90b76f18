"""Turns for the tests of agent adapters."""

from agents_manager.testing.values import NOW, run_id, turn

__all__ = ["NOW", "run_id", "turn"]
