#include "tests/Interpreter/Effects.h"

#include <algorithm>

namespace vime::interpreter {

using namespace plan;

std::vector<Term> Effects::seen() const {
  std::vector<Term> sorted = events;
  sorted.insert(sorted.end(), rounds.events.begin(), rounds.events.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

void Effects::fire(const Firing &firing) {
  if (rounds.fire(firing))
    return;
  switch (static_cast<Opcode>(firing.action.opcode)) {
  case Opcode::Forward:
    return forward(firing, false);
  case Opcode::Evaluate:
    return forward(firing, true);
  case Opcode::Loss:
    return loss(firing, false);
  case Opcode::EvaluateLoss:
    return loss(firing, true);
  case Opcode::Backward:
    return backward(firing);
  case Opcode::BackwardInput:
    return backwardInput(firing);
  case Opcode::BackwardWeight:
    return backwardWeight(firing);
  case Opcode::Copy:
    return write(firing, "destination", read(firing, "source"));
  case Opcode::Snapshot:
    return write(
        firing, "snapshot",
        meaning.snapshot(read(firing, "header"), read(firing, "weights"), read(firing, "moments")));
  case Opcode::Initialize:
    return initialize(firing);
  case Opcode::ScaleGradients:
    return write(firing, "gradients",
                 kept(firing, meaning.scaled(read(firing, "header"), whole(firing, "gradients"))));
  case Opcode::SquareNorm:
    return squareNorm(firing);
  case Opcode::Clip:
    return write(firing, "scalars", meaning.scalars(readMembers(firing, "all_squares")));
  case Opcode::Optimize:
    return optimize(firing);
  case Opcode::OptimizeEarly:
    return optimizeEarly(firing);
  case Opcode::Settle:
    return settle(firing);
  case Opcode::Redo:
    return redo(firing);
  case Opcode::AddTied:
    return write(firing, "gradients",
                 meaning.addTied(read(firing, "gradients"), read(firing, "tied_gradients")));
  case Opcode::Decide:
    return write(firing, "header", meaning.header(decisions++, Phase::Decided, 0));
  case Opcode::Load:
    return load(firing, false);
  case Opcode::LoadEvaluation:
    return load(firing, true);
  case Opcode::Report:
    return see(meaning.report(read(firing, "scalars"), readMembers(firing, "all_stats")));
  case Opcode::ReportEvaluation:
    return reportEvaluation(firing);
  case Opcode::ExportShard:
    see(meaning.exported(firing.stage, read(firing, "weights")));
    return put(firing, "stats", kCounters, kExported + firing.stage, read(firing, "weights"));
  case Opcode::ExportCommit:
    return see(meaning.exportCommit(readMembers(firing, "replica_stats")));
  case Opcode::CheckpointShard:
    see(meaning.saved(firing.stage, read(firing, "snapshot")));
    return put(firing, "stats", kCounters, kSaved + firing.stage, read(firing, "snapshot"));
  case Opcode::Measure:
  case Opcode::MeasureEvaluation:
    return measure(firing);
  case Opcode::CheckpointCommit:
    return name(firing);
  case Opcode::Join:
  case Opcode::Send:
  case Opcode::Receive:
  case Opcode::Broadcast:
  case Opcode::Gather:
  case Opcode::AllGather:
  case Opcode::AllReduce:
  case Opcode::Unshard:
  case Opcode::ReduceScatter:
  case Opcode::ReduceSquares:
    return;
  case Opcode::Reshard:
    return write(firing, "weights", kGarbage);
  default: // of rounds
    return;
  }
}

Term Effects::kept(const Firing &firing, Term whole) const {
  return meaning.kept(firing.replica, whole);
}

Term Effects::whole(const Firing &firing, std::string_view name) const {
  return meaning.wholeOf(firing.replica, read(firing, name));
}

void Effects::initialize(const Firing &firing) {
  write(firing, "gradients", kGarbage);
  write(firing, "weights", kept(firing, meaning.initial(true, firing.stage)));
  write(firing, "moments", kept(firing, meaning.initial(false, firing.stage)));
}

void Effects::load(const Firing &firing, bool evaluates) {
  const Term header = read(firing, "header");
  const bool isRight = meaning.isHeader(evaluates ? meaning.ofTask(header) : header,
                                        evaluates ? Phase::Loaded : Phase::Decided);
  const std::uint32_t step = isRight ? meaning.stepOf(header) : 0;
  write(firing, "header",
        isRight
            ? meaning.header(step, evaluates ? Phase::Evaluating : Phase::Loaded, firing.replica)
            : terms.make(Op::Other, {}, {header}));
  const std::pair<std::string_view, Column> columns[] = {
      {"tokens", Column::Tokens}, {"labels", Column::Labels}, {"segments", Column::Segments}};
  for (const auto &[name, column] : columns) {
    const std::vector<Place> &places = named(firing, name).places;
    for (std::uint32_t slot = 0; slot < places.size(); ++slot)
      firing.memory.write(places[slot],
                          isRight ? meaning.text(column, evaluates, step, firing.replica, slot)
                                  : terms.make(Op::Other, {}, {header}));
  }
}

void Effects::forward(const Firing &firing, bool evaluates) {
  const TaskInputs in = inputsOf(firing, meaning);
  write(firing, "stash", meaning.stash(evaluates, firing.stage, firing.microbatch, in));
  write(firing, "output", meaning.output(evaluates, firing.stage, firing.microbatch, in));
  write(firing, "context", meaning.context(evaluates, firing.stage, firing.microbatch, in));
  write(firing, "workspace", kGarbage);
}

void Effects::loss(const Firing &firing, bool evaluates) {
  const TaskInputs in = inputsOf(firing, meaning);
  const Term labels = read(firing, "labels");
  write(firing, "stash", meaning.lossStash(evaluates, firing.stage, firing.microbatch, in, labels));
  write(firing, "losses", meaning.loss(evaluates, firing.stage, firing.microbatch, in, labels));
}

void Effects::backward(const Firing &firing) {
  const TaskInputs in = inputsOf(firing, meaning);
  write(firing, "workspace", kGarbage);
  accumulate(firing, in, true);
  write(firing, "input_gradient",
        meaning.ofBackward(Op::InputGradient, firing.stage, firing.microbatch, in));
  write(firing, "context_gradients",
        meaning.ofBackward(Op::ContextGradients, firing.stage, firing.microbatch, in));
  write(firing, "stash", kGarbage);
}

void Effects::backwardInput(const Firing &firing) {
  const TaskInputs in = inputsOf(firing, meaning);
  const auto made = [&](Op op) {
    return meaning.ofBackward(op, firing.stage, firing.microbatch, in);
  };
  write(firing, "workspace", kGarbage);
  write(firing, "weight_stash", made(Op::WeightStash));
  write(firing, "input_gradient", made(Op::InputGradient));
  write(firing, "context_gradients", made(Op::ContextGradients));
  write(firing, "stash", made(Op::InputStash));
}

/// What it adds is the same as what a whole backward adds, if the input gradient had the same
/// inputs.
void Effects::backwardWeight(const Firing &firing) {
  TaskInputs in = inputsOf(firing, meaning);
  const Term weightStash = read(firing, "weight_stash");
  write(firing, "workspace", kGarbage);
  // Gradients of norms are made by the input gradient, also those of an empty microbatch: zeros.
  if (meaning.isEmpty(in.header, firing.microbatch))
    return accumulate(firing, in, weightStash == kEmpty);
  // Of the parts of what a backward makes.
  constexpr std::size_t kTiedWeights = 4, kStash = 6, kContext = 7, kContextGradients = 8;
  const bool isStash =
      terms.is(in.stash, Op::InputStash) && terms[in.stash].parts.size() > kContextGradients;
  TaskInputs before = in;
  if (isStash) {
    before.tiedWeights = terms[in.stash].parts[kTiedWeights];
    before.stash = terms[in.stash].parts[kStash];
    before.context = terms[in.stash].parts[kContext];
    before.contextGradients = terms[in.stash].parts[kContextGradients];
  }
  const auto made = [&](Op op) {
    return meaning.ofBackward(op, firing.stage, firing.microbatch, before);
  };
  const bool isRight =
      isStash && in.stash == made(Op::InputStash) && weightStash == made(Op::WeightStash);
  accumulate(firing, before, isRight);
}

void Effects::accumulate(const Firing &firing, const TaskInputs &in, bool isRight) {
  const bool clears = (firing.action.immediate & kOverwriteGradients) != 0;
  const std::pair<std::string_view, Op> sums[] = {{"gradients", Op::Contribution},
                                                  {"tied_gradients", Op::TiedContribution}};
  for (const auto &[name, op] : sums) {
    if (!named(firing, name).present)
      continue;
    const Term contribution = isRight ? meaning.ofBackward(op, firing.stage, firing.microbatch, in)
                                      : terms.make(Op::Other, {}, {in.stash});
    write(firing, name,
          clears ? meaning.sum({contribution}) : meaning.addTo(read(firing, name), contribution));
  }
}

void Effects::squareNorm(const Firing &firing) {
  put(firing, "squares", kSquares, firing.stage,
      kept(firing, meaning.square(whole(firing, "gradients"))));
}

void Effects::optimize(const Firing &firing) {
  const Term header = read(firing, "header"), scalars = read(firing, "scalars"),
             gradients = whole(firing, "gradients"), weights = whole(firing, "weights"),
             moments = whole(firing, "moments");
  write(firing, "weights",
        kept(firing, meaning.updated(true, header, scalars, gradients, weights, moments)));
  write(firing, "moments",
        kept(firing, meaning.updated(false, header, scalars, gradients, weights, moments)));
}

void Effects::optimizeEarly(const Firing &firing) {
  const Term header = read(firing, "header"), gradients = read(firing, "gradients"),
             weights = read(firing, "weights"), moments = read(firing, "moments");
  write(firing, "kept", meaning.kept(header, weights, moments));
  write(firing, "weights", meaning.early(true, header, gradients, weights, moments));
  write(firing, "moments", meaning.early(false, header, gradients, weights, moments));
}

/// Of no step before there are no scalars, and nothing to take back.
void Effects::settle(const Firing &firing) {
  const Term header = read(firing, "header");
  write(firing, "scalars",
        meaning.decided(header, Decision::Pending) != 0
            ? meaning.scalars(readMembers(firing, "all_squares"))
            : meaning.scalars({}));
  write(firing, "header", meaning.settled(header));
}

void Effects::redo(const Firing &firing) {
  const Term scalars = read(firing, "scalars"), gradients = read(firing, "gradients"),
             kept = read(firing, "kept");
  const auto found = verdicts.find(scalars);
  const std::uint32_t verdict = found == verdicts.end() ? kStands : found->second;
  write(firing, "weights", meaning.redone(true, verdict, scalars, gradients, kept));
  write(firing, "moments", meaning.redone(false, verdict, scalars, gradients, kept));
}

void Effects::measure(const Firing &firing) {
  const Use &losses = named(firing, "losses");
  put(firing, "stats", kCounters, kMeasured,
      meaning.measured(firing.action.opcode == code(Opcode::MeasureEvaluation),
                       read(firing, "header"),
                       losses.present ? readSlots(firing, "losses") : std::vector<Term>()));
}

void Effects::name(const Firing &firing) {
  const Term named = meaning.named(readMembers(firing, "replica_stats"), latest);
  if (named == kNothing)
    return;
  latest = named;
  see(named);
}

void Effects::reportEvaluation(const Firing &firing) {
  const Term header = read(firing, "header");
  see(meaning.evaluationReport(header, readMembers(firing, "all_stats")));
  write(firing, "header",
        meaning.isHeader(header, Phase::Evaluating)
            ? meaning.header(meaning.stepOf(header), Phase::Reported, firing.replica)
            : terms.make(Op::Other, {}, {header}));
}

/// Stages of a rank have their own parts of its squares and counters; the rest stays.
void Effects::put(const Firing &firing, std::string_view record, std::uint32_t kind,
                  std::uint32_t key, Term value) {
  write(firing, record, terms.with(read(firing, record), kind, key, value));
}

} // namespace vime::interpreter
