#include "tests/dialects/RandomPlan.h"

#include <map>
#include <random>

#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/Names.h"

namespace vime {

using namespace plan;

namespace {

class Dice {
public:
  explicit Dice(std::uint32_t seed) : random(seed) {}

  std::uint64_t upTo(std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(0, most)(random);
  }
  bool coin() { return upTo(1) == 1; }
  std::uint64_t any64() { return random() << 32 | random(); }
  std::uint32_t any32() { return static_cast<std::uint32_t>(random()); }
  // Decimal fractions, tiny, huge and whole numbers.
  double real() {
    const double values[] = {0.1, 3e-4, 1e-300, 1.0 / 3, 1e22, 7, -0.25, 123456789.123456789};
    return values[upTo(std::size(values) - 1)];
  }
  template <typename Enum> Enum word() {
    return static_cast<Enum>(upTo(namesOf<Enum>().size() - 1));
  }
  std::string text() {
    const char *texts[] = {"",           "corpus.txt",       "a \"quoted\" path\\here",
                           "two\nlines", "größer → kleiner", "tab\there"};
    return texts[upTo(std::size(texts) - 1)];
  }

private:
  std::mt19937_64 random;
};

class Maker {
public:
  explicit Maker(std::uint32_t seed) : dice(seed) {}

  Plan make() {
    plan.compiler = dice.text();
    plan.job = dice.text();
    plan.schedule = dice.text();
    plan.mesh.pipeline = static_cast<std::uint32_t>(1 + dice.upTo(3));
    plan.mesh.data = static_cast<std::uint32_t>(1 + dice.upTo(1));
    for (std::uint64_t count = dice.upTo(3); count > 0; --count)
      plan.groups.push_back({dice.text(),
                             dice.word<Flow>(),
                             dice.word<Collective>(),
                             static_cast<std::uint8_t>(1 + dice.upTo(14)),
                             dice.any32(),
                             {dice.word<DataType>(), dice.any32(), 0}});
    for (std::uint64_t count = 1 + dice.upTo(1); count > 0; --count)
      plan.models.push_back(model());
    settings();
    for (std::uint32_t rank = 0; rank < representatives(plan.mesh); ++rank) {
      plan.programs.push_back(program());
      plan.layouts.push_back(layout());
      plan.programOf.push_back(static_cast<std::uint32_t>(dice.upTo(rank)));
      plan.layoutOf.push_back(static_cast<std::uint32_t>(dice.upTo(rank)));
    }
    return withSharedOperands(std::move(plan));
  }

private:
  Model model() {
    Model model;
    model.config = {dice.word<ModelFamily>(),
                    dice.word<DataType>(),
                    0,
                    dice.any32(),
                    dice.any32(),
                    dice.any32(),
                    dice.any32(),
                    dice.any32(),
                    dice.any32(),
                    dice.real(),
                    dice.real(),
                    dice.coin(),
                    dice.coin(),
                    dice.word<KernelLibrary>(),
                    dice.real(),
                    dice.real(),
                    0,
                    dice.any64(),
                    dice.any64(),
                    dice.any64(),
                    0};
    const std::uint64_t stages = 1 + dice.upTo(3);
    for (std::uint64_t stage = 0; stage < stages; ++stage) {
      const std::uint32_t first = model.config.layers;
      model.config.layers += static_cast<std::uint32_t>(dice.upTo(5));
      model.stages.push_back({first, model.config.layers, stage == 0, stage + 1 == stages});
    }
    model.checkpoint = dice.text();
    model.moduleFile = dice.text();
    model.moduleHash = {dice.any64(), dice.any64()};
    return model;
  }

  void settings() {
    plan.data = {dice.text(),        dice.any64(),     {dice.any64(), dice.any64()},
                 dice.any32(),       dice.any32(),     dice.any32(),
                 dice.any32(),       dice.any32(),     dice.any64(),
                 dice.word<Split>(), dice.word<Tail>()};
    if (dice.coin())
      plan.evaluation = {dice.text(),  dice.any64(), {dice.any64(), dice.any64()},
                         dice.any64(), dice.any64(), dice.any32(),
                         dice.any32(), dice.real()};
    plan.optimizer = {dice.real(), dice.real(),  dice.real(),        dice.real(), dice.real(),
                      dice.real(), dice.any64(), dice.word<Decay>(), dice.real()};
    for (std::uint64_t count = dice.upTo(2); count > 0; --count)
      plan.decisions.push_back(
          {dice.word<Decision>(), {dice.any32() % 7, 7, 8 + dice.any32() % 9}});
    for (std::uint64_t count = dice.upTo(3); count > 0; --count)
      plan.conditions.push_back({dice.word<Decision>(), dice.word<Comparison>(), dice.any32()});
    if (dice.coin())
      plan.checkpoint = {dice.text(), dice.any64(), dice.any32()};
    plan.run = {dice.text(), dice.any64(), dice.any64(), dice.text()};
    plan.limits = {dice.real(), dice.real(), dice.any64()};
    plan.gradientOrder = dice.word<GradientOrder>();
    plan.predictions = {dice.real(), dice.real(), dice.any32(),
                        dice.text(), dice.real(), dice.real()};
    for (std::uint64_t count = dice.upTo(2); count > 0; --count)
      plan.connect.push_back(dice.coin()
                                 ? ConnectRound{.allReplicas = true, .pairs = {}}
                                 : ConnectRound{.inEveryReplica = dice.coin(),
                                                .pairs = {{0, 1}, {2, 3 + dice.any32() % 100}}});
    for (const Signature &signature : signatures())
      if (dice.coin())
        plan.origins.push_back({code(signature.opcode), 1 + dice.any32() % 1000,
                                1 + dice.any32() % 100, dice.any32() % 100, dice.text()});
  }

  // One lane of each kind, so that every opcode finds its own.
  Program program() {
    Program program;
    for (std::size_t kind = 0; kind < namesOf<LaneKind>().size(); ++kind) {
      Lane lane{.kind = static_cast<LaneKind>(kind)};
      if (lane.kind == LaneKind::Send || lane.kind == LaneKind::Receive)
        lane = {lane.kind,
                dice.word<Flow>(),
                {dice.coin(), Axis::Pipeline, static_cast<std::int32_t>(dice.any32())},
                {dice.word<DataType>(), dice.any32(), 1 + dice.any32() / 2},
                dice.any32(),
                0};
      if (lane.kind == LaneKind::Group && plan.groups.empty())
        continue;
      if (lane.kind == LaneKind::Group)
        lane.group = static_cast<std::uint32_t>(dice.upTo(plan.groups.size() - 1));
      program.lanes.push_back(lane);
    }
    const auto model = static_cast<std::uint16_t>(dice.upTo(plan.models.size() - 1));
    for (std::uint64_t count = 1 + dice.upTo(2); count > 0; --count)
      program.stages.push_back(
          {model, static_cast<std::uint32_t>(dice.upTo(plan.models[model].stages.size() - 1))});
    for (std::uint64_t count = dice.upTo(3); count > 0; --count) {
      actions(program);
      oneCase(program);
      loop(program, /*mayHoldOthers=*/true);
    }
    actions(program);
    return program;
  }

  void loop(Program &program, bool mayHoldOthers) {
    const std::size_t place = program.loops.size();
    program.loops.push_back({.id = dice.any32(),
                             .begin = size(program),
                             .trips = dice.any32(),
                             .start = static_cast<std::int64_t>(dice.any64()),
                             .period = static_cast<std::int64_t>(1 + dice.any64() / 4)});
    if (dice.coin())
      program.loops[place].perTrip = dice.any32();
    if (mayHoldOthers && dice.coin())
      program.loops[place].until = static_cast<std::uint8_t>(dice.upTo(254));
    // Of an empty loop nobody could tell whether a case at the same action holds it.
    while (size(program) == program.loops[place].begin)
      actions(program);
    while (mayHoldOthers && dice.coin()) {
      if (dice.coin())
        oneCase(program);
      else
        loop(program, /*mayHoldOthers=*/false);
      actions(program);
    }
    program.loops[place].end = size(program);
  }

  // Holds an action at least, and maybe a loop.
  void oneCase(Program &program) {
    const std::uint32_t begin = size(program);
    actions(program);
    if (size(program) == begin)
      return;
    if (dice.coin())
      loop(program, /*mayHoldOthers=*/false);
    program.cases.push_back({begin, size(program), static_cast<std::uint8_t>(dice.upTo(254))});
  }

  static std::uint32_t size(const Program &program) {
    return static_cast<std::uint32_t>(program.actions.size());
  }

  void actions(Program &program) {
    for (std::uint64_t count = dice.upTo(5); count > 0; --count)
      action(program, signatures()[dice.upTo(signatures().size() - 1)]);
  }

  void action(Program &program, const Signature &signature) {
    const auto lane = static_cast<std::size_t>(signature.lane);
    if (lane >= program.lanes.size())
      return;
    Action action{.opcode = code(signature.opcode),
                  .lane = static_cast<std::uint8_t>(lane),
                  .flags = static_cast<std::uint8_t>(dice.coin() ? kSignalled | kLastUse : 0),
                  .time = static_cast<std::int32_t>(dice.any32())};
    for (Wait &wait : action.waits)
      if (dice.coin()) // gaps between waits are kept
        wait = Wait::on(static_cast<int>(dice.upTo(program.lanes.size() - 1)),
                        static_cast<int>(1 + dice.upTo(1022)));
    if (signature.perStage || signature.family == Family::Transfer)
      action.stage = static_cast<std::uint16_t>(dice.upTo(program.stages.size() - 1));
    if (signature.perMicrobatch)
      action.microbatch = dice.any32();
    if (signature.family == Family::Transfer) {
      action.immediate = static_cast<std::uint16_t>(dice.word<BufferKind>());
      action.flags |= dice.coin() ? kGroupBegin | kGroupEnd : 0;
    }
    if (signature.opcode == Opcode::Backward)
      action.immediate = dice.coin() ? kOverwriteGradients : 0;
    action.guard = static_cast<std::uint8_t>(dice.upTo(255));
    action.step = static_cast<std::uint8_t>(dice.upTo(255));
    if (dice.coin())
      giveOperands(program, action, signature);
    program.actions.push_back(action);
  }

  void giveOperands(Program &program, Action &action, const Signature &signature) {
    action.operands = static_cast<std::uint32_t>(program.operands.size());
    action.operandCount = static_cast<std::uint16_t>(signature.operands.size());
    std::uint32_t next = static_cast<std::uint32_t>(dice.upTo(3));
    for (const OperandSignature &operand : signature.operands)
      program.operands.push_back(operand.optional && dice.coin() ? kNoBuffer : next++);
  }

  Layout layout() {
    Layout layout;
    for (std::uint64_t count = dice.upTo(4); count > 0; --count) {
      const std::uint32_t bytes = dice.any32();
      layout.buffers.push_back({dice.word<BufferKind>(), dice.word<Tier>(),
                                dice.coin() ? kNoStage : static_cast<std::uint16_t>(dice.upTo(3)),
                                1 + dice.any32() / 2, bytes, bytes + dice.upTo(100), dice.any64()});
    }
    layout.arena = {dice.any64(), dice.any64()};
    return layout;
  }

  Dice dice;
  Plan plan;
};

} // namespace

Plan randomPlan(std::uint32_t seed) { return Maker(seed).make(); }

Plan withSharedOperands(Plan plan) {
  for (Program &program : plan.programs) {
    std::map<std::vector<std::uint32_t>, std::uint32_t> places;
    std::vector<std::uint32_t> pool;
    for (Action &action : program.actions) {
      const auto first = program.operands.begin() + action.operands;
      const std::vector<std::uint32_t> list(first, first + action.operandCount);
      const auto [place, isNew] = places.try_emplace(list, static_cast<std::uint32_t>(pool.size()));
      if (isNew)
        pool.insert(pool.end(), list.begin(), list.end());
      action.operands = list.empty() ? 0 : place->second;
    }
    program.operands = std::move(pool);
  }
  return plan;
}

} // namespace vime
