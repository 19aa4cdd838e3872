"""The long form of every promise: ``make torture``, or ``python -m torture --rows 2,4``."""
