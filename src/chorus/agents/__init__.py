"""Agents: a few pure functions, closed over a learner and its networks."""
