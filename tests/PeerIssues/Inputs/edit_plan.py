"""edit_plan.py swap|repeat PROGRAM ONE OTHER: a plan's text from standard input, edited, on standard output.

ONE and OTHER are actions of a program, named as the text's comments do. `swap` dispatches each in the other's place;
`repeat` makes OTHER do what ONE does. Places keep their times.
"""
import re
import sys

verb, program, one, other = sys.argv[1:]
lines = sys.stdin.read().split("\n")
begin = lines.index(f"program {program}")


def find(words):
    found = [n for n, line in enumerate(lines) if n > begin and line.endswith(f" # {words}")]
    if not found:
        sys.exit(f"program {program} has no `{words}`")
    return found[0]


PLACE = re.compile(r"^(?P<place>action \d+ )(?P<what>\S+ lane \d+ )(?P<time>time \S+ )(?P<rest>.*)$")


def does(place, what):
    """What `what` does, in the place and at the time of `place`."""
    at, source = PLACE.match(place), PLACE.match(what)
    return at["place"] + source["what"] + at["time"] + source["rest"]


def pool(line):
    """The operands that nobody names any more, as entries of the pool."""
    words = line.split(" # ")[0].split(" operands ")[1].split() if " operands " in line else []
    return [f"pool {int(words[0]) + n} {buffer}" for n, buffer in enumerate(words[2::2])]


first, second = find(one), find(other)
before, after = lines[first], lines[second]
lines[second] = does(after, before)
if verb == "swap":
    lines[first] = does(before, after)
else:
    lines[second + 1 : second + 1] = pool(after)
print("\n".join(lines), end="")
