"""A line of the table: ours beside a peer's or a bound."""

import dataclasses
import statistics
import typing

from measure import spread


@dataclasses.dataclass
class Line:
    name: str
    ours: str
    other: str = ""
    ratio: typing.Optional[float] = None
    target: typing.Optional[float] = None  # of the ratio, or of `measured` where there is none
    measured: typing.Optional[float] = None

    @property
    def value(self):
        return self.measured if self.ratio is None else self.ratio


def against(name, ours, theirs, unit, digits, target):
    """Ours against the peer's, each a list of rounds in the same unit."""
    ratio = statistics.median(ours) / statistics.median(theirs)
    return Line(name, spread(ours, unit, digits), spread(theirs, unit, digits), ratio, target)
