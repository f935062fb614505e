"""What the judge says of an order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Place:
    """A cell: `cell` counts in `Order.rows[rank]` from 0, line and column in the text of the order from 1."""

    rank: int | None
    cell: int | None
    line: int
    column: int
    length: int


@dataclass(frozen=True)
class Note:
    """What else belongs to a finding; `place` is None where it is of no cell."""

    text: str
    place: Place | None


@dataclass(frozen=True)
class Finding:
    """One way in which an order breaks a rule. `str` of it is what `vimec verify` prints, with the row and a caret.

    `code` is stable (`vimec explain C0207` says more); `rule` is its label in the list of rules, `C2`.
    """

    code: str
    rule: str
    message: str
    place: Place
    label: str
    notes: tuple[Note, ...]
    help: str
    rendered: str = field(repr=False, compare=False)

    def __str__(self) -> str:
        return self.rendered

    @property
    def rank(self) -> int | None:
        """The rank of the cell, or None where the table cannot be read."""
        return self.place.rank

    @property
    def cell(self) -> int | None:
        """The number of the cell in `Order.rows[rank]`, or None where the table cannot be read."""
        return self.place.cell


def findings_of(records: list[dict[str, Any]]) -> list[Finding]:
    return [_finding(record) for record in records]


def _finding(record: dict[str, Any]) -> Finding:
    notes = tuple(Note(note["text"], note["place"] and Place(**note["place"])) for note in record["notes"])
    return Finding(**{**record, "place": Place(**record["place"]), "notes": notes})
