"""examples/invent-an-order runs, and says what its README says."""

import subprocess
import sys
import unittest

from tree import ROOT


class Example(unittest.TestCase):
    def test_it_prints_verdicts_and_pictures(self):
        script = ROOT / "examples" / "invent-an-order" / "invent.py"
        done = subprocess.run([sys.executable, "-B", script], capture_output=True, text=True, check=True)
        lines = done.stdout.splitlines()
        self.assertEqual(lines.count("legal"), 3)
        self.assertIn("rank 2  .  .  F0 I0 F1 I1 F2 I2 F3 W0 I3 F4 W1 I4 F5 W2 I5 W3 W4 W5", lines)
        self.assertIn("makespan 208, bubble 13.5%, activations alive 4 4 4", lines)
        self.assertIn("error[C0207]: `0I0` can never run: 2 ranks wait for each other in a circle", lines)
        self.assertLessEqual(len(script.read_text().splitlines()), 25)


if __name__ == "__main__":
    unittest.main()
