"""Tables that others published, each with its source in docs/data.md."""
