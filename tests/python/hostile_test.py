"""Nothing from outside ends the interpreter: whatever an order holds, it is judged, drawn and measured, or refused."""

import random
import unittest

import vime
from vime import Kind, Task

SEED = 7


def use(order):
    """All that can be asked of it; returns whether it is legal."""
    findings = order.verify()
    for finding in findings:
        assert finding.code and str(finding)
        if finding.cell is not None:
            assert finding.cell < len(order.rows[finding.rank])
    assert repr(order) and order.grid() and order.starts() is not None and order.sums_out_of_order() is not None
    assert len(order.placement) == order.stages
    try:
        metrics = order.measure(costs=(3, 2, 2, 1))
        assert metrics.makespan >= max(metrics.busy)
        assert metrics.bounds is None or metrics.makespan >= metrics.bounds.makespan, (order.rows, metrics)
    except vime.IllegalOrder as refused:
        assert refused.findings == findings
    if not findings:
        assert all(0 <= place.rank < order.ranks for place in order.standstill())
    if not findings and order.copies == order.slices == 1:
        for lowered in (order.lowered(), order.lowered(shards=True)):
            assert lowered.verify() == [] and lowered.standstill() == (), order.rows
    assert vime.Order(order.rows, copies=order.copies, slices=order.slices) == order
    return not findings


class Hostile(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(SEED)

    def test_random_rows(self):
        kinds = list(Kind)
        for _ in range(1500):
            stages, microbatches = self.random.randint(1, 5), self.random.randint(1, 4)
            rows = [[None if self.random.random() < 0.1 else
                     Task(self.random.choice(kinds[:4] if self.random.random() < 0.9 else kinds),
                          self.random.randrange(stages), self.random.randrange(microbatches))
                     for _ in range(self.random.randrange(12))] for _ in range(self.random.randint(1, 4))]
            try:
                use(vime.Order(rows, copies=self.random.choice((1, 1, 2)), slices=self.random.choice((1, 1, 2, 3))))
            except vime.Error as problem:
                self.assertIn("even number of stages", str(problem))

    def test_spoiled_orders(self):
        legal = 0
        for rule in vime.orders():
            base = vime.order(rule.name, ranks=3, microbatches=6) if rule.name not in ("chimera", "dualpipe") else \
                vime.order(rule.name, ranks=4, microbatches=8)
            for _ in range(12):
                rows = [list(row) for row in base.rows]
                row = self.random.choice(rows)
                first, second = self.random.randrange(len(row)), self.random.randrange(len(row))
                spoil = self.random.randrange(3)
                if spoil == 0:
                    row[first], row[second] = row[second], row[first]
                elif spoil == 1:
                    del row[first]
                else:
                    row.insert(first, row[second])
                try:
                    legal += use(vime.Order(rows, copies=base.copies, slices=base.slices))
                except vime.Error as problem:
                    self.assertIn("overlaps something else", str(problem))
        self.assertGreater(legal, 10)  # some swaps change nothing

    def test_random_texts(self):
        parts = ["0F0", "1F0", "0B0", "1I1", "0W1", "0F1", "(0F1;0B0)OVERLAP_F_B", "1RECV_F0", "0UNSHARD", "", ",", ",", "\n"]
        junk = "0123456789FBIWSEND_RECV_,;()\n\r \t.[]{}&+xU\0é\U0001f600"
        read = 0
        for _ in range(4000):
            text = ",".join(self.random.choice(parts) if self.random.random() < 0.9 else
                            "".join(self.random.choices(junk, k=self.random.randrange(9)))
                            for _ in range(self.random.randrange(8))) + ",\n"
            try:
                use(vime.Order.from_csv(text))
                read += 1
            except vime.TableError as refused:
                self.assertTrue(all(str(finding) for finding in refused.findings))
        self.assertTrue(400 < read < 3600, read)  # both happen often

    def test_spoiled_texts(self):
        base = vime.order("dualpipe-v", 2, 4).to_csv()
        for _ in range(500):
            at = self.random.randrange(len(base))
            try:
                use(vime.Order.from_csv(base[:at] + self.random.choice("0F,;()\n") + base[at + self.random.randrange(3):]))
            except vime.TableError:
                pass

    def test_far_numbers(self):
        for text in ("999999999999F0,\n", "65535F0,0B0\n", "0F1048575,\n", "65535F1048575,\n", ",\n", "\n,,\n"):
            try:
                use(vime.Order.from_csv(text))
            except vime.TableError:
                pass


if __name__ == "__main__":
    unittest.main()
