// RoundSources: what rank 0 of a plan with rounds has besides its program: the prompts, those that
// are held out, who gives rewards, a folder for what was generated.
//
//   StatusOr<RoundSources> sources = openRounds(plan, base);
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/Base/Status.h"
#include "runtime/Data/PromptFile.h"
#include "runtime/Plan/Plan.h"
#include "runtime/Reward/Reward.h"

namespace vime {

struct RoundSources {
  PromptFile prompts;
  std::optional<PromptFile> heldOut; // of a plan that evaluates
  std::unique_ptr<Reward> reward;
  std::string dump;   // folder; empty: none
  std::string replay; // folder of dumps that rounds come from; empty: they are generated
};

/// Files must be those that the plan was made for; workers that give rewards are started. A missing
/// file is a File error that says how to name its folder.
StatusOr<RoundSources> openRounds(const plan::Plan &plan, const std::string &base,
                                  const std::string &replay = {});

} // namespace vime
