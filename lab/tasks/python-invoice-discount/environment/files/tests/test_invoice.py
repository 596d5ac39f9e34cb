import unittest

from billing.invoice import Invoice
from billing.render import render


class InvoiceTest(unittest.TestCase):
    def test_even_discount(self):
        invoice = Invoice(discount=1000)
        invoice.add("Chair", 6000, tax_rate=20)
        invoice.add("Book", 4000, tax_rate=5)
        self.assertEqual([p.discount for p in invoice.positions()], [600, 400])
        self.assertEqual(invoice.taxes(), {5: 180, 20: 1080})
        self.assertEqual(invoice.total(), 10260)

    def test_render(self):
        invoice = Invoice(delivery=490)
        invoice.add("Chair", 6000, tax_rate=20)
        self.assertEqual(
            render(invoice).splitlines(),
            [
                "Chair                       60.00       4.90      64.90",
                "Net                                               64.90",
                "Tax 20%                                           12.98",
                "Total                                             77.88",
            ],
        )


if __name__ == "__main__":
    unittest.main()
