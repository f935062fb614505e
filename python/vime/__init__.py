"""Orders of pipeline training: build them, bring them from a table, judge them, measure them.

    >>> import vime
    >>> order = vime.order("zb-v", ranks=4, microbatches=8)
    >>> order.verify()                     # what is wrong with it
    []
    >>> order.measure(costs=(10, 12, 8)).makespan
    510
    >>> print(order.grid())                # the picture of the papers

An order of one's own is a row of tasks for each rank:

    >>> from vime import B, F
    >>> mine = vime.Order([[F(0, 0), F(0, 1), B(0, 0), B(0, 1)], [F(1, 0), B(1, 0), F(1, 1), B(1, 1)]])
    >>> mine == vime.order("1f1b", ranks=2, microbatches=2)
    True

What judges and measures here is what `vimec verify order.csv` and `vimec order` use, not a copy.
"""

from ._errors import Error, IllegalOrder, Shape, ShapeError, TableError, UnknownOrder
from ._findings import Finding, Note, Place
from ._metrics import Bounds, Metrics, Periods
from ._order import Order, order
from ._rules import Compared, Figures, Rule, compare, orders
from ._tasks import B, F, I, Kind, Task, W, overlap

__all__ = [
    "B", "Bounds", "Compared", "Error", "F", "Figures", "Finding", "I", "IllegalOrder", "Kind", "Metrics", "Note", "Order",
    "Periods", "Place", "Rule", "Shape", "ShapeError", "TableError", "Task", "UnknownOrder", "W", "compare", "order",
    "orders", "overlap",
]
