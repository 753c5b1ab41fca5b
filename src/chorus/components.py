"""The mark of an interchangeable value."""


class Component:
    """A value that others of its kind can stand in for; stored in configuration files with its `kind`."""
