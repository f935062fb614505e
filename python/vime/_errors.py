"""What is wrong with a question: each error says what would be right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._findings import Finding


@dataclass(frozen=True)
class Shape:
    """The numbers an order is built for; 0 and False: left to the order."""

    ranks: int
    microbatches: int
    chunks: int = 1
    group: int = 0
    memory: int = 0
    slices: int = 1
    overlap: bool = False


class Error(ValueError):
    """Of everything that this package refuses. `message` is the fact, `help` the remedy, or empty."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message + (f"; {help}" if help else ""))
        self.message = message
        self.help = help


class UnknownOrder(Error):
    """There is no order of that name. `nearest` is the one that it looks like, or None."""

    def __init__(self, message: str, help: str, nearest: str | None) -> None:
        super().__init__(message, help)
        self.nearest = nearest


class ShapeError(Error):
    """An order cannot be built for these numbers: `number` is the first wrong one, `nearest` are the shapes
    around it that the order takes."""

    def __init__(self, message: str, help: str, number: str, nearest: tuple[Shape, ...]) -> None:
        super().__init__(message, help)
        self.number = number
        self.nearest = nearest


class TableError(Error):
    """A table has cells that say nothing; `findings` are all of them."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("the table cannot be read\n" + "\n".join(str(finding) for finding in findings))
        self.findings = findings


class IllegalOrder(Error):
    """An order must be legal to be measured or lowered; `findings` are why it is not."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("the order is not legal\n" + "\n".join(str(finding) for finding in findings))
        self.findings = findings
