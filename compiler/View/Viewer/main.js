// ---- start -----------------------------------------------------------------------------------------------------------
function fillKinds() {
  const place = document.getElementById("kinds");
  const seen = new Map();
  for (const run of runs) for (let bar = 0; bar < run.count; ++bar) {
    const kind = run.kinds[run.kindOf(bar)];
    if (!seen.has(kind.name)) seen.set(kind.name, ROLLOUT_COLOURS[kind.name] || (run.laneOf(bar) === COMPUTE ? COLOURS[kind.letter] : LANE_COLOURS[run.laneOf(bar)]));
  }
  for (const [name, colour] of seen) {
    const button = element("button", undefined, {"aria-pressed": "true", title: `show or hide ${name.replace("_", " ")}`});
    const sample = element("i");
    sample.style.background = colour;
    button.append(sample, name.replace("_", " "));
    button.addEventListener("click", () => {
      if (!view.hidden.delete(name)) view.hidden.add(name);
      button.setAttribute("aria-pressed", !view.hidden.has(name));
      redraw();
    });
    place.append(button);
  }
}

function start() {
  runs = JSON.parse(document.getElementById("data").textContent).map(readRun);
  if (window.matchMedia("(prefers-color-scheme: dark)").matches) document.documentElement.classList.add("dark");
  total = layOut(runs);
  fillHeader(runs);
  fillKinds();
  fillCauses();
  fillProblems(runs);
  fillDifferences(runs);
  fillTable(runs);
  listen();
  wholeStep();
  followLink();
}
start();
