#include "compiler/Lowering/StepMembers.h"

#include <algorithm>

#include "compiler/Lowering/FoldPass.h"
#include "compiler/Lowering/StepFamily.h"

namespace vime {
namespace {

/// Programs of a pass where steps are filled up: empty microbatches cost little, a program has to
/// be written and proved.
constexpr std::size_t kMostPrograms = 8;
/// Nodes of all passes that share a program: numbers that a few trips tell apart are judged one by
/// one.
constexpr std::uint64_t kMostNodes = std::uint64_t{1} << 22;

struct Split {
  std::vector<std::uint32_t> own, shared; // ascending, `own` below `shared`
};

/// By what the loops of a whole step cover.
Split split(const FoldedClock &folded, std::uint32_t whole,
            const std::vector<std::uint32_t> &family, bool fillsUp) {
  Split result{family, {family.back()}};
  result.own.pop_back();
  const std::uint32_t perTrip = folded.perTrip();
  while (family.back() == whole && perTrip != 0 && !result.own.empty()) {
    const std::uint32_t fewer = whole - result.own.back();
    const std::uint32_t served = fillsUp ? fewer / perTrip * perTrip : fewer;
    if (!folded.covers(served))
      break;
    result.own.pop_back();
    if (result.shared.back() != whole - served)
      result.shared.push_back(whole - served);
  }
  std::reverse(result.shared.begin(), result.shared.end());
  return result;
}

void thin(Split &members, const FoldedClock &folded) {
  members.own = someOf(members.own, kMostPrograms - 1);
  const std::uint64_t nodes = std::max<std::uint64_t>(countNodes(folded).all, 1);
  members.shared =
      someOf(members.shared, std::max<std::uint64_t>(kMostPrograms, kMostNodes / nodes));
}

} // namespace

std::optional<std::vector<StepMember>> membersOf(const Schedule &order, std::uint32_t whole,
                                                 const std::vector<std::uint32_t> &family,
                                                 bool fillsUp, const ReceiveSlots &slots,
                                                 bool folds) {
  const std::uint32_t most = family.back();
  auto folded = foldedPass(most == whole ? order : shortened(order, most), static_cast<int>(most),
                           folds ? Folding::WherePossible : Folding::Nowhere, slots);
  if (!folded)
    return std::nullopt;
  Split numbers = split(*folded, whole, family, fillsUp);
  if (fillsUp)
    thin(numbers, *folded);
  if (numbers.shared.size() == 1 && !isWorthwhile(*folded))
    folded = unfolded(std::move(folded->clock));
  std::vector<StepMember> members;
  for (const std::uint32_t number : numbers.own) {
    auto own = foldedPass(shortened(order, number), static_cast<int>(number),
                          folds ? Folding::WhereWorthwhile : Folding::Nowhere, slots);
    if (!own)
      return std::nullopt;
    members.push_back({{number}, std::move(*own)});
  }
  members.push_back({std::move(numbers.shared), std::move(*folded)});
  return members;
}

} // namespace vime
