// ---- drawing: only what is seen, never two bars into one pixel -----------------------------------------------------
const view = {from: 0, to: 1, top: 0, pinned: null, hovered: null, path: false, arrows: true, bubbles: false, memory: true,
              hidden: new Set()};
const HEIGHTS = {compute: 24, thin: 5, memory: 18, gap: 9, title: 22};
const LEFT = 74;

// Okabe and Ito's palette, told apart by all eyes; the second chunk of a rank is lighter.
const COLOURS = {F: "#0072b2", B: "#e69f00", I: "#d55e00", W: "#009e73", "": "#cc79a7"};
const LANE_COLOURS = ["#cc79a7", "#56b4e9", "#3b8fc4", "#999999", "#b0a565"];
const IDLE_COLOURS = {warmUp: "#7a8794", dependence: "#c7a600", communication: "#56b4e9", imbalance: "#a05195", coolDown: "#a9b4bf", otherRole: "#dcd0ff"};
// What stands in front of the pipeline where a round begins: weights come, responses are generated, and scored.
const ROLLOUT_COLOURS = {generate: "#f0e442", score: "#882255", score_evaluation: "#882255"};
for (const name of ["pause", "flush", "broadcast_weights", "install", "publish", "resume"]) ROLLOUT_COLOURS[name] = "#332288";
function lighter(colour, share) {
  const parts = [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
  return `rgb(${parts.map(part => Math.round(part + (255 - part) * share)).join(" ")})`;
}
const shades = new Map();
function colourOf(run, bar) {
  const lane = run.laneOf(bar), own = ROLLOUT_COLOURS[run.kinds[run.kindOf(bar)].name];
  if (own) return own;
  if (lane !== COMPUTE) return LANE_COLOURS[lane];
  const letter = run.kinds[run.kindOf(bar)].letter;
  const chunk = run.rows[run.rowOf[bar]].chunk.get(run.stage[bar]) || 0;
  const key = letter + chunk;
  if (!shades.has(key)) shades.set(key, chunk === 0 ? COLOURS[letter] : lighter(COLOURS[letter], Math.min(.28 * chunk, .7)));
  return shades.get(key);
}
const theme = new Map(); // asked once; emptied when light becomes dark
function css(name) {
  if (!theme.has(name)) theme.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return theme.get(name);
}

// Where rows lie, in pixels from the top of all of them.
function layOut(runs) {
  let y = 0;
  for (const run of runs) {
    run.y = y;
    y += runs.length > 1 || run.problems.length ? HEIGHTS.title : 6;
    run.rows.forEach(row => {
      row.y = y;
      row.laneY = [];
      let at = y;
      row.lanes.forEach((bars, lane) => {
        row.laneY.push(at);
        if (lane === COMPUTE) at += HEIGHTS.compute;
        else if (bars.length) at += HEIGHTS.thin + 1;
      });
      row.memoryY = at + 2;
      if (view.memory && row.time.length) at += HEIGHTS.memory + 2;
      y = at + HEIGHTS.gap;
      row.bottom = at;
    });
  }
  return y;
}

// The first bar of a lane that ends behind a time; bars of a lane may overlap a little on links.
function firstFrom(ends, bars, time) {
  let low = 0, high = bars.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[bars[middle]] < time) low = middle + 1; else high = middle;
  }
  return low;
}

// Draws through a small interface, so that the same code makes a picture and a drawing.
class CanvasPen {
  constructor(context) { this.context = context; }
  rectangle(x, y, width, height, colour) { this.context.fillStyle = colour; this.context.fillRect(x, y, width, height); }
  frame(x, y, width, height, colour, thick) {
    this.context.strokeStyle = colour; this.context.lineWidth = thick;
    this.context.strokeRect(x, y, width, height);
  }
  text(x, y, text, colour, size = 11, anchor = "left", bold = false) {
    this.context.font = `${bold ? "600 " : ""}${size}px system-ui, "DejaVu Sans", sans-serif`;
    this.context.textAlign = anchor; this.context.textBaseline = "middle"; this.context.fillStyle = colour;
    this.context.fillText(text, x, y);
  }
  line(points, colour, thick, dash = []) {
    const {context} = this;
    context.strokeStyle = colour; context.lineWidth = thick; context.setLineDash(dash);
    context.beginPath();
    points.forEach(([x, y], at) => at ? context.lineTo(x, y) : context.moveTo(x, y));
    context.stroke(); context.setLineDash([]);
  }
}
class SvgPen {
  constructor() { this.parts = []; }
  rectangle(x, y, width, height, colour) { this.parts.push(`<rect x="${x.toFixed(2)}" y="${y.toFixed(2)}" width="${width.toFixed(2)}" height="${height.toFixed(2)}" fill="${colour}"/>`); }
  frame(x, y, width, height, colour, thick) { this.parts.push(`<rect x="${x.toFixed(2)}" y="${y.toFixed(2)}" width="${width.toFixed(2)}" height="${height.toFixed(2)}" fill="none" stroke="${colour}" stroke-width="${thick}"/>`); }
  text(x, y, text, colour, size = 11, anchor = "left", bold = false) {
    const safe = text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
    this.parts.push(`<text x="${x.toFixed(2)}" y="${(y + size * .36).toFixed(2)}" font-size="${size}" fill="${colour}" text-anchor="${{left: "start", center: "middle", right: "end"}[anchor]}"${bold ? ' font-weight="600"' : ""}>${safe}</text>`);
  }
  line(points, colour, thick, dash = []) { this.parts.push(`<polyline points="${points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join(" ")}" fill="none" stroke="${colour}" stroke-width="${thick}"${dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""}/>`); }
}

function inkOn(colour) { // black or white letters
  const parts = colour.startsWith("#") ? [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16)) : colour.match(/\d+/g).map(Number);
  return .299 * parts[0] + .587 * parts[1] + .114 * parts[2] > 150 ? "#111111" : "#ffffff";
}

function drawLane(pen, run, row, lane, scale, width, top) {
  const bars = row.lanes[lane], y = row.laneY[lane] - top;
  const height = lane === COMPUTE ? HEIGHTS.compute : HEIGHTS.thin;
  let at = firstFrom(run.end, bars, view.from), pixel = -1;
  while (at < bars.length && run.begin[bars[at]] <= view.to) {
    const bar = bars[at];
    const x = LEFT + (run.begin[bar] - view.from) * scale, right = LEFT + (run.end[bar] - view.from) * scale;
    if (right < pixel + .75 && !run.isWrong[bar]) { // in a pixel that has its colour: on to the first bar beyond it
      const beyond = firstFrom(run.end, bars, view.from + (pixel + .75 - LEFT) / scale);
      at = Math.max(at + 1, beyond);
      continue;
    }
    ++at;
    if (view.hidden.has(run.kinds[run.kindOf(bar)].name)) continue;
    const left = Math.max(x, LEFT), wide = Math.min(right, width) - left;
    const drawn = Math.max(wide - (wide > 4 ? 1 : 0), .75);
    const colour = run.isWrong[bar] ? css("--alarm") : colourOf(run, bar);
    pen.rectangle(left, y, drawn, height, view.path && !run.onPath[bar] ? (darkTheme() ? "#39414b" : "#dfe3e8") : colour);
    pixel = right;
    if (lane === COMPUTE) {
      const kind = run.kinds[run.kindOf(bar)];
      if (kind.letter === "W" && wide > 5) // a second sign beside the colour
        pen.line([[left, y + height - 2], [left + drawn, y + height - 2]], inkOn(colour), 1.5, [2, 2]);
      const text = kind.letter ? (run.hasChunks ? labelOf(run, bar) : `${kind.letter}${run.microbatch[bar]}`) : kind.name.replace("_", " ");
      if (wide > text.length * 6.6 + 4) pen.text(left + drawn / 2, y + height / 2, text, view.path && !run.onPath[bar] ? css("--soft") : inkOn(colour), 11, "center");
    }
  }
}

// Idle time of the compute lane: hatched, or in the colour of its cause.
function drawIdle(pen, run, row, scale, width, top) {
  const y = row.laneY[COMPUTE] - top, bars = row.lanes[COMPUTE], height = HEIGHTS.compute;
  let free = 0;
  let at = firstFrom(run.end, bars, view.from);
  if (at > 0) free = run.end[bars[--at]];
  const gap = (from, to, behind) => {
    const x = LEFT + (from - view.from) * scale, right = LEFT + (to - view.from) * scale;
    if (right < LEFT || x > width || right - x < 1.5) return;
    const left = Math.max(x, LEFT), wide = Math.min(right, width) - left;
    if (!view.bubbles) {
      pen.rectangle(left, y + height / 2 - .5, wide, 1, css("--hatch"));
      return;
    }
    if (row.engine || to <= Math.min(run.trains, row.firstTask)) return pen.rectangle(left, y + 4, wide, height - 8, IDLE_COLOURS.otherRole);
    if (to <= row.firstTask) return pen.rectangle(left, y + 4, wide, height - 8, IDLE_COLOURS.warmUp);
    if (from >= row.lastTask) return pen.rectangle(left, y + 4, wide, height - 8, IDLE_COLOURS.coolDown);
    let moved = 0; // what was on its way when the rank had nothing else
    for (const other of leadersOf(run, behind)) {
      const lane = run.laneOf(other);
      if (lane !== COMPUTE && run.end[other] > from && run.end[other] <= to) moved = Math.max(moved, Math.min(to - from, run.end[other] - run.ready[other]));
    }
    const split = right - moved * scale;
    if (split > left) pen.rectangle(left, y + 4, Math.min(split, width) - left, height - 8, IDLE_COLOURS.dependence);
    if (moved > 0) pen.rectangle(Math.max(split, LEFT), y + 4, Math.max(Math.min(right, width) - Math.max(split, LEFT), 0), height - 8, IDLE_COLOURS.communication);
  };
  const least = 1.5 / scale;
  for (; at < bars.length; ++at) {
    const bar = bars[at];
    if (run.isWrong[bar]) continue;
    if (run.begin[bar] > free + least) gap(free, run.begin[bar], bar);
    free = Math.max(free, run.end[bar]);
    if (free > view.to) return;
  }
  if (run.period > free) gap(free, run.period, -1);
}

function drawMemory(pen, run, row, scale, width, top) {
  if (!view.memory || !row.time.length) return;
  const y = row.memoryY - top, height = HEIGHTS.memory;
  const most = Math.max(run.most, row.limit ? Math.min(row.limit / 1024, run.most * 1.25) : 0);
  let low = 0, high = row.time.length;
  while (low < high) { const middle = (low + high) >> 1; if (row.time[middle] <= view.from) low = middle + 1; else high = middle; }
  let at = Math.max(low - 1, 0), column = -1, tall = 0, start = LEFT;
  const fill = darkTheme() ? "#4b5b6b" : "#c9d6e2";
  const flush = right => { if (tall > 0 && right > start) pen.rectangle(start, y + height - tall, right - start, tall, fill); };
  for (; at < row.time.length && row.time[at] <= view.to; ++at) {
    const x = Math.max(LEFT + (row.time[at] - view.from) * scale, LEFT);
    const here = row.kib[at] / most * height;
    if (Math.floor(x) === column) { tall = Math.max(tall, here); continue; }
    flush(x); start = x; column = Math.floor(x); tall = here;
  }
  flush(Math.min(width, LEFT + (run.last - view.from) * scale));
  if (row.limit && row.limit / 1024 <= most) {
    const limit = y + height - row.limit / 1024 / most * height;
    pen.line([[LEFT, limit], [width, limit]], css("--alarm"), 1, [4, 3]);
  }
  const x = LEFT + (row.time[row.peak] - view.from) * scale;
  if (x >= LEFT && x <= width) pen.line([[x, y], [x, y + height]], css("--text"), 1);
}

function middleOf(run, bar, scale, top) {
  const row = run.rows[run.rowOf[bar]], lane = run.laneOf(bar);
  const height = lane === COMPUTE ? HEIGHTS.compute : HEIGHTS.thin;
  return {x: LEFT + (run.begin[bar] - view.from) * scale, right: LEFT + (run.end[bar] - view.from) * scale,
          y: row.laneY[lane] - top + height / 2, top: row.laneY[lane] - top, height};
}

function drawArrow(pen, run, from, to, colour, scale, top) {
  const one = middleOf(run, from, scale, top), other = middleOf(run, to, scale, top);
  pen.line([[one.right, one.y], [other.x, other.y]], colour, 1.5);
  const angle = Math.atan2(other.y - one.y, other.x - one.right);
  for (const side of [-.45, .45])
    pen.line([[other.x, other.y], [other.x - 6 * Math.cos(angle + side), other.y - 6 * Math.sin(angle + side)]], colour, 1.5);
}

function drawPinned(pen, scale, top) {
  if (!view.pinned) return;
  const {run, bar} = view.pinned;
  const place = middleOf(run, bar, scale, top);
  pen.frame(place.x - 1, place.top - 1, Math.max(place.right - place.x, 2) + 1, place.height + 2, css("--pin"), 2);
  if (!view.arrows) return;
  for (const other of leadersOf(run, bar)) drawArrow(pen, run, other, bar, css("--soft"), scale, top);
  for (const other of followersOf(run, bar)) drawArrow(pen, run, bar, other, css("--path"), scale, top);
}

// Who waits for whom where nobody goes on.
function drawWrong(pen, run, scale, top) {
  for (const problem of run.problems) for (const bar of problem.bars)
    for (const other of leadersOf(run, bar)) if (run.isWrong[other]) {
      const one = middleOf(run, bar, scale, top), two = middleOf(run, other, scale, top);
      const x = (Math.max(one.x, LEFT) + one.right) / 2 + (bar < other ? 8 : -8);
      const down = two.y > one.y, from = down ? one.top + one.height : one.top, to = down ? two.top : two.top + two.height;
      pen.line([[x, from], [x, to]], css("--alarm"), 2);
      for (const side of [-4, 4]) pen.line([[x, to], [x + side, to + (down ? -6 : 6)]], css("--alarm"), 2);
    }
}

function drawPath(pen, run, scale, top) {
  if (!view.path) return;
  const points = [];
  for (const bar of run.path) {
    const place = middleOf(run, bar, scale, top);
    const y = run.laneOf(bar) === COMPUTE ? place.top + place.height - 1 : place.y; // below what bars say
    points.push([Math.max(place.x, LEFT), y], [Math.max(place.right, LEFT), y]);
  }
  if (points.length) pen.line(points, css("--path"), 1.5);
}

function drawAxis(pen, run, scale, width, height, words) {
  if (words) pen.rectangle(0, height - 17, width, 17, css("--back"));
  const span = (view.to - view.from) / run.perUnit, rough = span / Math.max((width - LEFT) / 110, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(times => times * power).find(value => value >= rough);
  for (let value = Math.ceil(view.from / run.perUnit / step) * step; value <= view.to / run.perUnit; value += step) {
    const x = LEFT + (value * run.perUnit - view.from) * scale;
    if (!words) pen.line([[x, 0], [x, height - 16]], css("--line"), 1);
    else pen.text(x, height - 8, `${Number(value.toPrecision(10))} ${run.unit}`, css("--soft"), 10, "center");
  }
}

function drawAll(pen, runs, width, height) {
  const scale = (width - LEFT) / (view.to - view.from), top = view.top;
  pen.rectangle(0, 0, width, height, css("--back"));
  drawAxis(pen, runs[0], scale, width, height, false);
  for (const run of runs) {
    if (run.y - top < height && (runs.length > 1 || run.problems.length))
      pen.text(8, run.y - top + HEIGHTS.title / 2, `${run.title}${run.schedule ? ` · ${run.schedule}` : ""}`, run.problems.length ? css("--alarm") : css("--text"), 12, "left", true);
    for (const row of run.rows) {
      if (row.bottom < top || row.y > top + height) continue;
      drawIdle(pen, run, row, scale, width, top);
      LANES.forEach((name, lane) => drawLane(pen, run, row, lane, scale, width, top));
      drawMemory(pen, run, row, scale, width, top);
      pen.rectangle(0, row.y - top, LEFT - 3, row.bottom - row.y + 2, css("--back"));
      pen.text(LEFT - 6, row.y - top + HEIGHTS.compute / 2, `${row.engine ? "engine" : "rank"} ${row.rank}`, css("--text"), 11, "right");
      if (view.memory && row.time.length) pen.text(LEFT - 6, row.memoryY - top + HEIGHTS.memory / 2, bytesShown(row.kib[row.peak] * 1024), css("--soft"), 9, "right");
    }
    drawPath(pen, run, scale, top);
    drawWrong(pen, run, scale, top);
  }
  drawPinned(pen, scale, top);
  drawAxis(pen, runs[0], scale, width, height, true);
}

// All ranks, a line of pixels each: drawn once for a size and a theme, since it is the whole step always.
const mapPicture = {canvas: document.createElement("canvas"), key: ""};
function drawMapBars(runs, width, height, ratio) {
  const key = [width, height, ratio, darkTheme()].join();
  if (mapPicture.key === key) return;
  mapPicture.key = key;
  mapPicture.canvas.width = Math.round(width * ratio);
  mapPicture.canvas.height = Math.round(height * ratio);
  const context = mapPicture.canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const pen = new CanvasPen(context), scale = (width - LEFT) / (lastOf(runs) * 1.01);
  pen.rectangle(0, 0, width, height, css("--panel"));
  const rows = runs.flatMap(run => run.rows.map(row => ({run, row})));
  const tall = (height - 6) / rows.length;
  rows.forEach(({run, row}, place) => {
    const bars = row.lanes[COMPUTE];
    let pixel = -1;
    for (let at = 0; at < bars.length;) {
      const bar = bars[at], x = LEFT + run.begin[bar] * scale, right = LEFT + run.end[bar] * scale;
      if (right < pixel + .75) { at = Math.max(at + 1, firstFrom(run.end, bars, (pixel + .75 - LEFT) / scale)); continue; }
      ++at;
      pen.rectangle(x, 3 + place * tall, Math.max(right - x, .75), Math.max(tall - (tall > 3 ? 1 : 0), .5), run.isWrong[bar] ? css("--alarm") : colourOf(run, bar));
      pixel = right;
    }
  });
}

// And where the view is in it.
function drawMap(context, runs, width, height) {
  const ratio = window.devicePixelRatio || 1, scale = (width - LEFT) / (lastOf(runs) * 1.01);
  drawMapBars(runs, width, height, ratio);
  context.drawImage(mapPicture.canvas, 0, 0, width, height);
  const pen = new CanvasPen(context);
  const from = LEFT + view.from * scale, to = LEFT + view.to * scale;
  context.fillStyle = darkTheme() ? "rgb(0 0 0 / .55)" : "rgb(255 255 255 / .65)";
  context.fillRect(LEFT, 0, Math.max(from - LEFT, 0), height);
  context.fillRect(to, 0, Math.max(width - to, 0), height);
  pen.frame(from, 1, Math.max(to - from, 3), height - 2, css("--text"), 1);
}
const darkTheme = () => document.documentElement.classList.contains("dark");
const lastOf = runs => runs.reduce((last, run) => Math.max(last, run.last), 1);
