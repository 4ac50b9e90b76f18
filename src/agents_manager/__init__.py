"""Agents Manager: runs coding agents on tasks through pipelines defined as data."""
