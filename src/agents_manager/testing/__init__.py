"""The test kit: for the tests of Agents Manager, and for those of whoever extends it."""
