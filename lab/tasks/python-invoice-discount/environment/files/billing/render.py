"""Invoices as plain text."""

from billing.money import show


def _row(text, *amounts):
    columns = [f"{amount:>11}" for amount in amounts]
    return f"{text:<22}" + "".join(columns)


def render(invoice):
    rows = []
    net = 0
    for position in invoice.positions():
        extra = position.delivery - position.discount
        rows.append(
            _row(
                position.line.text,
                show(position.line.price),
                show(extra),
                show(position.net),
            )
        )
        net += position.net
    rows.append(_row("Net", "", "", show(net)))
    for rate, tax in invoice.taxes().items():
        rows.append(_row(f"Tax {rate}%", "", "", show(tax)))
    rows.append(_row("Total", "", "", show(invoice.total())))
    return "\n".join(rows) + "\n"
