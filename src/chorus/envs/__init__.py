"""Environments behind one description: MinAtar through pgx, any Gymnasium id, and probes with known values."""
