"""A run's configuration: schema, component registries, presets, scales, options, resolution, validation."""
