"""check_table.py: whether the table of README.md names every test of this folder, and only tests that exist."""
import pathlib
import re
import sys

here = pathlib.Path(__file__).parent
root = here.parent.parent
OUTCOMES = {"refused", "repaired", "immune", "told", "cannot be", "partly", "not there", "not ours"}
SELF = {"table.test"}

rows = [
    [cell.strip() for cell in line.strip().strip("|").split(" | ")]
    for line in (here / "README.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith(("| ---", "| reported"))
]
wrong, named = [], set()
for row in rows:
    if len(row) != 5:
        wrong.append(f"not five cells: {row}")
        continue
    outcome, shown = row[2], re.findall(r"`([^`]+)`", row[4])
    if outcome not in OUTCOMES:
        wrong.append(f"{row[0]}: the outcome is `{outcome}`")
    if not shown and outcome not in {"not there", "not ours"}:
        wrong.append(f"{row[0]}: nothing shows it")
    for name in shown:
        path = root / name if "/" in name else here / name
        if not path.is_file():
            wrong.append(f"{row[0]}: there is no {name}")
        elif path.parent == here:
            named.add(path.name)
for test in sorted(path.name for path in here.glob("*.test")):
    if test not in named | SELF:
        wrong.append(f"{test} is in no row")
    first = (here / test).read_text().splitlines()[0]
    if not first.startswith("# ") or "RUN:" in first:
        wrong.append(f"{test} does not begin with the symptom")
print("\n".join(wrong))
sys.exit(1 if wrong or len(rows) < 30 else 0)
