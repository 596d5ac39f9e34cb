"""Apply unified diffs."""

from hunkwise.apply import apply
from hunkwise.parse import FilePatch, Hunk, PatchError, parse

__all__ = ["FilePatch", "Hunk", "PatchError", "apply", "parse"]
