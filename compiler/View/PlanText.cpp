// The lossless text form. Grammar: compiler/docs/plan-format.md, "As text".
#include "compiler/View/PlanText.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/Diagnostics/Utf8.h"
#include "compiler/View/PlanColumns.h"
#include "compiler/View/Quote.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Names.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

using namespace plan;

/// Appends the columns of a line to the text.
class ColumnWriter {
public:
  explicit ColumnWriter(fmt::memory_buffer &text) : text(text) {}

  void operator()(std::string_view name, const auto &member) {
    word(name);
    value(member);
  }
  void optional(std::string_view name, const auto &member, bool shown) {
    if (shown)
      (*this)(name, member);
  }
  bool finds(std::string_view, bool shown) const { return shown; }
  void flag(std::string_view name, bool isSet) {
    if (isSet)
      word(name);
  }
  void bits(std::string_view name, std::uint8_t bits, std::string_view (*nameOfBit)(std::size_t),
            bool shown) {
    if (!shown)
      return;
    word(name);
    if (bits == 0)
      word("-");
    char separator = ' ';
    for (std::size_t bit = 0; bit < 8; ++bit)
      if (bits >> bit & 1) {
        put("{}{}", separator, nameOfBit(bit));
        separator = ',';
      }
  }
  void opcode(std::uint16_t opcode) {
    const Signature *signature = findSignature(opcode);
    word(signature ? signature->name : "?");
  }
  void word(std::string_view word) { put(" {}", word); }

  void value(bool isSet) { put(" {:d}", isSet); }
  void value(const std::string &words) { put(" {}", quote(words)); }
  void value(const std::vector<std::uint32_t> &numbers) { put(" {}", fmt::join(numbers, ",")); }
  void value(const Hash128 &hash) { put(" {}", toHex(hash)); }
  void value(const Peer &peer) {
    value(peer.axis);
    put("{}{}", peer.relative ? (peer.value < 0 ? "" : "+") : "=", peer.value);
  }
  template <typename T> void value(const T &member) {
    if constexpr (!std::is_enum_v<T>)
      put(" {}", member);
    else if (isEnumerator(member))
      word(wordOf(member));
    else // of a field that its record does not use, which nobody checks
      put(" ?{}", static_cast<unsigned>(member));
  }

private:
  template <typename... T> void put(fmt::format_string<T...> format, T &&...values) {
    fmt::format_to(std::back_inserter(text), format, std::forward<T>(values)...);
  }
  fmt::memory_buffer &text;
};

class TextWriter {
public:
  explicit TextWriter(const Plan &plan) : plan(plan) {}

  std::string write() {
    head();
    models();
    for (std::size_t group = 0; group < plan.groups.size(); ++group)
      row(fmt::format("group {}", group), plan.groups[group]);
    decisions();
    bindings();
    job();
    for (std::uint32_t program = 0; program < plan.programs.size(); ++program)
      this->program(program);
    for (std::uint32_t layout = 0; layout < plan.layouts.size(); ++layout)
      this->layout(layout);
    return fmt::to_string(text);
  }

private:
  template <typename... T> void line(fmt::format_string<T...> format, T &&...values) {
    put(format, std::forward<T>(values)...);
    text.push_back('\n');
  }
  template <typename... T> void put(fmt::format_string<T...> format, T &&...values) {
    fmt::format_to(std::back_inserter(text), format, std::forward<T>(values)...);
  }
  /// A line: what it is about, the columns of the record, and a comment.
  void row(std::string_view what, const auto &record, std::string_view comment = "") {
    put("{}", what);
    ColumnWriter visit(text);
    columns(record, visit);
    end(comment);
  }
  void end(std::string_view comment) {
    if (comment.find('\n') != comment.npos)
      put(" # {}", printable(comment));
    else if (!comment.empty())
      put(" # {}", comment);
    text.push_back('\n');
  }

  void head();
  void models();
  void decisions();
  void bindings();
  void job();
  void program(std::uint32_t index);
  void pool(const Program &program);
  void actions(const Program &program, std::uint32_t rank);
  void action(const Program &program, std::uint32_t rank, std::uint32_t index);
  void waits(const Action &action);
  void operands(const Program &program, const Action &action);
  void layout(std::uint32_t index);

  const Plan &plan;
  fmt::memory_buffer text;
};

/// The first rank with the program (layout), for comments.
std::uint32_t rankWith(const std::vector<std::uint32_t> &binding, std::uint32_t index) {
  return static_cast<std::uint32_t>(std::find(binding.begin(), binding.end(), index) -
                                    binding.begin());
}

void TextWriter::head() {
  line("plan 1 # id {}", toHex(planId(plan)));
  line("compiler {}", quote(plan.compiler));
  line("schedule {}", quote(plan.schedule));
  if (plan.gradientOrder != GradientOrder::Ascending)
    line("gradients {}", wordOf(plan.gradientOrder));
  row("mesh", plan.mesh);
  row("run", plan.run);
  row("data", plan.data);
  if (plan.evaluation != EvaluationSettings())
    row("evaluation", plan.evaluation);
  if (plan.round != RoundSettings())
    row("round", plan.round);
  row("optimizer", plan.optimizer);
  if (plan.checkpoint != CheckpointSettings())
    row("checkpoint", plan.checkpoint);
  row("limits", plan.limits);
  row("predictions", plan.predictions);
}

void TextWriter::models() {
  for (std::size_t index = 0; index < plan.models.size(); ++index) {
    const auto &[config, stages, checkpoint, moduleFile, moduleHash, sharded] = plan.models[index];
    put("model {}", index);
    ColumnWriter visit(text);
    columns(config, visit);
    visit("checkpoint", checkpoint);
    visit.optional("module", moduleFile, !moduleFile.empty());
    visit.optional("module_hash", moduleHash, moduleHash != Hash128());
    visit.flag("sharded", sharded);
    end("");
    for (std::size_t stage = 0; stage < stages.size(); ++stage)
      row(fmt::format("part {} of model {}", stage, index), stages[stage]);
  }
}

void TextWriter::decisions() {
  for (const DecisionRange &range : plan.decisions)
    row("decision", range);
  for (std::size_t index = 0; index < plan.conditions.size(); ++index)
    row(fmt::format("condition {}", index + 1), plan.conditions[index]);
}

void TextWriter::bindings() {
  const std::size_t places = std::min(plan.programOf.size(), plan.layoutOf.size());
  const std::size_t pipeline = std::max(plan.mesh.pipeline, 1u), trainers = plan.mesh.trainers();
  for (std::size_t place = 0; place < places; ++place) {
    if (plan.mesh.engines != 0 && place >= trainers) {
      line("rank engine {} program {} layout {}", place - trainers, plan.programOf[place],
           plan.layoutOf[place]);
      continue;
    }
    put("rank pp {}", place % pipeline);
    if (plan.mesh.data > 1)
      put(" dp {}", place < pipeline ? "0" : "1+");
    line(" program {} layout {}", plan.programOf[place], plan.layoutOf[place]);
  }
  for (const ConnectRound &round : plan.connect) {
    put("connect{}{}", round.inEveryReplica ? " in_every_replica" : "",
        round.allReplicas ? " all_replicas" : "");
    for (const auto &[low, high] : round.pairs)
      put(" {}-{}", low, high);
    text.push_back('\n');
  }
  for (const Origin &origin : plan.origins)
    row("origin", origin);
}

/// Line by line behind `| `; `\ ` begins a last line that has no end.
void TextWriter::job() {
  line("job");
  for (std::string_view rest = plan.job; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    if (end == rest.npos) {
      line("\\ {}", rest);
      break;
    }
    line("| {}", rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
}

void TextWriter::program(std::uint32_t index) {
  const Program &program = plan.programs[index];
  const std::uint32_t rank = rankWith(plan.programOf, index);
  line("\nprogram {}", index);
  for (std::size_t stage = 0; stage < program.stages.size(); ++stage)
    row(fmt::format("stage {}", stage), program.stages[stage]);
  for (std::uint32_t lane = 0; lane < program.lanes.size(); ++lane)
    row(fmt::format("lane {}", lane), program.lanes[lane], describeLane(plan, rank, lane));
  for (const Loop &loop : program.loops)
    row("loop", loop);
  for (std::size_t one = 0; one < program.cases.size(); ++one)
    row(fmt::format("case {}", one), program.cases[one]);
  pool(program);
  actions(program, rank);
}

/// Entries of the operand pool that no action names: with them the pool is complete.
void TextWriter::pool(const Program &program) {
  std::vector<bool> named(program.operands.size());
  for (const Action &action : program.actions)
    for (std::size_t entry = action.operands;
         entry < std::size_t(action.operands) + action.operandCount; ++entry)
      if (entry < named.size())
        named[entry] = true;
  for (std::size_t entry = 0; entry < named.size(); ++entry)
    if (!named[entry])
      line("pool {} {}", entry, program.operands[entry]);
}

void TextWriter::actions(const Program &program, std::uint32_t rank) {
  auto loop = program.loops.begin();
  auto one = program.cases.begin();
  std::vector<const Loop *> open;
  for (std::uint32_t index = 0; index < program.actions.size(); ++index) {
    for (; loop != program.loops.end() && index == loop->begin; ++loop) {
      line("# loop {}, {} times{}", loop->id, loop->trips,
           loop->perTrip == 0 ? "" : " in a whole step");
      open.push_back(&*loop);
    }
    if (one != program.cases.end() && index == one->begin)
      line("# case: {}", one->condition == 0 ? "always" : describeCondition(plan, one->condition));
    action(program, rank, index);
    if (one != program.cases.end() && index + 1 == one->end)
      line("# end of case {}", one++ - program.cases.begin());
    for (; !open.empty() && index + 1 == open.back()->end; open.pop_back())
      line("# end of loop {}", open.back()->id);
  }
}

void TextWriter::action(const Program &program, std::uint32_t rank, std::uint32_t index) {
  const Action &action = program.actions[index];
  put("action {}", index);
  ColumnWriter visit(text);
  columns(action, visit);
  waits(action);
  operands(program, action);
  end(describe(plan, rank, index));
}

/// `lane:distance`, latest last; `-` keeps the place of an empty one before another.
void TextWriter::waits(const Action &action) {
  std::size_t count = action.waits.size();
  while (count != 0 && action.waits[count - 1].empty())
    --count;
  if (count != 0)
    put(" waits");
  for (std::size_t wait = 0; wait < count; ++wait)
    if (action.waits[wait].empty())
      put(" -");
    else
      put(" {}:{}", action.waits[wait].lane(), action.waits[wait].distance());
}

/// `operands FIRST name buffer …`: FIRST is the place in the pool.
void TextWriter::operands(const Program &program, const Action &action) {
  const Signature *signature = findSignature(action.opcode);
  if (action.operandCount != 0 || action.operands != 0)
    put(" operands {}", action.operands);
  for (std::size_t operand = 0; operand < action.operandCount; ++operand) {
    const std::size_t entry = action.operands + operand;
    put(" {}", signature && operand < signature->operands.size() ? signature->operands[operand].name
                                                                 : "?");
    if (entry >= program.operands.size())
      put(" ?");
    else if (program.operands[entry] == kNoBuffer)
      put(" -");
    else
      put(" {}", program.operands[entry]);
  }
}

void TextWriter::layout(std::uint32_t index) {
  const Layout &layout = plan.layouts[index];
  const std::uint32_t rank = rankWith(plan.layoutOf, index);
  line("\nlayout {}", index);
  line("arena device {} host {}", layout.arena[0], layout.arena[1]);
  for (std::uint32_t buffer = 0; buffer < layout.buffers.size(); ++buffer)
    row(fmt::format("buffer {}", buffer), layout.buffers[buffer],
        describeBuffer(plan, rank, buffer));
}

} // namespace

std::string planText(const Plan &plan) { return TextWriter(plan).write(); }

} // namespace vime
