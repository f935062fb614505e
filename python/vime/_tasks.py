"""What stands in the cells of an order."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace


class Kind(str, enum.Enum):
    """What a cell asks for, as PyTorch's notation writes it."""

    FORWARD = "F"
    BACKWARD = "B"
    BACKWARD_INPUT = "I"
    BACKWARD_WEIGHT = "W"
    SEND_FORWARD = "SEND_F"
    RECEIVE_FORWARD = "RECV_F"
    SEND_BACKWARD = "SEND_B"
    RECEIVE_BACKWARD = "RECV_B"
    UNSHARD = "UNSHARD"
    RESHARD = "RESHARD"
    REDUCE_GRADIENTS = "REDUCE_GRAD"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Task:
    """One cell: a stage does this for a microbatch. `UNSHARD`, `RESHARD` and `REDUCE_GRAD` are of no microbatch.

    `overlaps_next`: a forward that may run at the same time as the backward behind it; see `overlap`.
    """

    kind: Kind
    stage: int
    microbatch: int | None
    overlaps_next: bool = False

    def __str__(self) -> str:
        return f"{self.stage}{self.kind}{'' if self.microbatch is None else self.microbatch}"


def F(stage: int, microbatch: int) -> Task:
    """A forward."""
    return Task(Kind.FORWARD, stage, microbatch)


def B(stage: int, microbatch: int) -> Task:
    """A whole backward: of the input and of the weights."""
    return Task(Kind.BACKWARD, stage, microbatch)


def I(stage: int, microbatch: int) -> Task:  # noqa: E743
    """The input gradient, which the stage before waits for."""
    return Task(Kind.BACKWARD_INPUT, stage, microbatch)


def W(stage: int, microbatch: int) -> Task:
    """The weight gradient, which nobody waits for."""
    return Task(Kind.BACKWARD_WEIGHT, stage, microbatch)


def overlap(forward: Task, backward: Task) -> tuple[Task, Task]:
    """A forward and a backward that may run at the same time; a row takes both: `[..., *overlap(F(2, 1), B(3, 0)), ...]`."""
    return replace(forward, overlaps_next=True), backward
