"""What the judge says is what `vimec verify` says, and where."""

import unittest

import vime
from tree import vimec, vimec_json
from vime import B, F, I, W

BROKEN = {
    "a circle": "0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n",
    "its own row": "0F0,0W0,0I0\n",
    "missing": "0F0,0F1,0B0,0B1\n1F0,1F1,1B0\n",
    "twice": "0F0,0F0,0B0\n",
    "two ranks": "0F0,0B0\n0F1,0B1\n",
    "no stage 1": "0F0,0B0\n2F0,2B0\n",
    "transfers": "0F0,0SEND_F0,0B0\n1F0,1RECV_F0,1B0,1SEND_B0\n",
    "shards": "0UNSHARD,0F0,0RESHARD,0B0,0REDUCE_GRAD\n",
    "forwards": "0F0\n",
    "old": "0F0,0F1,0B0,0W0,0B1\n",
}


class Findings(unittest.TestCase):
    def test_are_those_of_vimec(self):
        for name, text in BROKEN.items():
            with self.subTest(name):
                told = vimec_json("verify", "-", stdin=text, code=1)["errors"]
                found = vime.Order.from_csv(text).verify()
                self.assertEqual([(error["code"], error["message"], error["line"], error["column"], error.get("help", ""))
                                  for error in told],
                                 [(finding.code, finding.message, finding.place.line, finding.place.column, finding.help)
                                  for finding in found])
                self.assertEqual([error["rendered"].replace("--> -:", "--> order.csv:") for error in told],
                                 [str(finding) for finding in found])
                self.assertGreater(len(found), 0)

    def test_are_objects(self):
        finding, = vime.Order([[F(0, 0), B(0, 0), F(0, 1), B(0, 1)], [F(1, 0), F(1, 1), B(1, 0), B(1, 1)]]).verify()
        self.assertEqual((finding.code, finding.rule, finding.rank, finding.cell), ("C0207", "C2", 0, 1))
        self.assertEqual([(note.place.rank, note.place.cell) for note in finding.notes], [(0, 1), (1, 1)])
        self.assertEqual(finding.label, "waits for `1B0`")

    def test_name_cells_behind_pairs_and_idle_slots(self):
        order = vime.Order([[F(0, 0), None, F(0, 1), None, *vime.overlap(F(0, 2), B(0, 0)), B(0, 1), F(0, 1), B(0, 2)]])
        finding, = order.verify()
        self.assertEqual((finding.message, finding.cell), ("`0F1` stands twice in the table", 7))
        self.assertEqual(order.rows[0][finding.cell], F(0, 1))
        self.assertEqual(finding.notes[0].place.cell, 2)

    def test_of_two_copies(self):
        order = vime.order("dualpipe", ranks=4, microbatches=8)
        self.assertEqual(order.verify(), [])
        self.assertEqual(vime.order("chimera", ranks=4, microbatches=4).verify(), [])
        rows = [list(row) for row in order.rows]
        rank, cell = next((rank, cell) for rank, row in enumerate(rows) for cell, task in enumerate(row)
                          if task and task.kind == vime.Kind.BACKWARD)
        task = rows[rank][cell]
        rows[rank][cell] = B((task.stage + 4) % 8, task.microbatch)
        codes = {finding.code for finding in vime.Order(rows, copies=2).verify()}
        self.assertTrue({"S0101", "S0111"} <= codes, codes)
        # As one model of eight stages it is another order.
        self.assertNotEqual(vime.Order(order.rows).verify(), [])
        with self.assertRaisesRegex(vime.Error, "two copies of the model"):
            order.to_csv()

    def test_of_slices(self):
        order = vime.order("seq1f1b", ranks=2, microbatches=2, slices=2)
        self.assertEqual(order.verify(), [])
        rows = [list(row) for row in order.rows]
        rows[0][0], rows[0][1] = rows[0][1], rows[0][0]
        self.assertEqual([(finding.code, finding.message) for finding in vime.Order(rows, slices=2).verify()][0],
                         ("S0201", "`0F1` stands before `0F0`, which it needs"))
        half = vime.Order([[F(0, 0), F(0, 1), F(0, 2), B(0, 2), B(0, 1), B(0, 0)]], slices=2)
        self.assertEqual([finding.message for finding in half.verify()], ["no task is of microbatch 3"])
        whole = vime.Order([[F(0, 0), F(0, 1), B(0, 0), B(0, 1)]], slices=2)
        self.assertEqual([finding.message for finding in whole.verify()], ["`0B0` stands before `0B1`, which it needs"])

    def test_explain_themselves(self):
        for text in BROKEN.values():
            for finding in vime.Order.from_csv(text).verify():
                self.assertIn(finding.code, vimec("explain", finding.code))


class Parts(unittest.TestCase):
    def test_both_halves_of_a_backward(self):
        self.assertEqual(vime.Order([[F(0, 0), I(0, 0), W(0, 0)]]).verify(), [])
        self.assertEqual(vime.Order([[F(0, 0), I(0, 0)]]).verify()[0].message,
                         "stage 0 never runs the weight gradient of microbatch 0")


if __name__ == "__main__":
    unittest.main()
