"""Invoices: lines, an optional discount, an optional delivery charge."""

from dataclasses import dataclass, field

from billing import money


@dataclass(frozen=True)
class Line:
    text: str
    price: int
    tax_rate: int


@dataclass(frozen=True)
class Position:
    """A line with its share of what belongs to the whole invoice."""

    line: Line
    discount: int
    delivery: int

    @property
    def net(self):
        return self.line.price - self.discount + self.delivery


@dataclass
class Invoice:
    discount: int = 0
    delivery: int = 0
    lines: list = field(default_factory=list)

    def add(self, text, price, tax_rate):
        self.lines.append(Line(text, price, tax_rate))

    def positions(self):
        discounts = self._spread(self.discount)
        deliveries = self._spread(self.delivery)
        return [
            Position(*parts) for parts in zip(self.lines, discounts, deliveries)
        ]

    def net(self):
        return sum(position.net for position in self.positions())

    def taxes(self):
        """The tax for each rate, as a dict from the rate to the amount."""
        nets = {}
        for position in self.positions():
            rate = position.line.tax_rate
            nets[rate] = nets.get(rate, 0) + position.net
        return {rate: money.percentage(nets[rate], rate) for rate in sorted(nets)}

    def total(self):
        return self.net() + sum(self.taxes().values())

    def credit_note(self):
        """The invoice that cancels this one."""
        note = Invoice(-self.discount, -self.delivery)
        for line in self.lines:
            note.add(line.text, -line.price, line.tax_rate)
        return note

    def _spread(self, amount):
        # An amount of zero must not fail on an invoice without lines.
        if amount == 0:
            return [0] * len(self.lines)
        return money.spread(amount, [abs(line.price) for line in self.lines])
