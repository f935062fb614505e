// The words for where a rank stood.
#include <fmt/format.h>

#include "runtime/Plan/Describe.h"
#include "runtime/Trace/Diagnosis.h"

namespace vime::flight {

std::string placeOf(const plan::Plan &plan, std::uint32_t rank, const ActionRecord &action) {
  return fmt::format("action {} ({}) of step {}", action.action,
                     plan::describe(plan, rank, action.action, action.iteration), action.step);
}

std::string placeOf(const plan::Plan &plan, const FlightRecord &record) {
  const ActionRecord *present = record.present();
  if (!present)
    return record.header.state == State::Connecting ? "meeting its peers before its first action"
                                                    : "before its first action";
  const std::string place = placeOf(plan, record.header.rank, *present);
  if (record.header.state == State::Done)
    return "at its end, behind " + place;
  if (present->end != 0)
    return record.waits() ? "at the end of its program, behind " + place : "behind " + place;
  return (present->microbatch == kNothing ? "waiting to start " : "in ") + place;
}

std::string originOf(const plan::Plan &plan, std::uint32_t rank, std::uint32_t action) {
  const plan::Program *program = plan::programOf(plan, rank);
  if (!program || action >= program->actions.size())
    return {};
  for (const plan::Origin &origin : plan.origins)
    if (origin.opcode == program->actions[action].opcode)
      return fmt::format("line {} of the job, `{}`", origin.line, origin.key);
  return {};
}

std::string describe(const plan::Plan &plan, const Wait &wait) {
  const std::string lane = plan::describeLane(plan, wait.rank, wait.lane);
  if (wait.with.empty())
    return "its own " + lane;
  return fmt::format("transfer {} of {}", wait.count - 1, lane);
}

std::string ranksInWords(const std::vector<std::uint32_t> &ranks) {
  constexpr std::size_t kMost = 8;
  if (ranks.size() == 1)
    return fmt::format("rank {}", ranks.front());
  std::string text = "ranks ";
  const std::size_t named = ranks.size() <= kMost ? ranks.size() - 1 : kMost - 1;
  for (std::size_t index = 0; index < named; ++index)
    text += fmt::format("{}{}", index == 0 ? "" : ", ", ranks[index]);
  if (ranks.size() <= kMost)
    return text + fmt::format(" and {}", ranks.back());
  return text + fmt::format(" and {} more", ranks.size() - named);
}

} // namespace vime::flight
