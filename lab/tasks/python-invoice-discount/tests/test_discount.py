import random
import sys
import unittest
from fractions import Fraction

sys.path.append("/app")

from billing.invoice import Invoice
from billing.money import percentage, show, spread
from billing.render import render


class SpreadTest(unittest.TestCase):
    def test_example(self):
        self.assertEqual(spread(1000, [3333, 3333, 3333]), [334, 333, 333])

    def test_largest_loss_comes_first(self):
        # Exact shares: 0.5, 0.9, 8.6; two cents are left over.
        self.assertEqual(spread(10, [5, 9, 86]), [0, 1, 9])
        self.assertEqual(spread(10, [86, 9, 5]), [9, 1, 0])

    def test_ties_go_to_the_earlier(self):
        self.assertEqual(spread(2, [1, 1, 1, 1]), [1, 1, 0, 0])
        self.assertEqual(spread(101, [50, 50]), [51, 50])
        self.assertEqual(spread(3, [1, 1]), [2, 1])

    def test_loss_not_weight_decides(self):
        # 3.75 and 1.25: the heavier line lost most.
        self.assertEqual(spread(5, [3, 1]), [4, 1])
        # 5.25 and 1.75: the lighter one did.
        self.assertEqual(spread(7, [3, 1]), [5, 2])

    def test_zero_weight_gets_nothing(self):
        self.assertEqual(spread(2, [0, 1, 0, 1, 1]), [0, 1, 0, 1, 0])
        self.assertEqual(spread(-2, [0, 1, 0, 1, 1]), [0, -1, 0, -1, 0])

    def test_many_lines(self):
        self.assertEqual(spread(100, [7] * 200), [1] * 100 + [0] * 100)
        self.assertEqual(spread(300, [7] * 200), [2] * 100 + [1] * 100)

    def test_negative_mirrors_positive(self):
        for weights in ([3333] * 3, [5, 9, 86], [1, 2, 3, 4, 0], [7] * 30):
            for cents in (1, 2, 5, 10, 99, 1000):
                mirrored = [-share for share in spread(cents, weights)]
                self.assertEqual(spread(-cents, weights), mirrored)

    def test_zero_amount(self):
        self.assertEqual(spread(0, [1, 2]), [0, 0])

    def test_large_amounts_are_exact(self):
        self.assertEqual(spread(9007199254740993, [1]), [9007199254740993])
        big = 10**30 + 1
        self.assertEqual(spread(big, [1, 1]), [big // 2 + 1, big // 2])
        self.assertEqual(spread(7, [10**40, 10**40 + 1]), [3, 4])

    def test_random(self):
        rng = random.Random(20240301)
        for _ in range(400):
            weights = [rng.choice([0, 1, 2, rng.randrange(1, 10**6)])
                       for _ in range(rng.randrange(1, 12))]
            if not sum(weights):
                continue
            cents = rng.randrange(-(10**5), 10**5)
            shares = spread(cents, weights)
            self.assertEqual(len(shares), len(weights))
            self.assertEqual(sum(shares), cents)
            total = sum(weights)
            losses = []
            for share, weight in zip(shares, weights):
                self.assertIs(type(share), int)
                exact = Fraction(abs(cents) * weight, total)
                self.assertLess(abs(abs(share) - exact), 1)
                losses.append((exact - exact.__floor__(), abs(share) > exact))
            ups = [loss for loss, up in losses if up]
            downs = [loss for loss, up in losses if not up]
            if ups and downs:
                self.assertGreaterEqual(min(ups), max(downs))

    def test_inputs_stay_unchanged(self):
        weights = [3, 1, 2]
        spread(5, weights)
        self.assertEqual(weights, [3, 1, 2])

    def test_errors(self):
        for weights in ([], [0], [0, 0], [3, -1], [-1], [-1, -1]):
            with self.assertRaises(ValueError):
                spread(10, weights)


def lamps(count=3, **kwargs):
    invoice = Invoice(**kwargs)
    for _ in range(count):
        invoice.add("Desk lamp", 3333, tax_rate=20)
    return invoice


class InvoiceTest(unittest.TestCase):
    def test_render_of_the_example(self):
        self.assertEqual(
            render(lamps(discount=1000)).splitlines(),
            [
                "Desk lamp                   33.33      -3.34      29.99",
                "Desk lamp                   33.33      -3.33      30.00",
                "Desk lamp                   33.33      -3.33      30.00",
                "Net                                               89.99",
                "Tax 20%                                           18.00",
                "Total                                            107.99",
            ],
        )

    def test_delivery(self):
        invoice = lamps(delivery=500)
        self.assertEqual([p.delivery for p in invoice.positions()], [167, 167, 166])
        self.assertEqual(invoice.net(), 9999 + 500)

    def test_both(self):
        invoice = lamps(discount=1000, delivery=500)
        self.assertEqual([p.net for p in invoice.positions()], [3166, 3167, 3166])
        self.assertEqual(invoice.net(), 9999 - 1000 + 500)

    def test_many_lines(self):
        self.assertEqual(lamps(200, discount=100).net(), 200 * 3333 - 100)

    def test_free_line(self):
        invoice = Invoice(discount=1)
        invoice.add("Sample", 0, tax_rate=20)
        invoice.add("Pen", 100, tax_rate=20)
        invoice.add("Pen", 100, tax_rate=20)
        self.assertEqual([p.discount for p in invoice.positions()], [0, 1, 0])

    def test_credit_note_cancels_line_by_line(self):
        invoice = lamps(discount=1001, delivery=490)
        invoice.add("Book", 1999, tax_rate=5)
        note = invoice.credit_note()
        for one, other in zip(invoice.positions(), note.positions()):
            self.assertEqual(one.net, -other.net)
            self.assertEqual(one.discount, -other.discount)
            self.assertEqual(one.delivery, -other.delivery)
        self.assertEqual(invoice.total(), -note.total())

    def test_taxes_by_rate(self):
        invoice = Invoice(discount=1000)
        invoice.add("Chair", 6000, tax_rate=20)
        invoice.add("Book", 4000, tax_rate=5)
        self.assertEqual(invoice.taxes(), {5: 180, 20: 1080})
        self.assertEqual(invoice.total(), 10260)

    def test_without_lines(self):
        self.assertEqual(Invoice().total(), 0)
        with self.assertRaises(ValueError):
            Invoice(discount=100).positions()

    def test_helpers_unchanged(self):
        self.assertEqual(show(-1205), "-12.05")
        self.assertEqual(percentage(250, 5), 13)
        self.assertEqual(percentage(-250, 5), -13)


if __name__ == "__main__":
    unittest.main()
