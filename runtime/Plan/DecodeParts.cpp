#include "runtime/Plan/DecodeParts.h"

namespace vime::plan {
namespace {

// FlatBuffers lets many references share one target, so that a count in a small file stands for any
// amount of memory: what is repeated inside something repeated is counted before it is copied.
constexpr std::size_t kMostGroups = 64, kMostModels = 256, kMostOrigins = 1024, kMostText = 1 << 16,
                      kMostModelStages = 1 << 16, kMostMembers = 1 << 16, kMostDecisions = 16,
                      kMostConditions = 254;

template <typename Table>
const Table *rootOf(std::string_view bytes, const char *identifier = nullptr) {
  const auto *data = reinterpret_cast<const std::uint8_t *>(bytes.data());
  flatbuffers::Verifier verifier(data, bytes.size(), /*max_depth=*/16, /*max_tables=*/1 << 22);
  if (bytes.size() < 16 || !verifier.VerifyBuffer<Table>(identifier))
    return nullptr;
  return flatbuffers::GetRoot<Table>(data);
}

/// A value that fits no byte becomes one that no enumeration and no axis set has.
std::uint8_t byteOf(std::uint32_t value) {
  return value < 0xFF ? static_cast<std::uint8_t>(value) : 0xFF;
}
template <typename Enum> Enum enumOf(std::uint32_t value) {
  return static_cast<Enum>(byteOf(value));
}
std::uint16_t shortOf(std::uint32_t value) {
  return value < 0xFFFF ? static_cast<std::uint16_t>(value) : 0xFFFF;
}

bool takeText(const flatbuffers::String *text, std::string &to) {
  if (text->size() > kMostText)
    return false;
  to = text->str();
  return true;
}

bool takeFlag(std::uint32_t value, bool &to) {
  to = value != 0;
  return value <= 1;
}

Message decode(const file::Message &message) {
  return {enumOf<DataType>(message.type()), message.fixed(), message.per_token()};
}

Hash128 decode(const file::Hash &hash) { return {hash.low(), hash.high()}; }

bool decode(const file::Group &table, Group &group) {
  group.flow = enumOf<Flow>(table.flow());
  group.operation = enumOf<Collective>(table.operation());
  group.axes = byteOf(table.axes());
  group.root = table.root();
  group.message = decode(*table.message());
  if (table.members()) {
    if (table.members()->size() > kMostMembers)
      return false;
    group.members.assign(table.members()->begin(), table.members()->end());
  }
  return takeText(table.name(), group.name);
}

bool decode(const file::Decision &table, DecisionRange &range) {
  if (table.values()->size() > kMostText)
    return false;
  range.decision = enumOf<Decision>(table.decision());
  range.values.assign(table.values()->begin(), table.values()->end());
  return true;
}

bool decode(const file::Model &table, Model &model) {
  ModelConfig &config = model.config;
  config.family = enumOf<ModelFamily>(table.family());
  config.type = enumOf<DataType>(table.type());
  config.layers = table.layers();
  config.hidden = table.hidden();
  config.heads = table.heads();
  config.kvHeads = table.kv_heads();
  config.headWidth = table.head_width();
  config.ffn = table.ffn();
  config.vocab = table.vocab();
  config.ropeTheta = table.rope_theta();
  config.normEpsilon = table.norm_epsilon();
  config.tiedHead = table.tied_head();
  config.recomputesLayers = table.recomputes_layers();
  config.kernels = enumOf<KernelLibrary>(table.kernels());
  config.forwardSeconds = table.forward_seconds();
  config.backwardInputSeconds = table.backward_input_seconds();
  config.backwardWeightSeconds = table.backward_weight_seconds();
  config.embeddingElements = table.embedding_elements();
  config.layerElements = table.layer_elements();
  config.headElements = table.head_elements();
  config.taskBytes = table.task_bytes();
  model.moduleHash = decode(*table.module_hash());
  model.sharded = table.sharded();
  if (table.stages()->size() > kMostModelStages)
    return false;
  for (const file::StageRange *range : *table.stages()) {
    StageRange &stage = model.stages.emplace_back(StageRange{range->first(), range->end()});
    if (!takeFlag(range->embedding(), stage.embedding) || !takeFlag(range->head(), stage.head))
      return false;
  }
  return takeText(table.checkpoint(), model.checkpoint) &&
         takeText(table.module_file(), model.moduleFile);
}

SamplingSettings decode(const file::Sampling &sampling) {
  return {sampling.temperature(), sampling.top_p(), sampling.top_k()};
}

bool decode(const file::Prompts &table, PromptSettings &prompts) {
  prompts.bytes = table.bytes();
  prompts.hash = decode(*table.hash());
  return takeText(table.file(), prompts.file);
}

bool decode(const file::Rollout &table, RolloutSettings &rollout) {
  rollout.engines = table.engines();
  rollout.steps = table.steps();
  rollout.prompts = table.prompts();
  rollout.candidates = table.candidates();
  rollout.samples = table.samples();
  rollout.maxPrompt = table.max_prompt();
  rollout.maxNew = table.max_new();
  rollout.slots = table.slots();
  rollout.stepTokens = table.step_tokens();
  rollout.sampling = decode(*table.sampling());
  rollout.dropsEqualRewards = table.drops_equal_rewards();
  if (table.stops()->size() > kMostText)
    return false;
  rollout.stops.assign(table.stops()->begin(), table.stops()->end());
  return takeText(table.dump(), rollout.dump);
}

bool decode(const file::Reward &table, RewardSettings &reward) {
  reward.kind = enumOf<RewardKind>(table.kind());
  reward.timeoutSeconds = table.timeout_seconds();
  reward.retries = table.retries();
  reward.workers = table.workers();
  reward.minWorkers = table.min_workers();
  return takeText(table.what(), reward.what);
}

AlgorithmSettings decode(const file::Algorithm &table) {
  return {.advantage = enumOf<AdvantageRule>(table.advantage()),
          .objective = enumOf<PolicyObjective>(table.objective()),
          .unit = enumOf<LossUnit>(table.unit()),
          .clipLow = table.clip_low(),
          .clipHigh = table.clip_high(),
          .dualClip = table.dual_clip(),
          .klCoefficient = table.kl_coefficient(),
          .klInReward = table.kl_in_reward(),
          .klEstimator = enumOf<KlEstimator>(table.kl_estimator()),
          .entropy = table.entropy(),
          .correction = enumOf<Correction>(table.correction()),
          .correctionLow = table.correction_low(),
          .correctionHigh = table.correction_high()};
}

bool decode(const file::Round &table, RoundSettings &round) {
  round.algorithm = decode(*table.algorithm());
  round.sync.bucket = table.bucket();
  const file::PromptEvaluation &evaluation = *table.evaluation();
  round.evaluation.every = evaluation.every();
  round.evaluation.count = evaluation.count();
  round.evaluation.samples = evaluation.samples();
  round.evaluation.sampling = decode(*evaluation.sampling());
  return decode(*table.rollout(), round.rollout) && decode(*table.prompts(), round.prompts) &&
         decode(*table.reward(), round.reward) &&
         decode(*evaluation.prompts(), round.evaluation.prompts);
}

bool decodeSettings(const file::Common &table, Plan &plan) {
  const file::Data &data = *table.data();
  plan.data.textBytes = data.text_bytes();
  plan.data.textHash = decode(*data.text_hash());
  plan.data.sequence = data.sequence();
  plan.data.samples = data.samples();
  plan.data.tokens = data.tokens();
  plan.data.microbatches = data.microbatches();
  plan.data.slices = data.slices();
  plan.data.batch = data.batch();
  plan.data.split = enumOf<Split>(data.split());
  plan.data.tail = enumOf<Tail>(data.tail());
  const file::Evaluation &evaluation = *table.evaluation();
  plan.evaluation.textBytes = evaluation.text_bytes();
  plan.evaluation.textHash = decode(*evaluation.text_hash());
  plan.evaluation.every = evaluation.every();
  plan.evaluation.batch = evaluation.batch();
  plan.evaluation.microbatches = evaluation.microbatches();
  plan.evaluation.patience = evaluation.patience();
  plan.evaluation.target = evaluation.target();
  const file::Optimizer &optimizer = *table.optimizer();
  plan.optimizer = {optimizer.learning_rate(), optimizer.beta1(),
                    optimizer.beta2(),         optimizer.epsilon(),
                    optimizer.weight_decay(),  optimizer.clip(),
                    optimizer.warmup(),        enumOf<Decay>(optimizer.decay()),
                    optimizer.floor()};
  plan.checkpoint.every = table.checkpoint()->every();
  plan.checkpoint.keep = table.checkpoint()->keep();
  plan.run.steps = table.run()->steps();
  plan.run.seed = table.run()->seed();
  plan.limits = {table.limits()->connect_seconds(), table.limits()->transfer_seconds(),
                 table.limits()->memory_bytes()};
  return takeText(data.text(), plan.data.text) &&
         takeText(evaluation.text(), plan.evaluation.text) &&
         takeText(table.run()->name(), plan.run.name) &&
         takeText(table.run()->export_to(), plan.run.exportTo) &&
         takeText(table.checkpoint()->directory(), plan.checkpoint.directory);
}

/// Stage tables of all programs, cut where they end.
bool decodeStageTables(const file::Common &table, Plan &plan) {
  std::uint32_t begin = 0;
  for (const std::uint32_t end : *table.stage_ends()) {
    if (end < begin || end > table.stages()->size())
      return false;
    Program &program = plan.programs.emplace_back();
    for (; begin < end; ++begin) {
      const file::LocalStage &stage = *table.stages()->Get(begin);
      program.stages.push_back({shortOf(stage.model()), stage.stage()});
    }
  }
  return begin == table.stages()->size();
}

} // namespace

const file::Header *decodeHeader(std::string_view bytes) {
  return rootOf<file::Header>(bytes, file::HeaderIdentifier());
}

bool decodeCommon(std::string_view bytes, Plan &plan) {
  const auto *table = rootOf<file::Common>(bytes);
  if (!table || table->groups()->size() > kMostGroups || table->models()->size() > kMostModels ||
      table->layouts() > table->layout_of()->size() ||
      table->decisions()->size() > kMostDecisions || table->conditions()->size() > kMostConditions)
    return false;
  for (const file::Decision *decision : *table->decisions())
    if (!decode(*decision, plan.decisions.emplace_back()))
      return false;
  for (const file::Condition *condition : *table->conditions())
    plan.conditions.push_back({enumOf<Decision>(condition->decision()),
                               enumOf<Comparison>(condition->comparison()), condition->value()});
  for (const file::Group *group : *table->groups())
    if (!decode(*group, plan.groups.emplace_back()))
      return false;
  for (const file::Model *model : *table->models())
    if (!decode(*model, plan.models.emplace_back()))
      return false;
  const file::Mesh &mesh = *table->mesh();
  plan.gradientOrder = enumOf<GradientOrder>(table->gradient_order());
  plan.mesh = {mesh.pipeline(), mesh.data(), mesh.context(), mesh.tensor(), mesh.engines()};
  if (table->round() && !decode(*table->round(), plan.round))
    return false;
  plan.layouts.resize(table->layouts());
  plan.programOf.assign(table->program_of()->begin(), table->program_of()->end());
  plan.layoutOf.assign(table->layout_of()->begin(), table->layout_of()->end());
  return takeText(table->schedule(), plan.schedule) && decodeSettings(*table, plan) &&
         decodeStageTables(*table, plan);
}

bool decodeProgram(std::string_view bytes, Program &program) {
  const auto *table = rootOf<file::Program>(bytes);
  if (!table)
    return false;
  for (const file::Lane *lane : *table->lanes()) {
    Lane &to = program.lanes.emplace_back();
    to.kind = static_cast<LaneKind>(lane->kind());
    to.flow = static_cast<Flow>(lane->flow());
    to.peer.axis = static_cast<Axis>(lane->axis());
    to.peer.value = lane->peer();
    to.message = decode(lane->message());
    to.slots = lane->slots();
    to.group = lane->group();
    if (!takeFlag(lane->relative(), to.peer.relative))
      return false;
  }
  for (const file::Loop *loop : *table->loops())
    program.loops.push_back({loop->id(), loop->begin(), loop->end(), loop->trips(), loop->start(),
                             loop->period(), byteOf(loop->until()), loop->per_trip()});
  for (const file::Case *one : *table->cases())
    program.cases.push_back({one->begin(), one->end(), byteOf(one->condition())});
  return true;
}

bool decodeLayout(std::string_view bytes, Layout &layout) {
  const auto *table = rootOf<file::Layout>(bytes);
  if (!table)
    return false;
  layout.buffers.reserve(table->buffers()->size());
  for (const file::Buffer *buffer : *table->buffers())
    layout.buffers.push_back({static_cast<BufferKind>(buffer->kind()),
                              static_cast<Tier>(buffer->tier()), buffer->stage(), buffer->count(),
                              buffer->bytes(), buffer->stride(), buffer->offset()});
  layout.arena = {table->device(), table->host()};
  return true;
}

bool decodeConnect(std::string_view bytes, std::vector<ConnectRound> &rounds) {
  const auto *table = rootOf<file::Connect>(bytes);
  if (!table)
    return false;
  if (table->in_every_replica()->size() != table->ends()->size())
    return false;
  std::uint32_t begin = 0;
  for (std::uint32_t index = 0; index < table->ends()->size(); ++index) {
    const std::uint32_t end = table->ends()->Get(index);
    if (end < begin || end > table->pairs()->size())
      return false;
    ConnectRound &round = rounds.emplace_back();
    const std::uint8_t kind = table->in_every_replica()->Get(index);
    round.allReplicas = kind == kAllReplicas;
    if (!round.allReplicas && !takeFlag(kind, round.inEveryReplica))
      return false;
    for (; begin < end; ++begin)
      round.pairs.push_back(
          {table->pairs()->Get(begin)->low(), table->pairs()->Get(begin)->high()});
  }
  return begin == table->pairs()->size();
}

bool decodePredictions(std::string_view bytes, Predictions &predictions) {
  const auto *table = rootOf<file::Predictions>(bytes);
  if (table)
    predictions = {table->step_units(),   table->bubble(),       table->peak_live(),
                   table->costs()->str(), table->step_seconds(), table->expected_bubble()};
  return table;
}

bool decodeOrigins(std::string_view bytes, std::vector<Origin> &origins) {
  const auto *table = rootOf<file::Origins>(bytes);
  if (!table || table->origins()->size() > kMostOrigins)
    return false;
  for (const file::Origin *origin : *table->origins()) {
    Origin &to = origins.emplace_back();
    to.opcode = shortOf(origin->opcode());
    to.line = origin->line();
    to.column = origin->column();
    to.length = origin->length();
    if (!takeText(origin->key(), to.key))
      return false;
  }
  return true;
}

} // namespace vime::plan
