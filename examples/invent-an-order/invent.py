"""Invents orders, and asks whether they are legal and what they are worth."""

import vime
from vime import F, I, W


def lazy(ahead, lag, microbatches=6):
    """1F1B in which rank r runs `ahead[r]` forwards first and its weight gradients wait for `lag[r]` microbatches."""
    rows = []
    for stage, (first, owed) in enumerate(zip(ahead, lag)):
        row = [F(stage, b) for b in range(first)]
        for b in range(microbatches):
            row += [I(stage, b)] + [F(stage, b + first)] * (b + first < microbatches) + [W(stage, b - owed)] * (b >= owed)
        rows.append(row + [W(stage, b) for b in range(microbatches - owed, microbatches)])
    return vime.Order(rows)


for ahead, lag in [((3, 2, 1), (0, 0, 0)), ((3, 2, 1), (0, 1, 2)), ((5, 3, 1), (0, 1, 2)), ((1, 2, 3), (0, 0, 0))]:
    order = lazy(ahead, lag)
    print(f"\nahead {ahead}, lag {lag}:", *order.verify()[:1] or ["legal"], sep="\n")
    if not order.verify():
        print(order.grid(), order.measure(costs=(10, 12, 8)), sep="")
