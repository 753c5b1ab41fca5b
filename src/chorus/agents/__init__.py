"""Agents: a few pure functions closed over a configuration."""
