// A job for tests, made without a job file, and its plan.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/Frontend/Job.h"
#include "runtime/Plan/Plan.h"
#include "schedules/Registry.h"
#include "schedules/Schedule.h"

namespace vime {

struct JobShape {
  std::string schedule = "1f1b";
  std::uint32_t ranks = 2, microbatches = 3, chunks = 1, layers = 16; // ranks of a replica
  std::string exportTo = "";
  std::vector<std::uint32_t> family = {}; // numbers of microbatches; empty: the one above
  std::uint32_t evaluates = 0;            // microbatches of held-out text every second step
  std::uint32_t replicas = 1;
  bool tiedHead = false, recomputesLayers = false;
  bool sharded = false;                  // replicas share the model
  std::uint32_t unsharded = 0;           // stages of a rank that are whole at a time; 0: all
  bool asTorch = false;                  // by PyTorch's rule
  std::uint32_t saves = 0;               // steps between two checkpoints; 0: none
  std::string mergeBackwards = "auto";   // schedules/MergeBackwards.h
  std::vector<std::uint64_t> slots = {}; // schedules/ReceiveSlots.h; empty: the usual ones
  /// Of samples; the numbers of microbatches above, but those of the family, are of whole ones.
  std::uint32_t slices = 1;
  bool runsEarly = false; // the optimizer: `commit: post_validated`
  /// Ranks that answer prompts: the job has rounds, and microbatches of up to two long samples.
  std::uint32_t engines = 0;
  std::uint32_t stepsOfRound = 1;
  bool hasReference = false, evaluatesPrompts = false; // held-out ones, every second round
  bool takesKlFromRewards = false;                     // by the reference; of one replica
};

/// The orders that a job can have.
std::vector<Order> trainingOrders();

Job jobOf(const JobShape &shape);
/// The plan as all phases leave it; fails the test if there is none.
plan::Plan lowered(const JobShape &shape);
/// The plan of an order of one's own for the job; nothing if the lowering refuses it.
std::optional<plan::Plan> lowered(const Job &job, const Schedule &order,
                                  const std::vector<std::uint32_t> &family);
/// The same, with a program and layout of its own for each rank that stands for others, so that one
/// of them can be changed alone.
plan::Plan unshared(const plan::Plan &plan);
/// The first action of a rank with this description (runtime/Plan/Describe.h); fails the test if
/// there is none.
std::uint32_t indexOfAction(const plan::Plan &plan, std::uint32_t rank,
                            std::string_view description);

} // namespace vime
