"""Sizes of files in words."""

DECIMAL = ("kB", "MB", "GB", "TB", "PB")
BINARY = ("KiB", "MiB", "GiB", "TiB", "PiB")
SHORT = ("K", "M", "G", "T", "P")


def naturalsize(value, binary=False, gnu=False, format="%.1f"):
    """A number of bytes as a text such as `1.5 MB`; with `gnu` as short as that of `ls -h`. `format` is for the number alone."""
    value = float(value)
    base = 1024 if binary or gnu else 1000
    units = SHORT if gnu else BINARY if binary else DECIMAL
    size = abs(value)
    if size < base:
        if gnu:
            return f"{int(value)}B"
        return f"{int(value)} Byte" if size == 1 else f"{int(value)} Bytes"
    exponent = 0
    while exponent < len(units) and size >= base:
        size /= base
        exponent += 1
    unit = units[exponent - 1]
    number = format % (size if value >= 0 else -size)
    return f"{number}{unit}" if gnu else f"{number} {unit}"
