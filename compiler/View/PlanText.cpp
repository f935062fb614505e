// The lossless text form. Grammar: compiler/docs/plan-format.md, "As text".
#include "compiler/View/PlanText.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/View/Quote.h"
#include "runtime/Plan/Describe.h"
#include "runtime/Plan/Names.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {
namespace {

using namespace plan;

class TextWriter {
public:
  explicit TextWriter(const Plan &plan) : plan(plan) {}

  std::string write() {
    head();
    settings();
    models();
    groups();
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

  void head();
  void settings();
  void models();
  void groups();
  void decisions();
  void bindings();
  void job();
  void program(std::uint32_t index);
  void lane(const Lane &lane, std::uint32_t rank, std::uint32_t index);
  void pool(const Program &program);
  void actions(const Program &program, std::uint32_t rank);
  void action(const Program &program, std::uint32_t rank, std::uint32_t index);
  void waits(const Action &action);
  void flags(std::uint8_t flags);
  void operands(const Program &program, const Action &action);
  void layout(std::uint32_t index);
  void message(const Message &message);

  const Plan &plan;
  fmt::memory_buffer text;
};

/// The first rank with the program (layout), for comments.
std::uint32_t rankWith(const std::vector<std::uint32_t> &binding, std::uint32_t index) {
  return static_cast<std::uint32_t>(std::find(binding.begin(), binding.end(), index) -
                                    binding.begin());
}

std::vector<std::string_view> axesOf(std::uint8_t bits) {
  std::vector<std::string_view> names;
  for (std::size_t axis = 0; axis < namesOf<Axis>().size(); ++axis)
    if (bits >> axis & 1)
      names.push_back(namesOf<Axis>()[axis]);
  return names;
}

void TextWriter::head() {
  line("plan 1 # id {}", toHex(planId(plan)));
  line("compiler {}", quote(plan.compiler));
  line("schedule {}", quote(plan.schedule));
  line("mesh pp {} dp {} cp {} tp {}", plan.mesh.pipeline, plan.mesh.data, plan.mesh.context,
       plan.mesh.tensor);
}

void TextWriter::settings() {
  const RunSettings &run = plan.run;
  line("run name {} steps {} seed {} export_to {}", quote(run.name), run.steps, run.seed,
       quote(run.exportTo));
  const DataSettings &data = plan.data;
  line("data text {} text_bytes {} text_hash {} sequence {} samples {} microbatches {} tail {}",
       quote(data.text), data.textBytes, toHex(data.textHash), data.sequence, data.samples,
       data.microbatches, wordOf(data.tail));
  if (const EvaluationSettings &held = plan.evaluation; held != EvaluationSettings())
    line("evaluation text {} text_bytes {} text_hash {} every {} microbatches {} patience {} "
         "target {}",
         quote(held.text), held.textBytes, toHex(held.textHash), held.every, held.microbatches,
         held.patience, held.target);
  const OptimizerSettings &optimizer = plan.optimizer;
  line("optimizer learning_rate {} beta1 {} beta2 {} epsilon {} weight_decay {} clip {} warmup {} "
       "decay {} floor {}",
       optimizer.learningRate, optimizer.beta1, optimizer.beta2, optimizer.epsilon,
       optimizer.weightDecay, optimizer.clip, optimizer.warmup, wordOf(optimizer.decay),
       optimizer.floor);
  if (const CheckpointSettings &checkpoint = plan.checkpoint; checkpoint != CheckpointSettings())
    line("checkpoint directory {} every {} keep {}", quote(checkpoint.directory), checkpoint.every,
         checkpoint.keep);
  line("limits transfer_seconds {} memory_bytes {}", plan.limits.transferSeconds,
       plan.limits.memoryBytes);
  line("predictions step_units {} bubble {} peak_live {}", plan.predictions.stepUnits,
       plan.predictions.bubble, plan.predictions.peakLive);
}

void TextWriter::models() {
  for (std::size_t index = 0; index < plan.models.size(); ++index) {
    const auto &[c, stages, checkpoint] = plan.models[index];
    line("model {} family {} type {} layers {} hidden {} heads {} kv_heads {} head_width {} ffn {} "
         "vocab {} "
         "rope_theta {} norm_epsilon {} tied_head {:d} recomputes_layers {:d} forward_seconds {} "
         "backward_input_seconds {} "
         "backward_weight_seconds {} "
         "checkpoint {}",
         index, wordOf(c.family), wordOf(c.type), c.layers, c.hidden, c.heads, c.kvHeads,
         c.headWidth, c.ffn, c.vocab, c.ropeTheta, c.normEpsilon, c.tiedHead, c.recomputesLayers,
         c.forwardSeconds, c.backwardInputSeconds, c.backwardWeightSeconds, quote(checkpoint));
    for (std::size_t stage = 0; stage < stages.size(); ++stage)
      line("part {} of model {} layers {} to {}{}{}", stage, index, stages[stage].first,
           stages[stage].end, stages[stage].embedding ? " embedding" : "",
           stages[stage].head ? " head" : "");
  }
}

void TextWriter::message(const Message &message) {
  put(" type {} fixed {} per_token {}", wordOf(message.type), message.fixed, message.perToken);
}

void TextWriter::groups() {
  for (std::size_t index = 0; index < plan.groups.size(); ++index) {
    const Group &group = plan.groups[index];
    put("group {} name {} flow {} operation {} axes {} root {}", index, quote(group.name),
        nameOf(group.flow), nameOf(group.operation), fmt::join(axesOf(group.axes), ","),
        group.root);
    message(group.message);
    text.push_back('\n');
  }
}

void TextWriter::decisions() {
  for (const auto &[decision, values] : plan.decisions)
    line("decision {} values {}", wordOf(decision), fmt::join(values, ","));
  for (std::size_t index = 0; index < plan.conditions.size(); ++index) {
    const auto &[decision, comparison, value] = plan.conditions[index];
    line("condition {} {} {} {}", index + 1, wordOf(decision), wordOf(comparison), value);
  }
}

void TextWriter::bindings() {
  const std::size_t places = std::min(plan.programOf.size(), plan.layoutOf.size());
  const std::size_t pipeline = std::max(plan.mesh.pipeline, 1u);
  for (std::size_t place = 0; place < places; ++place) {
    put("rank pp {}", place % pipeline);
    if (plan.mesh.data > 1)
      put(" dp {}", place < pipeline ? "0" : "1+");
    line(" program {} layout {}", plan.programOf[place], plan.layoutOf[place]);
  }
  for (const ConnectRound &round : plan.connect) {
    put("connect{}", round.inEveryReplica ? " in_every_replica" : "");
    for (const auto &[low, high] : round.pairs)
      put(" {}-{}", low, high);
    text.push_back('\n');
  }
  for (const Origin &origin : plan.origins) {
    const Signature *signature = findSignature(origin.opcode);
    line("origin {} line {} column {} length {} key {}", signature ? signature->name : "?",
         origin.line, origin.column, origin.length, quote(origin.key));
  }
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
    line("stage {} is {} of model {}", stage, program.stages[stage].stage,
         program.stages[stage].model);
  for (std::uint32_t lane = 0; lane < program.lanes.size(); ++lane)
    this->lane(program.lanes[lane], rank, lane);
  for (const auto &[id, begin, end, trips, start, period, until] : program.loops) {
    put("loop {} begin {} end {} trips {} start {} period {}", id, begin, end, trips, start,
        period);
    if (until != 0)
      put(" until {}", until);
    text.push_back('\n');
  }
  for (std::size_t index = 0; index < program.cases.size(); ++index)
    line("case {} begin {} end {} condition {}", index, program.cases[index].begin,
         program.cases[index].end, program.cases[index].condition);
  pool(program);
  actions(program, rank);
}

/// What a lane of its kind does not use is left out unless it is there all the same.
void TextWriter::lane(const Lane &lane, std::uint32_t rank, std::uint32_t index) {
  const bool transfers = lane.kind == LaneKind::Send || lane.kind == LaneKind::Receive;
  const Lane unset;
  put("lane {} {}", index, wordOf(lane.kind));
  if (lane.kind == LaneKind::Group)
    put(" {}", lane.group);
  if (transfers || lane.flow != unset.flow)
    put(" flow {}", nameOf(lane.flow));
  if (transfers || lane.peer != unset.peer)
    put(" peer {}{}{}", nameOf(lane.peer.axis),
        lane.peer.relative ? (lane.peer.value < 0 ? "" : "+") : "=", lane.peer.value);
  if (transfers || lane.message != unset.message)
    message(lane.message);
  if (transfers || lane.slots != unset.slots)
    put(" slots {}", lane.slots);
  if (lane.kind != LaneKind::Group && lane.group != unset.group)
    put(" group {}", lane.group);
  line(" # {}", describeLane(plan, rank, index));
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
      line("# loop {}, {} times", loop->id, loop->trips);
      open.push_back(&*loop);
    }
    if (one != program.cases.end() && index == one->begin)
      line("# case: {}", describeCondition(plan, one->condition));
    action(program, rank, index);
    if (one != program.cases.end() && index + 1 == one->end)
      line("# end of case {}", one++ - program.cases.begin());
    for (; !open.empty() && index + 1 == open.back()->end; open.pop_back())
      line("# end of loop {}", open.back()->id);
  }
}

void TextWriter::action(const Program &program, std::uint32_t rank, std::uint32_t index) {
  const Action &action = program.actions[index];
  const Signature *signature = findSignature(action.opcode);
  put("action {} {} lane {} time {}", index, signature ? signature->name : "?", action.lane,
      action.time);
  if (action.stage != 0 || (signature && signature->perStage))
    put(" stage {}", action.stage);
  if (action.microbatch != 0 || (signature && signature->perMicrobatch))
    put(" microbatch {}", action.microbatch);
  if (action.step != 0)
    put(" step {}", action.step);
  if (action.guard != 0)
    put(" guard {}", action.guard);
  if (action.immediate != 0)
    put(" immediate {}", action.immediate);
  flags(action.flags);
  waits(action);
  operands(program, action);
  line(" # {}", describe(plan, rank, index));
}

void TextWriter::flags(std::uint8_t flags) {
  if (flags == 0)
    return;
  const char *separator = " flags ";
  for (std::size_t bit = 0; bit < 8; ++bit)
    if (flags >> bit & 1) {
      put("{}{}", separator, flagName(bit));
      separator = ",";
    }
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
  for (std::uint32_t buffer = 0; buffer < layout.buffers.size(); ++buffer) {
    const auto &[kind, tier, stage, count, bytes, stride, offset] = layout.buffers[buffer];
    put("buffer {} {} tier {}", buffer, nameOf(kind), nameOf(tier));
    if (stage != kNoStage)
      put(" stage {}", stage);
    line(" count {} bytes {} stride {} offset {} # {}", count, bytes, stride, offset,
         describeBuffer(plan, rank, buffer));
  }
}

} // namespace

std::string planText(const Plan &plan) { return TextWriter(plan).write(); }

} // namespace vime
