"""Numbers from outside, before they reach C++."""

from __future__ import annotations

import operator
from typing import Any, Sequence

from ._errors import Error

MOST = 2**31 - 1
MOST_COST = 2**20  # of a task, as the command line has it


def whole(name: str, value: Any) -> int:
    """The value as an integer that C++ can hold."""
    if isinstance(value, bool):
        raise TypeError(f"{name} is a whole number, not {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {value!r}") from None
    if abs(number) > MOST:
        raise Error(f"{name} is at most {MOST}, not {number}")
    return number


def costs_of(costs: Sequence[int]) -> tuple[int, int, int, int]:
    """Of a forward, an input gradient, a weight gradient and, if it is stated, a transfer."""
    try:
        numbers = [whole("a cost", cost) for cost in costs]
    except TypeError as problem:
        raise TypeError(f"costs: {problem}") from None
    if len(numbers) == 3:
        numbers.append(0)
    if len(numbers) != 4 or not all(1 <= cost <= MOST_COST for cost in numbers[:3]) or not 0 <= numbers[3] <= MOST_COST:
        raise Error(f"costs are those of a forward, an input gradient and a weight gradient, 1 to {MOST_COST} each, and "
                    f"maybe of a transfer, from 0, not {tuple(costs)!r}", "write costs=(10, 12, 8)")
    return numbers[0], numbers[1], numbers[2], numbers[3]
