"""Replay: a ring of rows on disk, and samplers that read from it."""
