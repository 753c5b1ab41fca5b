"""From a preset's name to a run: configuration, scales, presets, assembly."""
