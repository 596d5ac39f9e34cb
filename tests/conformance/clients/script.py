"""One client's script: operations one by one, each of which passes or fails by itself."""

import contextlib
import importlib.metadata

# As many operations as a script has, unless it says otherwise.
OPERATIONS = 40


class Script:
    """Counts the operations of a client, and says which ones failed and why."""

    def __init__(self, client, distribution=None, operations=OPERATIONS):
        version = importlib.metadata.version(distribution) if distribution else ""
        self.client = f"{client} {version}".strip()
        self.operations, self.names, self.failed = operations, [], 0

    @contextlib.contextmanager
    def operation(self, name):
        """An operation; what goes wrong in it fails it alone."""
        self.names.append(name)
        try:
            yield
        except Exception as error:  # Whatever a client raises is a failed operation.
            self.failed += 1
            line = " ".join(f"{type(error).__name__}: {error}".split())
            print(f"failed: {self.client}: {name}: {line[:300]}")

    def end(self):
        """Says how it went; answers how many passed and how many failed."""
        count = self.operations
        if len(self.names) != count or len(set(self.names)) != count:
            raise SystemExit(f"{self.client}: {len(set(self.names))} operations, not {count}")
        print(f"{self.client}: {count - self.failed} of {count} operations passed")
        return count - self.failed, self.failed


def same(found, wanted):
    """Fails the operation unless both are equal."""
    if found != wanted:
        raise AssertionError(f"{found!r} instead of {wanted!r}")
