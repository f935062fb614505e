"""Judges that the memory of a simulated step is that of the plan: same_peaks.py SIMULATED.json MEMORY.json

At least one rank has an arena, and its peak is the most that is alive at any time of the step.
"""

import json
import sys

simulated, memory = (json.load(open(path)) for path in sys.argv[1:])
peaks = {rank: {tier["tier"]: (tier["peak_bytes"], tier["peak_action"]) for tier in alike["tiers"]}
         for alike in memory["alike"] for rank in alike["ranks"]}
seen = 0
for rank in simulated["ranks"]:
    for tier in rank["memory"]:
        peak, action = peaks[rank["rank"]][tier["tier"]]
        assert (tier["peak_bytes"], tier["peak_action"]) == (peak, action), (rank["rank"], tier, peak, action)
        assert max(size for _, size in tier["alive_bytes"]) == peak, (rank["rank"], tier["tier"])
        times = [time for time, _ in tier["alive_bytes"]]
        assert times == sorted(times), rank["rank"]
        seen += 1
assert seen > 0
