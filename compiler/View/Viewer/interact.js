// ---- what a hand does ----------------------------------------------------------------------------------------------
let runs = [], total = 0, wanted = false;
const chart = document.getElementById("chart"), map = document.getElementById("map"), tip = document.getElementById("tip");
const size = canvas => ({width: canvas.clientWidth, height: canvas.clientHeight});

function prepared(canvas) {
  const {width, height} = size(canvas), ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

function redraw() {
  if (wanted) return;
  wanted = true;
  requestAnimationFrame(() => {
    wanted = false;
    const begun = performance.now();
    drawAll(new CanvasPen(prepared(chart)), runs, size(chart).width, size(chart).height);
    drawMap(prepared(map), runs, size(map).width, size(map).height);
    window.vimeFrame = {milliseconds: performance.now() - begun, count: (window.vimeFrame?.count || 0) + 1};
  });
}

function look(from, to) {
  const last = lastOf(runs), least = last / 1e6;
  const span = Math.min(Math.max(to - from, least), last * 1.02);
  view.from = Math.min(Math.max(from, -last * .01), last * 1.02 - span);
  view.to = view.from + span;
  redraw();
}
const wholeStep = () => look(0, lastOf(runs) * 1.01);
function scrollTo(top) {
  view.top = Math.max(0, Math.min(top, total - size(chart).height + 30));
  redraw();
}
function zoom(factor, at = (view.from + view.to) / 2) { look(at - (at - view.from) * factor, at + (view.to - at) * factor); }
const timeAt = x => view.from + (x - LEFT) / (size(chart).width - LEFT) * (view.to - view.from);

// The bar under a point.
function barAt(x, y) {
  const top = y + view.top, time = timeAt(x), slack = 2 / (size(chart).width - LEFT) * (view.to - view.from);
  for (const run of runs) for (const row of run.rows) {
    if (top < row.y || top > row.bottom) continue;
    for (let lane = 0; lane < LANES.length; ++lane) {
      const height = lane === COMPUTE ? HEIGHTS.compute : HEIGHTS.thin + 1;
      if (top < row.laneY[lane] || top >= row.laneY[lane] + height || !row.lanes[lane].length) continue;
      const bars = row.lanes[lane];
      for (let at = firstFrom(run.end, bars, time - slack); at < bars.length && run.begin[bars[at]] <= time + slack; ++at)
        if (run.end[bars[at]] >= time - slack && !view.hidden.has(run.kinds[run.kindOf(bars[at])].name)) return {run, bar: bars[at]};
    }
  }
  return null;
}

function pin(run, bar, show) {
  view.pinned = {run, bar};
  showDetail(run, bar);
  if (show) {
    const span = view.to - view.from, {height} = size(chart), row = run.rows[run.rowOf[bar]];
    if (run.begin[bar] < view.from || run.end[bar] > view.to) look((run.begin[bar] + run.end[bar]) / 2 - span / 2, (run.begin[bar] + run.end[bar]) / 2 + span / 2);
    if (row.y < view.top || row.bottom > view.top + height) scrollTo(row.y - height / 2);
  }
  keepLink();
  redraw();
}
function letGo() {
  view.pinned = null;
  document.getElementById("detail").textContent = "Click an action to pin it.";
  keepLink();
  redraw();
}

// Where one is stands in the address, so that it can be sent to somebody.
function keepLink() {
  const parts = {from: Math.round(view.from), to: Math.round(view.to), top: Math.round(view.top)};
  if (view.pinned) Object.assign(parts, {run: view.pinned.run.index, bar: view.pinned.bar});
  history.replaceState(null, "", "#" + new URLSearchParams(parts));
}
function followLink() {
  const parts = new URLSearchParams(location.hash.slice(1)), number = name => Number(parts.get(name));
  if (parts.has("to") && number("to") > number("from")) look(number("from"), number("to"));
  if (parts.has("top")) scrollTo(number("top"));
  const run = runs[number("run")];
  if (parts.has("bar") && run && number("bar") >= 0 && number("bar") < run.count) pin(run, number("bar"), false);
}

// `2F5`, `F5`, `2F`, or a part of a name; the next one behind what is pinned.
function find(text) {
  const wantedTask = /^(\d*)([FBIW])(\d*)$/i.exec(text.trim());
  const matches = (run, bar) => {
    const kind = run.kinds[run.kindOf(bar)];
    if (!wantedTask) return kind.name.includes(text.trim().toLowerCase());
    return kind.letter === wantedTask[2].toUpperCase() && run.laneOf(bar) === COMPUTE &&
      (!wantedTask[1] || run.stage[bar] === Number(wantedTask[1])) && (!wantedTask[3] || run.microbatch[bar] === Number(wantedTask[3]));
  };
  const all = runs.flatMap(run => Array.from({length: run.count}, (_, bar) => ({run, bar})).filter(({bar}) => matches(run, bar)));
  if (!all.length) return false;
  const here = view.pinned ? all.findIndex(({run, bar}) => run === view.pinned.run && bar === view.pinned.bar) : -1;
  const next = all[(here + 1) % all.length];
  pin(next.run, next.bar, true);
  return true;
}

function toggle(name) {
  view[name] = !view[name];
  document.getElementById(name).setAttribute("aria-pressed", view[name]);
  document.getElementById("causes").hidden = !view.bubbles;
  total = layOut(runs);
  redraw();
}

function changeTheme() {
  document.documentElement.classList.toggle("dark");
  theme.clear();
  redraw();
}

function save(name, type, content) {
  const link = element("a", undefined, {download: name, href: URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type}))});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
function svgOfView() {
  const pen = new SvgPen(), {width, height} = size(chart);
  drawAll(pen, runs, width, height);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, DejaVu Sans, sans-serif">${pen.parts.join("")}</svg>`;
}
function csvOfAll() {
  const lines = ["run,rank,action,kind,stage,microbatch,posted,ready,begin,end,slack"];
  for (const run of runs) for (let bar = 0; bar < run.count; ++bar)
    lines.push([run.index, run.rows[run.rowOf[bar]].rank, run.action[bar], run.kinds[run.kindOf(bar)].name, run.stage[bar], run.microbatch[bar],
                ...[run.posted, run.ready, run.begin, run.end].map(column => column[bar] / run.perUnit), run.slack[bar] < 0 ? "" : run.slack[bar] / run.perUnit].join(","));
  return lines.join("\n") + "\n";
}

function listen() {
  chart.addEventListener("wheel", event => {
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY * .0022), timeAt(event.offsetX));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const moved = (event.deltaX || event.deltaY) / (size(chart).width - LEFT) * (view.to - view.from);
      look(view.from + moved, view.to + moved);
    } else scrollTo(view.top + event.deltaY);
  }, {passive: false});
  let held = null;
  chart.addEventListener("pointerdown", event => {
    held = {x: event.offsetX, y: event.offsetY, from: view.from, to: view.to, top: view.top, moved: false};
    chart.setPointerCapture(event.pointerId);
  });
  chart.addEventListener("pointermove", event => {
    if (held && (held.moved || Math.hypot(event.offsetX - held.x, event.offsetY - held.y) > 4)) {
      held.moved = true;
      const moved = (held.x - event.offsetX) / (size(chart).width - LEFT) * (held.to - held.from);
      look(held.from + moved, held.to + moved);
      scrollTo(held.top + held.y - event.offsetY);
      tip.hidden = true;
      return;
    }
    const found = barAt(event.offsetX, event.offsetY);
    tip.hidden = !found;
    if (!found) return;
    tip.replaceChildren(element("strong", labelOf(found.run, found.bar)), listOf(describe(found.run, found.bar)));
    tip.style.left = `${Math.min(event.offsetX + 14, size(chart).width - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.offsetY + 14, size(chart).height - tip.offsetHeight - 8)}px`;
  });
  chart.addEventListener("pointerup", event => {
    if (held && !held.moved) {
      const found = barAt(event.offsetX, event.offsetY);
      if (found) pin(found.run, found.bar, false); else letGo();
    }
    held = null;
    keepLink();
  });
  chart.addEventListener("pointerleave", () => { tip.hidden = true; });
  const toMap = event => {
    const at = (event.offsetX - LEFT) / (size(map).width - LEFT) * lastOf(runs) * 1.01, half = (view.to - view.from) / 2;
    look(at - half, at + half);
  };
  map.addEventListener("pointerdown", event => { map.setPointerCapture(event.pointerId); toMap(event); });
  map.addEventListener("pointermove", event => { if (event.buttons) toMap(event); });
  const search = document.getElementById("search");
  search.addEventListener("keydown", event => {
    if (event.key === "Enter") search.style.borderColor = find(search.value) ? "" : css("--alarm");
    if (event.key === "Escape") chart.focus();
    event.stopPropagation();
  });
  for (const name of ["path", "arrows", "bubbles", "memory"]) document.getElementById(name).addEventListener("click", () => toggle(name));
  document.getElementById("whole").addEventListener("click", wholeStep);
  document.getElementById("theme").addEventListener("click", changeTheme);
  document.getElementById("png").addEventListener("click", () => chart.toBlob(blob => save("timeline.png", "image/png", blob)));
  document.getElementById("svg").addEventListener("click", () => save("timeline.svg", "image/svg+xml", svgOfView()));
  document.getElementById("csv").addEventListener("click", () => save("timeline.csv", "text/csv", csvOfAll()));
  window.addEventListener("resize", () => { scrollTo(view.top); redraw(); });
  document.addEventListener("keydown", onKey);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT") return;
  const span = view.to - view.from, step = span * .12;
  const neighbour = list => view.pinned && list(view.pinned.run, view.pinned.bar).length && pin(view.pinned.run, list(view.pinned.run, view.pinned.bar)[0], true);
  const keys = {
    a: () => look(view.from - step, view.to - step), d: () => look(view.from + step, view.to + step),
    w: () => zoom(.8), s: () => zoom(1.25), ArrowUp: () => scrollTo(view.top - 60), ArrowDown: () => scrollTo(view.top + 60),
    ArrowLeft: () => neighbour(leadersOf), ArrowRight: () => neighbour(followersOf),
    c: () => toggle("path"), e: () => toggle("arrows"), b: () => toggle("bubbles"), m: () => toggle("memory"), t: changeTheme,
    0: wholeStep, Escape: letGo, "/": () => { event.preventDefault(); document.getElementById("search").focus(); },
  };
  const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (act) { act(); keepLink(); }
}
