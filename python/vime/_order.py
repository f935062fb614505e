"""An order: which rank runs which tasks, in which sequence."""

from __future__ import annotations

import os
from typing import Any, Iterable, Sequence

from . import _core
from ._errors import Error, IllegalOrder, TableError, UnknownOrder
from ._findings import Finding, Place, findings_of
from ._metrics import Metrics, metrics_of
from ._numbers import costs_of, whole
from ._rules import orders, shape_error
from ._tasks import Kind, Task

_MOST_BYTES = 64 << 20  # of a table, as `vimec` has it
_PLACEMENTS = ("", "loop", "vee")
_OF_NO_MICROBATCH = (Kind.UNSHARD, Kind.RESHARD, Kind.REDUCE_GRADIENTS)


class Order:
    """A row of tasks for each rank; `None` is an idle slot, which says nothing but where a task stands in a picture.

    Any content is allowed: `verify` says what is wrong with it. Orders are equal when their cells are.

    `copies`: the model stands on the ranks so often, one copy behind the other (of 4 stages stage 5 is stage 1 of the second
    copy), and microbatch b passes through copy b modulo their number. `slices`: microbatches are cut into so many, each a
    task of its own (of 4 slices "microbatch" 6 is slice 2 of the second).
    """

    def __init__(self, rows: Iterable[Iterable[Task | None]], *, copies: int = 1, slices: int = 1) -> None:
        cells = [[None if task is None else _cell(task) for task in row] for row in rows]
        copies, slices = whole("copies", copies), whole("slices", slices)
        if copies not in (1, 2) or not 1 <= slices <= 64:
            raise Error(f"an order has 1 or 2 copies of the model and 1 to 64 slices, not {copies} and {slices}")
        try:
            core = _core.make(cells, copies, slices)
        except ValueError as problem:
            raise Error(str(problem)) from None
        if core.stages % copies:
            raise Error(f"two copies of a model have an even number of stages, not {core.stages}")
        self._hold(core, "")

    def _hold(self, core: _core.Order, name: str) -> None:
        self._core = core
        self._name = name
        self._rows: tuple[tuple[Task | None, ...], ...] | None = None

    @classmethod
    def _of(cls, core: _core.Order, name: str) -> Order:
        order = cls.__new__(cls)
        order._hold(core, name)
        return order

    @classmethod
    def from_csv(cls, source: str | os.PathLike[str], *, placement: str = "") -> Order:
        """The order of a table: its text, or the path of a file. Notations: PyTorch's of today and of 2.5, and that of
        the zero-bubble family (`F3.1`, `[F7.0&BW3.1]`), where `placement`, `loop` or `vee`, says which stages the chunks
        of a rank are (else those under which the order finishes soonest).

        A text is told from a path by its commas and line ends. Raises `TableError` if a cell cannot be read.
        """
        if placement not in _PLACEMENTS:
            raise Error(f"placement is `loop` or `vee`, not `{placement}`")
        name = "order.csv"
        if not isinstance(source, str) or not ("," in source or "\n" in source):
            name, source = os.fspath(source), _read(source)
        if len(source) > _MOST_BYTES:
            raise Error(f"a table has at most {_MOST_BYTES >> 20} MiB")
        found = _core.read(source, placement, name)
        if isinstance(found, list):
            raise TableError(findings_of(found))
        return cls._of(found, "" if name == "order.csv" else name)

    @property
    def name(self) -> str:
        """Of the rule or file that it comes from; empty for an order of one's own."""
        return self._name

    @property
    def rows(self) -> tuple[tuple[Task | None, ...], ...]:
        """The cells of each rank."""
        if self._rows is None:
            self._rows = tuple(tuple(cell and Task(Kind(cell[0]), *cell[1:]) for cell in row) for row in self._core.rows())
        return self._rows

    @property
    def placement(self) -> tuple[int, ...]:
        """The rank of each stage; -1: it stands nowhere."""
        return self._core.placement()

    @property
    def ranks(self) -> int:
        return self._core.ranks

    @property
    def stages(self) -> int:
        """Of all copies."""
        return self._core.stages

    @property
    def microbatches(self) -> int:
        """Of a step, whole ones."""
        return -(-self._core.microbatches // self.slices)

    @property
    def copies(self) -> int:
        return self._core.copies

    @property
    def slices(self) -> int:
        return self._core.slices

    @property
    def is_old_dialect(self) -> bool:
        """Whether its table was read as PyTorch 2.5 wrote it: `B` is the input gradient, since `W` stands without `I`."""
        return self._core.is_old

    def verify(self) -> list[Finding]:
        """Every independent way in which the order breaks a rule, a few of each kind; empty: it is legal.

        This is what its cells say; `vimec verify order.csv` also makes a plan of them and proves that.
        """
        return findings_of(self._core.verify(self._name if self._name.endswith(".csv") else "order.csv"))

    def standstill(self) -> tuple[Place, ...]:
        """Where ranks would wait for each other for ever, a cell of each, if a table with transfers were run as it is
        written, every send until it is received; empty: it would finish. Plans order transfers anew and never do this."""
        self._refuse(self.verify())
        return tuple(Place(**place) for place in self._core.standstill())

    def sums_out_of_order(self) -> tuple[int, ...]:
        """Stages whose weight gradients do not add up in ascending microbatch: legal, but the same sums are rounded
        differently from those of orders that do."""
        return self._core.sums_out_of_order()

    def measure(self, costs: Sequence[int] = (1, 1, 1)) -> Metrics:
        """What the order is worth if a stage's forward, input gradient and weight gradient of a microbatch, and maybe a
        transfer between ranks, cost so much. Raises `IllegalOrder` where it cannot finish or has not the tasks of a step."""
        stated = costs_of(costs)
        self._refuse(self.verify())
        return metrics_of(stated, self._core.measure(stated))

    def starts(self, costs: Sequence[int] = (1, 1, 1)) -> tuple[tuple[int | None, ...], ...]:
        """When each task of each rank starts on the clock of the costs: idle slots and what never starts are None."""
        return self._core.starts(costs_of(costs))

    def grid(self, costs: Sequence[int] = (1, 1, 1)) -> str:
        """The picture of the papers: every task stands at its start and is as wide as its cost. A last line says where an
        order gets stuck."""
        try:
            return self._core.grid(costs_of(costs))
        except ValueError as problem:
            raise Error(str(problem)) from None

    def to_csv(self) -> str:
        """The table in PyTorch's notation: what `Order.from_csv`, `vimec verify` and jobs (`schedule: mine.csv`) read."""
        reason = self._core.beyond_torch()
        if reason:
            raise Error(f"PyTorch's notation cannot express it: {reason}")
        return self._core.csv()

    def lowered(self, *, shards: bool = False) -> Order:
        """What PyTorch's lowering makes of it before it runs it: the order with its transfers, and, where parameters are
        sharded, with gathering and dropping them by a window of three stages and with the reductions of gradients."""
        self.to_csv()
        self._refuse(self.verify())
        return Order._of(self._core.lowered(shards), self._name)

    def _refuse(self, findings: list[Finding]) -> None:
        """But for a forward pass alone, which can be measured though nobody can train with it."""
        if findings and not (self._runs_forward_alone() and len(findings) == 1 and self._core.stuck() is None):
            raise IllegalOrder(findings)

    def _runs_forward_alone(self) -> bool:
        return all(task is None or task.kind is Kind.FORWARD for row in self.rows for task in row)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Order):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def _content(self) -> tuple[str, int, int]:
        return self._core.csv(), self.copies, self.slices

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.rows, self.copies, self.slices, self._name)

    def __str__(self) -> str:
        return self.grid()

    def __repr__(self) -> str:
        def counted(number: int, noun: str, plural: str = "s") -> str:
            return f"{number} {noun}{'' if number == 1 else plural}"

        extras = (", 2 copies" if self.copies > 1 else "") + (f", {self.slices} slices" if self.slices > 1 else "")
        return (f"<Order {self._name + ': ' if self._name else ''}{counted(self.stages, 'stage')} on "
                f"{counted(self.ranks, 'rank')}, {counted(self.microbatches, 'microbatch', 'es')}{extras}>")


def _again(rows: tuple[tuple[Task | None, ...], ...], copies: int, slices: int, name: str) -> Order:
    same = Order(rows, copies=copies, slices=slices)
    same._name = name
    return same


def order(name: str, ranks: int, microbatches: int, *, chunks: int | None = None, group: int | None = None,
          memory: int | None = None, slices: int | None = None, overlap: bool = False,
          costs: Sequence[int] | None = None) -> Order:
    """The order of that name; `orders` lists them and says which numbers each has a use for. What is left out is left to it.

    chunks      stages per rank
    group       microbatches in a row on one chunk
    memory      most activations, each of a stage and a microbatch, alive on a rank
    slices      parts that the sequence of a microbatch is cut into
    overlap     pair forwards with backwards that may overlap them
    costs       what it is made for, where it is searched: a forward, an input gradient, a weight gradient, a transfer

    Raises `UnknownOrder`, or `ShapeError` with the nearest numbers that the order takes.
    """
    if not isinstance(name, str):
        raise TypeError(f"an order is named by a text, not {name!r}")
    found = _core.build(
        name, whole("ranks", ranks), whole("microbatches", microbatches),
        None if chunks is None else whole("chunks", chunks), 0 if group is None else whole("group", group),
        0 if memory is None else whole("memory", memory), 1 if slices is None else whole("slices", slices), bool(overlap),
        None if costs is None else costs_of(costs))
    if found is None:
        nearest = _core.nearest_name(name)
        known = "known are " + ", ".join(rule.name for rule in orders())
        raise UnknownOrder(f"unknown order `{name}`", f"did you mean `{nearest}`? {known}" if nearest else known, nearest)
    if isinstance(found, dict):
        raise shape_error(found)
    return Order._of(found, name)


def _cell(task: Task) -> tuple[str, int, int | None, bool]:
    if not isinstance(task, Task):
        raise TypeError(f"a row holds tasks, as F(0, 1), and None for idle slots, not {task!r}")
    try:
        kind = Kind(task.kind)
    except ValueError:
        raise Error(f"`{task.kind}` is no kind of task", f"kinds are {', '.join(Kind)}") from None
    microbatch = task.microbatch
    if kind not in _OF_NO_MICROBATCH:
        microbatch = whole("a microbatch", microbatch)
    return kind.value, whole("a stage", task.stage), microbatch, bool(task.overlaps_next)


def _read(path: str | os.PathLike[str]) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            return file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as problem:
        raise Error(f"cannot read `{os.fspath(path)}`: {getattr(problem, 'strerror', None) or problem}") from None
