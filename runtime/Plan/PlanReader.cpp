// Bytes to plans: the parts that a reader of the whole plan, or one rank, needs; then whether their
// numbers hold.
#include "runtime/Plan/PlanFile.h"

#include "runtime/Plan/CheckPlan.h"
#include "runtime/Plan/DecodeParts.h"
#include "runtime/Plan/EncodeParts.h"
#include "runtime/Plan/Mesh.h"
#include "runtime/Plan/PartReader.h"

namespace vime::plan {
namespace {

Status refuse(std::string sentence) {
  return Status(StatusCode::Unacceptable, std::move(sentence));
}

Status cannotDecode(file::PartKind kind, std::uint32_t index = 0) {
  return refuse("the plan is damaged: part `" + partName(static_cast<std::uint32_t>(kind), index) +
                "` cannot be read");
}

/// Reads a part that is a table, with one of DecodeParts' functions.
template <typename T>
Status take(PartReader &reader, file::PartKind kind, std::uint32_t index,
            bool (*decode)(std::string_view, T &), T &to) {
  StatusOr<std::string_view> bytes = reader.read(kind, index);
  if (!bytes.ok())
    return bytes.status();
  return decode(*bytes, to) ? Status() : cannotDecode(kind, index);
}

Status takeProgram(PartReader &reader, std::uint32_t index, Program &program) {
  if (Status status = take(reader, file::PartKind::Program, index, decodeProgram, program);
      !status.ok())
    return status;
  if (Status status = reader.read(file::PartKind::Actions, index, program.actions); !status.ok())
    return status;
  return reader.read(file::PartKind::Operands, index, program.operands);
}

/// What every rank reads.
Status takeShared(PartReader &reader, Plan &plan) {
  if (Status status = reader.open(); !status.ok())
    return status;
  plan.compiler = reader.compiler();
  if (Status status = take(reader, file::PartKind::Common, 0, decodeCommon, plan); !status.ok())
    return status;
  return take(reader, file::PartKind::Connect, 0, decodeConnect, plan.connect);
}

/// The tensors are what the models say: a program with another idea of a stage's weights must not
/// touch this plan.
Status checkTensors(PartReader &reader, const Plan &plan) {
  StatusOr<std::string_view> bytes = reader.read(file::PartKind::Tensors);
  if (!bytes.ok())
    return bytes.status();
  const flatbuffers::DetachedBuffer expected = encodeTensors(plan);
  if (*bytes != std::string_view(reinterpret_cast<const char *>(expected.data()), expected.size()))
    return refuse("the plan's tensors are not those that its models have in this program");
  return Status();
}

StatusOr<Plan> readWhole(ByteSource source) {
  PartReader reader(std::move(source));
  Plan plan;
  if (Status status = takeShared(reader, plan); !status.ok())
    return status;
  StatusOr<std::string_view> job = reader.read(file::PartKind::Job);
  if (!job.ok())
    return job.status();
  plan.job = *job;
  for (std::uint32_t program = 0; program < plan.programs.size(); ++program)
    if (Status status = takeProgram(reader, program, plan.programs[program]); !status.ok())
      return status;
  for (std::uint32_t layout = 0; layout < plan.layouts.size(); ++layout)
    if (Status status =
            take(reader, file::PartKind::Layout, layout, decodeLayout, plan.layouts[layout]);
        !status.ok())
      return status;
  if (Status status =
          take(reader, file::PartKind::Predictions, 0, decodePredictions, plan.predictions);
      !status.ok())
    return status;
  if (reader.has(file::PartKind::Origins))
    if (Status status = take(reader, file::PartKind::Origins, 0, decodeOrigins, plan.origins);
        !status.ok())
      return status;
  if (Status status = reader.checkUnknownParts(); !status.ok())
    return status;
  if (Status status = reader.checkCounts(plan); !status.ok())
    return status;
  if (Status status = checkPlan(plan); !status.ok())
    return status;
  if (familiesOf(plan.programs) != reader.families())
    return refuse(
        "the plan is damaged: the opcode families that it lists are not those that it uses");
  if (Status status = checkTensors(reader, plan); !status.ok())
    return status;
  return plan;
}

StatusOr<RankPlan> readRank(ByteSource source, std::uint32_t rank) {
  PartReader reader(std::move(source));
  RankPlan result{.rank = rank};
  Plan &plan = result.plan;
  if (Status status = takeShared(reader, plan); !status.ok())
    return status;
  result.id = reader.id();
  const std::uint64_t ranks = plan.mesh.ranks();
  if (rank >= ranks || plan.mesh.pipeline == 0)
    return refuse("the plan has " + std::to_string(ranks) + " ranks, there is no rank " +
                  std::to_string(rank));
  const std::uint32_t place = representativeOf(plan.mesh, rank);
  if (place >= plan.programOf.size() || plan.programOf[place] >= plan.programs.size() ||
      place >= plan.layoutOf.size() || plan.layoutOf[place] >= plan.layouts.size())
    return refuse("the plan is damaged: rank " + std::to_string(rank) +
                  " has no program or no layout");
  const std::uint32_t program = plan.programOf[place], layout = plan.layoutOf[place];
  if (Status status = reader.checkCounts(plan); !status.ok())
    return status;
  if (Status status = takeProgram(reader, program, plan.programs[program]); !status.ok())
    return status;
  if (Status status =
          take(reader, file::PartKind::Layout, layout, decodeLayout, plan.layouts[layout]);
      !status.ok())
    return status;
  if (Status status = checkRankPlan(plan, rank); !status.ok())
    return status;
  if ((familiesOf(plan.programs) & ~reader.families()) != 0)
    return refuse("the plan is damaged: it uses an opcode family that it does not list");
  return result;
}

} // namespace

StatusOr<Plan> parsePlan(std::string_view bytes) { return readWhole(ByteSource(bytes)); }

StatusOr<RankPlan> parseRankPlan(std::string_view bytes, std::uint32_t rank) {
  return readRank(ByteSource(bytes), rank);
}

StatusOr<Plan> readPlan(const std::string &path) {
  StatusOr<ByteSource> source = ByteSource::open(path);
  return source.ok() ? readWhole(std::move(*source)) : StatusOr<Plan>(source.status());
}

StatusOr<RankPlan> readRankPlan(const std::string &path, std::uint32_t rank) {
  StatusOr<ByteSource> source = ByteSource::open(path);
  return source.ok() ? readRank(std::move(*source), rank) : StatusOr<RankPlan>(source.status());
}

} // namespace vime::plan
