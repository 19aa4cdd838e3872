"""The exceptions of graphmill; each is also the built-in kind that a Python user would catch."""

from __future__ import annotations


class GraphmillError(Exception):
    """Everything that graphmill raises, except mistakes of range, value and type."""


class FormatError(GraphmillError, ValueError):
    """The file is not of a kind, version or feature set that this release reads."""


class CorruptError(GraphmillError, ValueError):
    """The bytes of a file contradict themselves, or the file changed while it was open."""


class SourceError(GraphmillError, ValueError):
    """The data to be written or converted holds something that cannot be stored."""


class DiskError(GraphmillError, OSError):
    """The operating system refused to read or write."""


class MissingError(DiskError, FileNotFoundError):
    """A file or folder is not there."""


class ExistsError(DiskError, FileExistsError):
    """The target exists, and overwriting was not asked for."""


class DeniedError(DiskError, PermissionError):
    """The operating system denies access."""


class MemoryBudgetError(GraphmillError, MemoryError):
    """The work does not fit in the memory budget; the message says how much is needed."""


class LoaderError(GraphmillError, RuntimeError):
    """A loader cannot go on, for example because it was closed."""
