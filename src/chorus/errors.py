"""The one exception a user is meant to read: a sentence with the offending value and the remedy."""


class ChorusError(Exception):
    """Wrong input or an unusable run; the command line prints it and exits with code 2."""
