"""Amounts of money, as whole cents."""


def show(cents):
    """The amount as it is printed, for example -12.05."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def percentage(cents, percent):
    """`percent` (a whole number) per cent of the amount, half a cent away from zero."""
    sign = -1 if cents < 0 else 1
    return sign * ((abs(cents) * percent + 50) // 100)


def spread(cents, weights):
    """Divide an amount in proportion to the weights, one share for each."""
    total = sum(weights)
    if total <= 0 or min(weights) < 0:
        raise ValueError("nothing to spread the amount over")
    return [round(cents * weight / total) for weight in weights]
