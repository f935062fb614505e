#include "tests/Interpreter/Rounds.h"

#include <algorithm>

namespace vime::interpreter {

using namespace plan;

bool Rounds::fire(const Firing &firing) {
  Engine &engine = engines[firing.rank];
  switch (static_cast<Opcode>(firing.action.opcode)) {
  case Opcode::DrawPrompts:
    return draw(firing, false), true;
  case Opcode::DrawEvaluation:
    return draw(firing, true), true;
  case Opcode::Score:
    return score(firing), true;
  case Opcode::ScoreEvaluation:
    events.push_back(meaning.scored(true, readMembers(firing, "all_samples")));
    return true;
  case Opcode::Pack:
    return pack(firing), true;
  case Opcode::LoadRound:
    return load(firing), true;
  case Opcode::PolicyLoss:
    return policyLoss(firing), true;
  case Opcode::Advantage:
    return advantage(firing), true;
  case Opcode::Infer:
    return infer(firing), true;
  case Opcode::LogProbabilities:
    return logProbabilities(firing), true;
  case Opcode::Wake:
    require(!engine.isAwake, firing);
    engine.isAwake = true;
    write(firing, "cache", kEmpty);
    write(firing, "records", kEmpty);
    return true;
  case Opcode::Pause:
    engine.isPaused = true;
    return true;
  case Opcode::Flush:
    require(engine.isPaused, firing);
    return true;
  case Opcode::Install:
    require(engine.isPaused, firing);
    engine.weights[firing.stage] = firing.uses[0].places[0];
    engine.isNew[firing.stage] = true;
    engine.isPublished = false;
    return true;
  case Opcode::Publish:
    return publish(firing), true;
  case Opcode::Resume:
    require(engine.isAwake && engine.isPublished, firing);
    engine.isPaused = false;
    return true;
  case Opcode::Generate:
    return generate(firing), true;
  default:
    return false;
  }
}

void Rounds::arrive(std::uint32_t rank) {
  Engine &engine = engines[rank];
  if (!engine.isPaused)
    events.push_back(terms.make(Op::Other, {rank, code(Opcode::BroadcastWeights)}));
  engine.isPublished = false;
}

void Rounds::draw(const Firing &firing, bool heldOut) {
  const Term header = read(firing, "header");
  const bool isRight =
      heldOut ? terms.is(header, Op::Header) : meaning.isHeader(header, Phase::Decided);
  write(firing, "prompts",
        isRight ? meaning.prompts(heldOut, meaning.roundOf(meaning.stepOf(header)))
                : terms.make(Op::Other, {}, {header}));
  write(firing, "samples", meaning.noSamples());
}

void Rounds::score(const Firing &firing) {
  const Term header = read(firing, "header");
  const std::vector<Term> samples = readMembers(firing, "all_samples");
  events.push_back(meaning.scored(false, samples));
  write(firing, "round",
        meaning.isHeader(header, Phase::Decided)
            ? meaning.round(meaning.roundOf(meaning.stepOf(header)), samples)
            : terms.make(Op::Other, {}, {header}));
}

bool Rounds::isRound(Term round, Term header) const {
  return terms.is(round, Op::Round) &&
         terms[round].numbers[0] == meaning.roundOf(meaning.stepOf(header));
}

void Rounds::pack(const Firing &firing) {
  const Term header = read(firing, "header");
  const bool isRight =
      meaning.isHeader(header, Phase::Decided) && isRound(read(firing, "round"), header);
  write(firing, "header",
        isRight ? meaning.header(meaning.stepOf(header), Phase::Packed, 0)
                : terms.make(Op::Other, {}, {header}));
}

void Rounds::load(const Firing &firing) {
  const Term header = read(firing, "header"), round = read(firing, "round");
  const bool isRight = meaning.isHeader(header, Phase::Packed) && isRound(round, header);
  const std::uint32_t step = isRight ? meaning.stepOf(header) : 0;
  write(firing, "header",
        isRight ? meaning.header(step, Phase::Loaded, firing.replica)
                : terms.make(Op::Other, {}, {header}));
  const std::pair<std::string_view, Column> columns[] = {{"tokens", Column::Tokens},
                                                         {"labels", Column::Labels},
                                                         {"segments", Column::Segments},
                                                         {"policy", Column::Policy}};
  for (const auto &[name, column] : columns) {
    const std::vector<Place> &places = named(firing, name).places;
    for (std::uint32_t slot = 0; slot < places.size(); ++slot)
      firing.memory.write(places[slot],
                          isRight ? meaning.sample(column, step, firing.replica, slot, round)
                                  : terms.make(Op::Other, {}, {header}));
  }
}

void Rounds::policyLoss(const Firing &firing) {
  const TaskInputs in = inputsOf(firing, meaning);
  const Term labels = read(firing, "labels"), policy = read(firing, "policy"),
             reference = read(firing, "reference");
  const auto made = [&](Op op) {
    return meaning.policy(op, firing.stage, firing.microbatch, in, labels, policy, reference);
  };
  write(firing, "stash", made(Op::LossStash));
  write(firing, "losses", made(Op::Loss));
  write(firing, "workspace", kGarbage);
}

void Rounds::advantage(const Firing &firing) {
  const std::vector<Term> made = meaning.advantages(
      read(firing, "header"), {readSlots(firing, "segments"), readSlots(firing, "labels"),
                               readSlots(firing, "policy"), readSlots(firing, "reference")});
  const std::vector<Place> &places = named(firing, "policy").places;
  for (std::size_t slot = 0; slot < places.size(); ++slot)
    firing.memory.write(places[slot], made[slot]);
  write(firing, "workspace", kGarbage);
}

void Rounds::infer(const Firing &firing) {
  const TaskInputs in = inputsOf(firing, meaning);
  write(firing, "stash", meaning.stash(false, firing.stage, firing.microbatch, in));
  write(firing, "output", meaning.output(false, firing.stage, firing.microbatch, in));
  write(firing, "context", meaning.context(false, firing.stage, firing.microbatch, in));
  write(firing, "workspace", kGarbage);
}

void Rounds::logProbabilities(const Firing &firing) {
  const TaskInputs in = inputsOf(firing, meaning);
  const Term labels = read(firing, "labels");
  write(firing, "stash", kGarbage);
  write(firing, "workspace", kGarbage);
  write(firing, "reference", meaning.reference(firing.stage, firing.microbatch, in, labels));
}

void Rounds::publish(const Firing &firing) {
  Engine &engine = engines[firing.rank];
  const Term header = read(firing, "header");
  const auto stages = plan.models[0].stages.size();
  const bool isWhole =
      engine.isNew.size() == stages &&
      std::ranges::all_of(engine.isNew, [](const auto &stage) { return stage.second; });
  const std::uint32_t version =
      terms.is(header, Op::Header)
          ? meaning.roundOf(meaning.stepOf(header)) + 1 + firing.action.immediate
          : 0;
  require(engine.isPaused && isWhole && version > engine.version, firing);
  engine.version = version;
  engine.isPublished = true;
  for (auto &[stage, isNew] : engine.isNew)
    isNew = false;
}

void Rounds::generate(const Firing &firing) {
  const Engine &engine = engines[firing.rank];
  require(engine.isAwake && !engine.isPaused && engine.isPublished, firing);
  require(read(firing, "cache") == kEmpty && read(firing, "records") == kEmpty, firing);
  const Term prompts = read(firing, "prompts");
  // Weights are read again for every token, between writes of what is made of them.
  for (const std::string_view made : {"workspace", "samples"})
    write(firing, made, kGarbage);
  std::vector<Term> weights;
  for (const auto &[stage, place] : engine.weights)
    weights.push_back(firing.memory.read(place));
  write(firing, "samples", meaning.samples(firing.rank, engine.version, prompts, weights));
}

} // namespace vime::interpreter
