// ---- words: header, tables, what is known of one action -------------------------------------------------------------
function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function idleOf(run) {
  const rows = run.rows.filter(row => !row.engine), all = run.period * rows.length;
  return IDLE.map(([name, words]) => [words, all ? rows.reduce((sum, row) => sum + row.idle[name], 0) / all : 0]);
}

function messagesOf(run) {
  let count = 0;
  for (let bar = 0; bar < run.count; ++bar) if (run.laneOf(bar) === 1) ++count;
  return count;
}

function factsOf(run) {
  const facts = [["step", shown(run, run.period)], ["bubble", percent(run.bubble)]];
  const split = idleOf(run).filter(([, share]) => share >= .0005).map(([words, share]) => `${words} ${percent(share)}`);
  if (split.length) facts.push([run.rows.some(row => row.engine) ? "of the step" : "of it", split.join(", ")]);
  const peaks = run.rows.map(row => row.kib.length ? row.kib[row.peak] * 1024 : 0), most = Math.max(...peaks);
  if (most) {
    const row = run.rows[peaks.indexOf(most)];
    facts.push(["most memory", `${bytesShown(most)} on rank ${row.rank}${row.peakAt ? `, at ${row.peakAt}` : ""}`]);
  }
  const messages = messagesOf(run);
  if (messages) facts.push(["messages", String(messages)]);
  if (run.path.length) facts.push(["critical path", `${run.path.length} actions`]);
  facts.push(["costs", run.costs]);
  if (run.plan) facts.push(["plan", run.plan.slice(0, 12)]);
  if (run.version) facts.push(["vime", run.version]);
  return facts;
}

function fillHeader(runs) {
  const title = document.getElementById("title"), facts = document.getElementById("facts");
  title.textContent = runs.map(run => `${run.title}${run.schedule ? ` · ${run.schedule}` : ""}`).join("   against   ");
  document.title = title.textContent;
  for (const run of runs) {
    const line = element("div");
    const engines = run.rows.filter(row => row.engine).length;
    line.append(element("span", `${run.rows.length - engines} ranks, ${engines ? `${engines} engine${engines > 1 ? "s" : ""}, ` : ""}${run.microbatches} microbatches`));
    for (const [name, value] of factsOf(run)) {
      const span = element("span", `${name} `);
      span.append(element("b", value));
      line.append(span);
    }
    facts.append(line);
  }
}

function fillTable(runs) {
  const place = document.getElementById("table");
  for (const run of runs) {
    if (runs.length > 1) place.append(element("p", run.title));
    const table = element("table"), head = element("tr");
    for (const words of ["rank", "busy", "idle", "warm-up", "comm.", "peak"]) head.append(element("th", words));
    table.append(head);
    for (const row of run.rows) {
      const line = element("tr"), share = value => run.period ? percent(value / run.period) : "";
      for (const text of [row.rank, share(row.busy), share(row.idleAll), share(row.idle.warmUp), share(row.idle.communication),
                          row.kib.length ? bytesShown(row.kib[row.peak] * 1024) : ""]) line.append(element("td", text));
      if (row.peakAt) line.lastChild.title = `at ${row.peakAt}`;
      table.append(line);
    }
    place.append(table);
  }
}

// What the colours of idle time mean, where they are shown.
function fillCauses() {
  const place = document.getElementById("causes");
  for (const [name, words] of IDLE) {
    if (name === "imbalance") continue; // no gap is, but a share of several
    const cause = element("span"), sample = element("i");
    sample.style.background = IDLE_COLOURS[name];
    cause.append(sample, words);
    place.append(cause);
  }
}

// What one bar of each kind takes, and waits for: where two runs of a plan differ.
function classesOf(run) {
  const classes = new Map();
  for (let bar = 0; bar < run.count; ++bar) {
    const name = run.kinds[run.kindOf(bar)].name;
    if (!classes.has(name)) classes.set(name, {count: 0, lasted: 0, waited: 0});
    const found = classes.get(name);
    ++found.count;
    found.lasted += run.end[bar] - run.begin[bar];
    found.waited += run.begin[bar] - run.posted[bar];
  }
  for (const found of classes.values()) {
    found.lasted /= found.count * run.perUnit;
    found.waited /= found.count * run.perUnit;
  }
  return classes;
}

function fillClasses(runs, line) {
  const classes = runs.map(classesOf), none = {lasted: 0, waited: 0};
  for (const name of classes[0].keys())
    for (const [part, words] of [["lasted", `one ${name.replaceAll("_", " ")}`], ["waited", `${name.replaceAll("_", " ")} waits`]]) {
      const values = classes.map(found => (found.get(name) || none)[part]);
      if (values.some(value => value !== 0)) line(words, values, value => String(Number(value.toFixed(3))), true);
    }
}

function fillDifferences(runs) {
  if (runs.length < 2) return;
  document.getElementById("differences").hidden = false;
  const table = document.querySelector("#differences table"), head = element("tr");
  head.append(element("th", ""));
  const isOneOrder = runs.every(run => run.schedule === runs[0].schedule); // then titles tell them apart
  for (const run of runs) head.append(element("th", isOneOrder ? run.title.split(", ").pop() : run.schedule || run.title));
  head.append(element("th", "change"));
  table.append(head);
  const line = (name, values, write, relative) => {
    const row = element("tr");
    row.append(element("td", name));
    for (const value of values) row.append(element("td", write(value)));
    const [one, other] = [values[0], values[values.length - 1]];
    row.append(element("td", relative ? (one ? `${other >= one ? "+" : ""}${(100 * (other / one - 1)).toFixed(1)} %` : "") : `${other >= one ? "+" : ""}${(100 * (other - one)).toFixed(1)} pt`));
    table.append(row);
  };
  line("step", runs.map(run => run.period / run.perUnit), value => String(Number(value.toFixed(2))), true);
  line("bubble", runs.map(run => run.bubble), percent, false);
  IDLE.forEach(([, words], at) => line(words, runs.map(run => idleOf(run)[at][1]), percent, false));
  line("messages", runs.map(messagesOf), String, true);
  line("most memory", runs.map(run => run.most * 1024), bytesShown, true);
  line("critical path", runs.map(run => run.path.length), String, true);
  if (runs.every(run => run.unit === runs[0].unit)) fillClasses(runs, line);
}

function fillProblems(runs) {
  const list = document.querySelector("#problems ol");
  for (const run of runs) for (const problem of run.problems) {
    const item = element("li", problem.text, {tabindex: "0"});
    const go = () => problem.bars.length && pin(run, problem.bars[0], true);
    item.addEventListener("click", go);
    item.addEventListener("keydown", event => event.key === "Enter" && go());
    list.append(item);
    document.getElementById("problems").hidden = false;
  }
}

// What held it up, and for how long: waiting and transferring are two numbers.
function waitsOf(run, bar) {
  const facts = [["posted", shown(run, run.posted[bar])]];
  if (run.laneOf(bar) !== COMPUTE) {
    facts.push(["waits for the peer", shown(run, run.ready[bar] - run.posted[bar])]);
    facts.push(["waits for the link", shown(run, run.begin[bar] - run.ready[bar])]);
    facts.push(["on its way", shown(run, run.end[bar] - run.begin[bar])]);
  } else {
    facts.push(["lasts", shown(run, run.end[bar] - run.begin[bar])]);
  }
  facts.push(["ends", shown(run, run.end[bar])]);
  if (run.slack[bar] >= 0) facts.push(["could end later by", run.slack[bar] ? shown(run, run.slack[bar]) : "nothing"]);
  return facts;
}

function describe(run, bar) {
  const kind = run.kinds[run.kindOf(bar)], row = run.rows[run.rowOf[bar]];
  const facts = [["rank", String(row.rank)], ["action", `${run.action[bar]}, ${kind.name.replace("_", " ")}`]];
  if (run.stage[bar] >= 0) facts.push(["stage", String(run.stage[bar])]);
  if (run.microbatch[bar] >= 0) facts.push(["microbatch", String(run.microbatch[bar])]);
  facts.push(...waitsOf(run, bar));
  if (kind.origin) facts.push(["from", kind.origin]);
  return facts;
}

function listOf(facts) {
  const list = element("dl");
  for (const [name, value] of facts) list.append(element("dt", name), element("dd", value));
  return list;
}

function showDetail(run, bar) {
  const detail = document.getElementById("detail");
  detail.replaceChildren(element("strong", labelOf(run, bar)), listOf(describe(run, bar)));
  for (const [words, others] of [["came behind", leadersOf(run, bar)], ["then came", followersOf(run, bar)]]) {
    if (!others.length) continue;
    const line = element("p", `${words}: `);
    [...others].slice(0, 12).forEach((other, at) => {
      const link = element("a", `${labelOf(run, other)} on rank ${run.rows[run.rowOf[other]].rank}`, {tabindex: "0"});
      link.addEventListener("click", () => pin(run, other, true));
      line.append(at ? ", " : "", link);
    });
    detail.append(line);
  }
}
