"use strict";
// ---- data: what the page was given, as typed columns -------------------------------------------------------------
// Numbers of variable length: seven bits a byte, the sign in the lowest one.
class Numbers {
  constructor(text) { this.text = atob(text); this.at = 0; }
  get isAtEnd() { return this.at >= this.text.length; }
  next() {
    let value = 0, weight = 1, byte;
    do {
      byte = this.text.charCodeAt(this.at++);
      value += (byte & 127) * weight;
      weight *= 128;
    } while (byte > 127);
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
}

const LANES = ["compute", "send", "receive", "collective", "host"];
const COMPUTE = 0;
const IDLE = [["warmUp", "warm-up"], ["dependence", "dependence"], ["communication", "communication"],
              ["imbalance", "imbalance"], ["coolDown", "cool-down"], ["otherRole", "other role"]];

function readBars(run, text) {
  const numbers = new Numbers(text), behind = [];
  for (const name of ["posted", "ready", "begin", "end", "slack", "kind", "stage", "microbatch", "action", "rowOf", "behindEnd"])
    run[name] = new Int32Array(run.count + 1);
  run.lane = new Uint8Array(run.count);
  let bar = 0;
  run.rows.forEach((row, place) => {
    row.first = bar;
    let posted = 0, stage = -1, microbatch = -1, action = 0;
    for (const end = bar + row.bars; bar < end; ++bar) {
      const what = numbers.next();
      run.lane[bar] = what % LANES.length;
      run.kind[bar] = Math.floor(what / LANES.length);
      run.posted[bar] = posted += numbers.next();
      run.ready[bar] = posted + numbers.next();
      run.begin[bar] = run.ready[bar] + numbers.next();
      run.end[bar] = run.begin[bar] + numbers.next();
      run.slack[bar] = numbers.next();
      run.stage[bar] = stage += numbers.next();
      run.microbatch[bar] = microbatch += numbers.next();
      run.action[bar] = action += numbers.next();
      run.rowOf[bar] = place;
      for (let left = numbers.next(); left > 0; --left) behind.push(bar - numbers.next());
      run.behindEnd[bar + 1] = behind.length;
    }
  });
  run.behind = Int32Array.from(behind);
}

function readMemory(row) {
  const numbers = new Numbers(row.memory), times = [], sizes = [];
  let time = 0, kib = 0;
  while (!numbers.isAtEnd) {
    times.push(time += numbers.next());
    sizes.push(kib += numbers.next());
  }
  row.time = Int32Array.from(times);
  row.kib = Int32Array.from(sizes);
}

// One timeline, and for each row its bars lane by lane, by the times at which they begin.
function readRun(source, index) {
  const run = {...source, index, count: source.rows.reduce((sum, row) => sum + row.bars, 0)};
  readBars(run, source.bars);
  run.kindOf = bar => run.kind[bar];
  run.laneOf = bar => run.lane[bar];
  run.last = 1;
  for (let bar = 0; bar < run.count; ++bar) if (run.end[bar] > run.last) run.last = run.end[bar];
  run.onPath = new Uint8Array(run.count);
  for (const bar of run.path) run.onPath[bar] = 1;
  run.isWrong = new Uint8Array(run.count);
  for (const problem of run.problems) for (const bar of problem.bars) run.isWrong[bar] = 1;
  run.rows.forEach(row => {
    row.lanes = LANES.map(() => []);
    for (let bar = row.first; bar < row.first + row.bars; ++bar) row.lanes[run.lane[bar]].push(bar);
    row.lanes = row.lanes.map(bars => Int32Array.from(bars.sort((one, other) => run.begin[one] - run.begin[other])));
    readMemory(row);
    row.chunk = new Map(row.stages.map((stage, chunk) => [stage, chunk]));
    const tasks = row.lanes[COMPUTE].filter(bar => run.kinds[run.kindOf(bar)].letter && !run.isWrong[bar]);
    row.firstTask = tasks.length ? run.begin[tasks[0]] : 0;
    row.lastTask = tasks.length ? run.end[tasks[tasks.length - 1]] : 0;
    row.peak = row.kib.reduce((most, kib, place) => kib > row.kib[most] ? place : most, 0);
    row.idleAll = IDLE.reduce((sum, [name]) => sum + row.idle[name], 0);
  });
  run.hasChunks = run.rows.some(row => !row.engine && row.stages.length > 1);
  // From when on it trains: behind the rollout of a step that begins a round. A trace has it where loading took any time.
  for (let bar = 0; bar < run.count; ++bar) if (run.kinds[run.kindOf(bar)].name === "load_round") run.trains = Math.max(run.trains, run.end[bar]);
  run.most = run.rows.reduce((most, row) => row.kib.reduce((found, kib) => Math.max(found, kib), most), 1);
  return run;
}

// What came behind a bar: made when it is asked for first.
function followersOf(run, bar) {
  if (!run.ahead) {
    const counts = new Int32Array(run.count + 1);
    for (const other of run.behind) ++counts[other + 1];
    for (let at = 0; at < run.count; ++at) counts[at + 1] += counts[at];
    run.ahead = new Int32Array(run.behind.length);
    run.aheadEnd = counts.slice();
    const next = counts.slice();
    for (let at = 0; at < run.count; ++at)
      for (let place = run.behindEnd[at]; place < run.behindEnd[at + 1]; ++place)
        run.ahead[next[run.behind[place]]++] = at;
  }
  return run.ahead.subarray(run.aheadEnd[bar], run.aheadEnd[bar + 1]);
}
const leadersOf = (run, bar) => run.behind.subarray(run.behindEnd[bar], run.behindEnd[bar + 1]);

// "2F5", as orders are written.
function labelOf(run, bar) {
  const kind = run.kinds[run.kindOf(bar)];
  const stage = run.stage[bar], microbatch = run.microbatch[bar];
  if (kind.letter) return `${stage < 0 ? "" : stage}${kind.letter}${microbatch < 0 ? "" : microbatch}`;
  return kind.name + (stage < 0 ? "" : ` ${stage}`) + (microbatch < 0 ? "" : ` mb ${microbatch}`);
}

function shown(run, ticks) {
  const value = ticks / run.perUnit;
  const digits = Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 1 ? 2 : 3;
  return `${Number(value.toFixed(digits))} ${run.unit}`;
}
const percent = share => `${(100 * share).toFixed(1)} %`;
function bytesShown(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let place = 0;
  while (bytes >= 1024 && place < 4) { bytes /= 1024; ++place; }
  return `${Number(bytes.toFixed(bytes >= 100 ? 0 : 2))} ${units[place]}`;
}
