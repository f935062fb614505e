"""Orders by name, from tables and from rows: the same as vimec's, cell by cell and number by number."""

import copy
import inspect
import pathlib
import pickle
import tempfile
import unittest

import vime
from tree import vimec, vimec_json
from vime import B, F, I, W, overlap

COSTS = (10, 12, 8, 1)


def options(costs):
    return ["--costs", ",".join(map(str, costs))]


class ByName(unittest.TestCase):
    def test_what_orders_there_are(self):
        rules = {rule.name: rule for rule in vime.orders()}
        listed = vimec_json("schedules")["schedules"]
        self.assertEqual(list(rules), [entry["name"] for entry in listed])
        self.assertEqual(rules["zb-v"].placement, "vee")
        self.assertEqual(rules["interleaved"].chunks, (1, 64, 2))
        self.assertIn("group", rules["interleaved"].takes)
        self.assertEqual((rules["looped-bfs"].ascending, rules["forward-only"].trains), (False, False))
        self.assertTrue(all(rule.source and rule.bubble and rule.peak for rule in rules.values()))

    def test_each_is_that_of_vimec(self):
        for rule in vime.orders():
            with self.subTest(rule.name):
                order = vime.order(rule.name, ranks=4, microbatches=8)
                shape = [rule.name, "--ranks", 4, "--microbatches", 8]
                told = vimec_json("order", *shape, *options(COSTS)) if not rule.takes.count("costs") else None
                self.assertEqual(order.grid(), vimec("order", *shape))
                if told:
                    self.assertEqual(order.placement, tuple(told["placement"]))
                    time, metrics = told["unit_time"], order.measure(COSTS)
                    self.assertEqual((metrics.makespan, list(metrics.span), list(metrics.busy), list(metrics.peak)),
                                     (time["makespan"], time["span"], time["busy"], time["peak_live"]))
                    self.assertAlmostEqual(metrics.bubble, time["bubble"], places=6)
                if order.copies == order.slices == 1:
                    self.assertEqual(order.to_csv().splitlines(), vimec("order", *shape, "--format=csv").splitlines())

    def test_numbers_that_only_some_take(self):
        order = vime.order("zb-2p", 4, 8, memory=6, costs=(10, 12, 8))
        arguments = ["--ranks", 4, "--microbatches", 8, "--memory", 6, "--costs", "10,12,8"]
        self.assertEqual(order.to_csv().splitlines(), vimec("order", "zb-2p", *arguments, "--format=csv").splitlines())
        self.assertEqual(max(order.measure().peak), 6)
        self.assertTrue(any(task and task.overlaps_next for row in vime.order("eager-1f1b", 4, 8, overlap=True).rows
                            for task in row))
        self.assertEqual(vime.order("seq1f1b", 2, 4, slices=4).microbatches, 4)
        self.assertEqual(vime.order("interleaved", 4, 8, chunks=3).stages, 12)

    def test_what_they_say_of_themselves(self):
        order = vime.order("dualpipe", 4, 8)
        self.assertEqual((order.ranks, order.stages, order.microbatches, order.copies), (4, 8, 8, 2))
        self.assertEqual(repr(order), "<Order dualpipe: 8 stages on 4 ranks, 8 microbatches, 2 copies>")
        self.assertEqual(repr(vime.order("gpipe", 1, 1)), "<Order gpipe: 1 stage on 1 rank, 1 microbatch>")
        self.assertEqual(vime.order("looped-bfs", 2, 2).sums_out_of_order(), (0, 1, 2, 3))
        self.assertEqual(vime.order("zb-v", 2, 2).sums_out_of_order(), ())

    def test_no_order_of_that_name(self):
        with self.assertRaises(vime.UnknownOrder) as caught:
            vime.order("1f1c", 2, 2)
        self.assertEqual(caught.exception.nearest, "1f1b")
        self.assertIn("did you mean `1f1b`?", caught.exception.help)

    def test_numbers_that_it_cannot_take(self):
        with self.assertRaises(vime.ShapeError) as caught:
            vime.order("interleaved", ranks=4, microbatches=11)
        problem = caught.exception
        self.assertEqual((problem.number, problem.help), ("microbatches", "use 10 or 12 microbatches"))
        self.assertEqual([shape.microbatches for shape in problem.nearest], [10, 12])
        for shape in problem.nearest:
            vime.order("interleaved", shape.ranks, shape.microbatches, chunks=shape.chunks)
        for wrong in [dict(memory=2), dict(slices=2), dict(overlap=True), dict(chunks=2), dict(costs=(1, 2, 3))]:
            with self.subTest(wrong), self.assertRaises(vime.ShapeError):
                vime.order("gpipe", 2, 2, **wrong)

    def test_numbers_that_are_none(self):
        for ranks in ("4", 4.0, None, True):
            with self.subTest(ranks), self.assertRaises(TypeError):
                vime.order("gpipe", ranks, 4)
        for wrong in ((1, 1), (1, 1, 1, 1, 1), (0, 1, 1), (1, 1, 1 << 21), (1, 1, 1, -1)):
            with self.subTest(wrong), self.assertRaises(vime.Error):
                vime.order("gpipe", 2, 4).measure(wrong)
        with self.assertRaises(vime.Error):
            vime.order("gpipe", 10**30, 4)


class FromTables(unittest.TestCase):
    def test_a_text_and_a_file(self):
        order = vime.order("dualpipe-v", 4, 8)
        self.assertEqual(vime.Order.from_csv(order.to_csv()), order)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "mine.csv"
            path.write_text(order.to_csv())
            for source in (path, str(path)):
                self.assertEqual(vime.Order.from_csv(source), order)
            self.assertIn("mine.csv", repr(vime.Order.from_csv(path)))
            self.assertEqual([str(finding) for finding in vime.Order.from_csv(path).verify()], [])
        with self.assertRaisesRegex(vime.Error, "cannot read `nowhere.csv`: No such file"):
            vime.Order.from_csv("nowhere.csv")

    def test_other_notations(self):
        old = vime.Order.from_csv("0F0,0F1,0B0,0W0,0B1,0W1\n")
        self.assertTrue(old.is_old_dialect)
        self.assertEqual(old, vime.Order([[F(0, 0), F(0, 1), I(0, 0), W(0, 0), I(0, 1), W(0, 1)]]))
        family = "F0.0,F0.1,B0.1,W0.1,B0.0,W0.0\n"
        self.assertEqual(vime.Order.from_csv(family).to_csv(), "0F0,1F0,1I0,1W0,0I0,0W0\r\n")
        with self.assertRaises(vime.Error):
            vime.Order.from_csv(family, placement="wave")

    def test_transfers_and_shards(self):
        text = "0UNSHARD,0F0,0SEND_F0,0RECV_B0,0B0,0REDUCE_GRAD\n1RECV_F0,1F0,1B0,1SEND_B0\n"
        order = vime.Order.from_csv(text)
        self.assertEqual(order.verify(), [])
        self.assertEqual([str(task) for task in order.rows[0]], text.split("\n")[0].split(","))
        self.assertEqual(order.rows[0][0].microbatch, None)
        self.assertEqual(vime.Order(order.rows), order)

    def test_cells_that_say_nothing(self):
        with self.assertRaises(vime.TableError) as caught:
            vime.Order.from_csv("0F0,0Q0\n0B0,x\n")
        first, second = caught.exception.findings
        self.assertEqual((first.code, first.place.line, first.place.column, second.place.line), ("J0070", 1, 5, 2))
        self.assertIn("1 | 0F0,0Q0", str(first))


class Lowered(unittest.TestCase):
    def test_as_vimec_does(self):
        for name in ("1f1b", "interleaved", "zb-v", "dualpipe-v"):
            for shards, word in ((False, "transfers"), (True, "shards")):
                with self.subTest(name, word=word):
                    lowered = vime.order(name, 4, 8).lowered(shards=shards)
                    shape = [name, "--ranks", 4, "--microbatches", 8, "--format=csv", f"--with={word}"]
                    self.assertEqual(lowered.to_csv().splitlines(), vimec("order", *shape).splitlines())
                    self.assertEqual(lowered.verify(), [])

    def test_stands_still_nowhere(self):
        order = vime.order("interleaved", 4, 8).lowered()
        self.assertEqual(order.standstill(), ())
        # Both ranks send before they receive.
        crossed = vime.Order.from_csv("0F0,0F1,0SEND_F0,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
                                      "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1\n")
        self.assertEqual(crossed.verify(), [])
        self.assertEqual([(place.rank, str(crossed.rows[place.rank][place.cell])) for place in crossed.standstill()],
                         [(0, "0SEND_F1"), (1, "1SEND_B0")])

    def test_what_cannot_be(self):
        with self.assertRaisesRegex(vime.Error, "slices"):
            vime.order("seq1f1b", 2, 4, slices=2).lowered()
        with self.assertRaises(vime.IllegalOrder):
            vime.Order([[B(0, 0), F(0, 0)]]).lowered()


class FromRows(unittest.TestCase):
    ROWS = [[F(0, 0), F(0, 1), B(0, 0), B(0, 1)], [None, F(1, 0), B(1, 0), F(1, 1), B(1, 1)]]

    def test_are_the_order(self):
        order = vime.Order(self.ROWS)
        self.assertEqual([list(row) for row in order.rows], self.ROWS)
        self.assertEqual(order.to_csv(), "0F0,0F1,0B0,0B1\r\n,1F0,1B0,1F1,1B1\r\n")
        self.assertNotEqual(order, vime.order("1f1b", 2, 2))  # an idle slot
        self.assertEqual(vime.Order([row[row[0] is None:] for row in self.ROWS]), vime.order("1f1b", 2, 2))

    def test_are_plain_values(self):
        for order in (vime.Order(self.ROWS), vime.order("dualpipe", 2, 4), vime.order("seq1f1b", 2, 2, slices=2)):
            same = pickle.loads(pickle.dumps(order))
            self.assertEqual((same, repr(same)), (order, repr(order)))
            self.assertEqual(len({order, same, copy.deepcopy(order)}), 1)

    def test_a_whole_backward_stays_one(self):
        # As a text this would be PyTorch 2.5's notation.
        order = vime.Order([[F(0, 0), F(0, 1), I(0, 0), B(0, 1), W(0, 0)]])
        self.assertEqual(order.verify(), [])
        beside = vime.Order([[F(0, 0), B(0, 0), W(0, 0)]])
        self.assertEqual([finding.code for finding in beside.verify()], ["S0103"])

    def test_pairs(self):
        order = vime.Order([[F(0, 0), *overlap(F(0, 1), B(0, 0)), B(0, 1)]])
        self.assertEqual(order.to_csv(), "0F0,(0F1;0B0)OVERLAP_F_B,0B1\r\n")
        for wrong in ([*overlap(B(0, 0), F(0, 0))], [F(0, 0), overlap(F(0, 1), B(0, 0))[0]]):
            with self.subTest(wrong), self.assertRaisesRegex(vime.Error, "overlaps something else"):
                vime.Order([wrong])

    def test_what_no_row_can_hold(self):
        for rows in ([], [[F(-1, 0)]], [[F(1 << 20, 0)]], [[F(0, 1 << 20)]], [[F(0, 0)]] * 1025, [[F(10**20, 0)]]):
            with self.subTest(str(rows)[:40]), self.assertRaises(vime.Error):
                vime.Order(rows)
        for rows in ([["0F0"]], [[("F", 0, 0)]], [[F("0", 0)]], [[F(0, None)]], 7, [7]):
            with self.subTest(str(rows)), self.assertRaises(TypeError):
                vime.Order(rows)
        with self.assertRaises(vime.Error):
            vime.Order(self.ROWS, copies=3)
        with self.assertRaisesRegex(vime.Error, "even number of stages, not 1"):
            vime.Order([[F(0, 0), B(0, 0)]], copies=2)


class Measured(unittest.TestCase):
    def test_by_formulas(self):
        # 1F1B: p - 1 forwards and whole backwards of idle time, min(p, m) activations.
        metrics = vime.order("1f1b", ranks=4, microbatches=8).measure()
        self.assertEqual((metrics.makespan, metrics.peak), (3 * (8 + 3), (4, 3, 2, 1)))
        self.assertEqual((metrics.bounds.makespan, metrics.periods.barrier), (27, 33))  # backwards in two could be faster
        self.assertEqual(vime.order("zb-v", 4, 8).measure((1, 1, 1, 1)).costs, (1, 1, 1, 1))

    def test_as_vimec_compares(self):
        told = {entry["name"]: entry for entry in
                vimec_json("schedules", "--ranks", 4, "--microbatches", 8, *options((10, 12, 8)))["schedules"]}
        compared = vime.compare(4, 8, costs=(10, 12, 8))
        self.assertEqual([entry.name for entry in compared], list(told))
        for entry in compared:
            if entry.figures:
                self.assertAlmostEqual(entry.figures.periods.barrier, told[entry.name]["barrier"]["period"], places=3)
        one_stage = vime.order("zb-h1", 4, 8).measure((10, 12, 8))
        same = next(entry.figures for entry in compared if entry.name == "zb-h1")
        self.assertEqual((one_stage.makespan, one_stage.periods), (same.makespan, same.periods))
        self.assertAlmostEqual(one_stage.bounds.barrier_gap, same.gap.barrier)
        with self.assertRaises(vime.Error):
            vime.compare(0, 8)

    def test_starts(self):
        order = vime.Order([[F(0, 0), None, B(0, 0)], [F(1, 0), B(1, 0)]])
        self.assertEqual(order.starts(), ((0, None, 4), (1, 2)))

    def test_illegal_orders_are_not(self):
        stuck = vime.Order([[B(0, 0), F(0, 0)]])
        with self.assertRaises(vime.IllegalOrder) as caught:
            stuck.measure()
        self.assertEqual(caught.exception.findings, stuck.verify())
        self.assertIn("stuck: rank 0 stops at 0B0", stuck.grid())

    def test_a_forward_pass_alone(self):
        order = vime.order("forward-only", 3, 2)
        self.assertEqual([finding.code for finding in order.verify()], ["S0101"])
        self.assertEqual((order.measure().makespan, order.measure().bounds), (4, None))

    def test_pictures_have_an_end(self):
        with self.assertRaisesRegex(vime.Error, "cheapest tasks wide"):
            vime.order("gpipe", 1, 1).grid((1, 1 << 20, 1))


class Typed(unittest.TestCase):
    def test_everything_says_what_it_is(self):
        for name in vime.__all__:
            self.assertTrue(inspect.getdoc(getattr(vime, name)), name)
        for name, member in vars(vime.Order).items():
            if not name.startswith("_") and callable(member):
                self.assertIn("return", member.__annotations__, name)


if __name__ == "__main__":
    unittest.main()
