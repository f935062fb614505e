"""The orders that are known by name, and what they are worth at equal work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

from . import _core
from ._errors import Error, Shape, ShapeError
from ._metrics import Periods
from ._numbers import costs_of, whole


@dataclass(frozen=True)
class Rule:
    """The rule of an order.

    placement   linear, loop, vee, wave, both ways
    chunks      stages per rank: least, most, and what is taken when nobody asks
    takes       numbers that it has a use for beside ranks, microbatches and chunks
    trains      every stage and microbatch has a backward
    ascending   every stage adds its gradients up in ascending microbatch
    needs       what it refuses, in words
    bubble      formula of the idle time per rank; F, B (or I and W) of all v chunks of a rank
    peak        formula of the activations alive on the fullest rank
    source      where it comes from
    """

    name: str
    summary: str
    placement: str
    chunks: tuple[int, int, int]
    takes: tuple[str, ...]
    trains: bool
    ascending: bool
    needs: str
    bubble: str
    peak: str
    source: str


@dataclass(frozen=True)
class Figures:
    """Of an order whose ranks have the same share of the model as all others; times are in the unit of the costs, `peak` in
    what a rank's whole share keeps of a microbatch. `jitter`: by which part the periods grow if tasks take up to 10 % more
    or less; `gap`: how far they are above their bounds."""

    makespan: float
    span: float
    periods: Periods
    jitter: Periods
    bubble: float
    peak: float
    copies: int
    gap: Periods


@dataclass(frozen=True)
class Compared:
    """An order among others; `figures` is None where it cannot be built for the shape, and `problem` says why."""

    name: str
    shape: Shape
    exceeds_memory: bool
    problem: ShapeError | None
    figures: Figures | None


def orders() -> list[Rule]:
    """All orders that `order` builds."""
    return [Rule(**record) for record in _core.rules()]


def shape_error(record: dict[str, Any]) -> ShapeError:
    nearest = tuple(Shape(**shape) for shape in record["nearest"])
    return ShapeError(record["message"], record["help"], record["number"], nearest)


def compare(ranks: int, microbatches: int, *, costs: Sequence[int] = (1, 1, 1), chunks: int | None = None,
            memory: int | None = None) -> list[Compared]:
    """Every order for the same work, by its period with a barrier; the costs are those of a rank's whole share of the model.

    `memory`: most activations on a rank, each a microbatch of its whole share; orders that take one are made for it, those
    that keep more stand behind the others.
    """
    numbers = {"ranks": whole("ranks", ranks), "microbatches": whole("microbatches", microbatches)}
    if chunks is not None:
        numbers["chunks"] = whole("chunks", chunks)
    if memory is not None:
        numbers["memory"] = whole("memory", memory)
    for name, number in numbers.items():
        if not 1 <= number <= _LIMITS[name]:
            raise Error(f"{name} are 1 to {_LIMITS[name]}, not {number}")
    return [_compared(record) for record in _core.compare(numbers["ranks"], numbers["microbatches"], costs_of(costs),
                                                          numbers.get("chunks"), numbers.get("memory"))]


_LIMITS = {"ranks": 1024, "microbatches": 1 << 20, "chunks": 64, "memory": 1 << 16}


def _compared(record: dict[str, Any]) -> Compared:
    figures = record["figures"]
    if figures:
        figures = Figures(**{**figures, **{name: Periods(**figures[name]) for name in ("periods", "jitter", "gap")}})
    problem = record["problem"] and shape_error(record["problem"])
    return Compared(record["name"], Shape(**record["shape"]), record["exceeds_memory"], problem, figures)
