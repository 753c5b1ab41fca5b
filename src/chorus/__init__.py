"""Chorus: ensemble-based exploration in deep reinforcement learning."""
