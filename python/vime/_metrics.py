"""What an order is worth on the clock of its costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Periods:
    """What a step costs when one follows the other: with a barrier at the optimizer, or post-validated, where a rank
    begins as soon as it has stepped its own weights."""

    barrier: float
    post_validated: float


@dataclass(frozen=True)
class Bounds:
    """What no order of these stages on these ranks, with as much memory, can undercut, by the bound that binds (L1 start,
    L2 warm-up, L3 lifetimes, L4 drain), and how far the order is above it: 0.02 is 2 %.

    `link` is that of the busiest link in one direction, if it carried one message at a time; the clock lets messages share it.
    """

    makespan: int
    span: int
    link: int
    makespan_binds: str
    span_binds: str
    makespan_gap: float
    barrier_gap: float
    post_validated_gap: float


@dataclass(frozen=True)
class Metrics:
    """Times are in the unit of the costs.

    makespan    from the first start to the last end of one step
    span        of each rank, from its first start to its last end
    busy        of each rank
    bubble      idle part of ranks x makespan, 0 to 1
    peak        of each rank, most activations (a stage's of a microbatch) alive at once
    bounds      None for an order that runs forwards alone: the bounds are those of training
    """

    costs: tuple[int, int, int, int]
    makespan: int
    span: tuple[int, ...]
    busy: tuple[int, ...]
    bubble: float
    peak: tuple[int, ...]
    periods: Periods
    bounds: Bounds | None

    def __str__(self) -> str:
        lines = [
            f"makespan {self.makespan}, bubble {self.bubble:.1%}, activations alive {' '.join(map(str, self.peak))}",
            f"a step costs {self.periods.barrier:g} with a barrier, {self.periods.post_validated:g} post-validated",
        ]
        if self.bounds:
            lines.append(f"bounds: makespan {self.bounds.makespan} ({self.bounds.makespan_binds}), "
                         f"{self.bounds.barrier_gap:+.1%}; span {self.bounds.span} ({self.bounds.span_binds}), "
                         f"{self.bounds.post_validated_gap:+.1%}")
        return "\n".join(lines)


def metrics_of(costs: tuple[int, int, int, int], record: dict[str, Any]) -> Metrics:
    bounds = record["bounds"] and Bounds(**record["bounds"])
    return Metrics(costs=costs, **{**record, "periods": Periods(**record["periods"]), "bounds": bounds})
