#include "tests/Interpreter/Training.h"

#include <algorithm>

#include "runtime/Plan/BatchCaps.h"
#include "runtime/Plan/Decisions.h"
#include "runtime/Plan/Describe.h"

namespace vime::interpreter {
namespace {

using namespace plan;

class Job {
public:
  Job(const Plan &plan, const Course &course, const Meaning &meaning, Terms &terms)
      : plan(plan), course(course), meaning(meaning), terms(terms), model(plan.models[0]),
        stages(static_cast<std::uint32_t>(model.stages.size())), slices(plan.data.slices),
        runsEarly(isPostValidated(plan)) {
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
      weights.push_back(meaning.initial(true, stage));
      moments.push_back(meaning.initial(false, stage));
    }
  }

  Trained run() {
    for (std::uint32_t step = 0; step < course.steps(); ++step) {
      if (hasRounds(plan))
        beginStep(step);
      update(step);
      if (course[step].evaluate == 1 && !hasRounds(plan))
        evaluate(step);
      if (course[step].save == 1)
        save(step);
    }
    if (plan.round.evaluation.every != 0)
      see(meaning.scored(true, answers(true, 0, meaning.roundOf(course.steps() - 1) + 2)));
    if (!plan.run.exportTo.empty())
      exportAll();
    for (std::uint32_t replica = 0; hasReference(plan) && replica < plan.mesh.data; ++replica)
      for (std::uint32_t stage = 0; stage < stages; ++stage) {
        const std::uint32_t number = stageNumber(1, stage);
        see(finalOf(terms, BufferKind::Weights, number, replica, meaning.initial(true, number)));
      }
    for (std::uint32_t replica = 0; replica < plan.mesh.data; ++replica)
      for (std::uint32_t stage = 0; stage < stages; ++stage) {
        see(finalOf(terms, BufferKind::Weights, stage, replica, weights[stage]));
        see(finalOf(terms, BufferKind::Moments, stage, replica, moments[stage]));
      }
    std::sort(trained.seen.begin(), trained.seen.end());
    return std::move(trained);
  }

private:
  /// What a pass over a replica's microbatches leaves.
  struct Pass {
    std::vector<std::vector<TaskInputs>> inputs; // of each stage and microbatch
    std::vector<std::vector<Term>> stashes;
    std::vector<std::vector<Term>> contexts; // of each stage, behind each slice
    std::vector<Term> losses;
  };

  /// Of the coordinator and of all engines.
  std::vector<Term> answers(bool heldOut, std::uint32_t round, std::uint32_t version) {
    std::vector<Term> samples = {meaning.noSamples()};
    for (std::uint32_t rank = plan.mesh.trainers(); rank < plan.mesh.ranks(); ++rank)
      samples.push_back(meaning.samples(rank, version, meaning.prompts(heldOut, round), weights));
    return samples;
  }

  /// Engines have the weights of the moment.
  void beginStep(std::uint32_t step) {
    const std::uint32_t number = meaning.roundOf(step);
    if (course[step].evaluate == 1)
      see(meaning.scored(true, answers(true, number, number + 1)));
    if (course[step].rollout == 0)
      return;
    const std::vector<Term> samples = answers(false, number, number + 1);
    see(meaning.scored(false, samples));
    round = meaning.round(number, samples);
  }

  /// Of the last stage, what the reference thinks of a microbatch; kNothing if there is none.
  Term referenceOf(Term header, std::uint32_t step, std::uint32_t replica,
                   std::uint32_t microbatch) {
    const auto column = [&](Column of) {
      return meaning.sample(of, step, replica, microbatch, round);
    };
    Term input = column(Column::Tokens), stash = kNothing;
    for (std::uint32_t stage = 0; hasReference(plan) && stage < stages; ++stage) {
      const std::uint32_t number = stageNumber(1, stage);
      const TaskInputs in{.header = header,
                          .segments = column(Column::Segments),
                          .input = input,
                          .weights = meaning.initial(true, number)};
      input = meaning.output(false, number, microbatch, in);
      stash = meaning.stash(false, number, microbatch, in);
    }
    return hasReference(plan)
               ? meaning.reference(
                     stageNumber(1, stages - 1), microbatch,
                     {.header = header, .segments = column(Column::Segments), .stash = stash},
                     column(Column::Labels))
               : kNothing;
  }

  /// What the loss takes of each microbatch: as loaded, or with a KL taken out of rewards.
  std::vector<Term> policyOf(Term header, std::uint32_t step, std::uint32_t replica,
                             std::uint32_t microbatches) {
    std::vector<std::vector<Term>> columns(4);
    for (std::uint32_t microbatch = 0; microbatch < microbatches; ++microbatch) {
      const auto column = [&](Column of) {
        return meaning.sample(of, step, replica, microbatch, round);
      };
      columns[0].push_back(column(Column::Segments));
      columns[1].push_back(column(Column::Labels));
      columns[2].push_back(column(Column::Policy));
      columns[3].push_back(referenceOf(header, step, replica, microbatch));
    }
    return plan.round.algorithm.klInReward ? meaning.advantages(header, columns) : columns[2];
  }

  bool hasTiedHead(std::uint32_t stage) const {
    return model.config.tiedHead && stage + 1 == stages;
  }

  Pass forward(Term header, bool evaluates, std::uint32_t step, std::uint32_t replica,
               std::uint32_t microbatches) {
    Pass pass{std::vector(stages, std::vector<TaskInputs>(microbatches)),
              std::vector(stages, std::vector<Term>(microbatches)),
              std::vector(stages, std::vector<Term>(microbatches, kNothing)),
              {}};
    const auto text = [&](Column column, std::uint32_t microbatch) {
      return hasRounds(plan) ? meaning.sample(column, step, replica, microbatch, round)
                             : meaning.text(column, evaluates, step, replica, microbatch);
    };
    const std::vector<Term> policy =
        hasRounds(plan) ? policyOf(header, step, replica, microbatches) : std::vector<Term>();
    for (std::uint32_t microbatch = 0; microbatch < microbatches; ++microbatch) {
      Term input = text(Column::Tokens, microbatch);
      for (std::uint32_t stage = 0; stage < stages; ++stage) {
        TaskInputs &in = pass.inputs[stage][microbatch];
        in = {.header = header,
              .segments = text(Column::Segments, microbatch),
              .input = input,
              .weights = weights[stage],
              .tiedWeights = hasTiedHead(stage) ? weights[0] : kNothing};
        if (microbatch % slices != 0)
          in.context = pass.contexts[stage][microbatch - 1];
        if (slices > 1)
          pass.contexts[stage][microbatch] = meaning.context(evaluates, stage, microbatch, in);
        input = meaning.output(evaluates, stage, microbatch, in);
        pass.stashes[stage][microbatch] = meaning.stash(evaluates, stage, microbatch, in);
      }
      const TaskInputs ofLoss{.header = header,
                              .segments = text(Column::Segments, microbatch),
                              .stash = pass.stashes[stages - 1][microbatch]};
      const Term labels = text(Column::Labels, microbatch);
      if (hasRounds(plan)) {
        const auto made = [&](Op op) {
          return meaning.policy(op, stages - 1, microbatch, ofLoss, labels, policy[microbatch],
                                referenceOf(header, step, replica, microbatch));
        };
        pass.losses.push_back(made(Op::Loss));
        pass.stashes[stages - 1][microbatch] = made(Op::LossStash);
        continue;
      }
      pass.losses.push_back(meaning.loss(evaluates, stages - 1, microbatch, ofLoss, labels));
      pass.stashes[stages - 1][microbatch] =
          meaning.lossStash(evaluates, stages - 1, microbatch, ofLoss, labels);
    }
    return pass;
  }

  /// Contributions of each stage, ascending by microbatch, of slices descending; those to the tied
  /// matrix last.
  std::vector<std::vector<Term>> backward(Pass &pass, std::uint32_t microbatches) {
    std::vector<std::vector<Term>> contributions(stages + 1);
    std::vector<Term> contextGradients(stages, kNothing);
    for (std::uint32_t place = 0; place < microbatches; ++place) {
      const std::uint32_t first = place - place % slices, last = first + slices - 1,
                          microbatch = first + last - place; // slices descend
      Term gradient = kNothing;
      for (std::uint32_t stage = stages; stage-- > 0;) {
        TaskInputs &in = pass.inputs[stage][microbatch];
        in.outputGradient = gradient;
        in.stash = pass.stashes[stage][microbatch];
        in.context = microbatch == first ? kNothing : pass.contexts[stage][last];
        in.contextGradients = microbatch == last ? kNothing : contextGradients[stage];
        contextGradients[stage] = meaning.ofBackward(Op::ContextGradients, stage, microbatch, in);
        gradient = meaning.ofBackward(Op::InputGradient, stage, microbatch, in);
        contributions[stage].push_back(meaning.ofBackward(Op::Contribution, stage, microbatch, in));
        if (hasTiedHead(stage))
          contributions[stages].push_back(
              meaning.ofBackward(Op::TiedContribution, stage, microbatch, in));
      }
    }
    return contributions;
  }

  void update(std::uint32_t step) {
    const std::uint32_t microbatches = course[step].microbatches;
    std::vector<std::vector<Term>> gradients(stages); // of each stage and replica
    std::vector<Term> stats;                          // of each rank
    for (std::uint32_t replica = 0; replica < plan.mesh.data; ++replica) {
      const Term header = meaning.header(step, Phase::Loaded, replica);
      Pass pass = forward(header, false, step, replica, microbatches);
      const auto contributions = backward(pass, microbatches);
      for (std::uint32_t stage = 0; stage < stages; ++stage) {
        Term sum = meaning.sum(contributions[stage]);
        if (stage == 0 && model.config.tiedHead)
          sum = meaning.addTied(sum, meaning.sum(contributions[stages]));
        gradients[stage].push_back(sum);
      }
      addStats(stats, false, header, pass.losses, runsEarly ? lastRank() : 0);
    }
    apply(step, gradients, stats);
  }

  std::vector<LocalStage> trainedOf(std::uint32_t rank) const {
    std::vector<LocalStage> trained = programOf(plan, rank)->stages;
    std::erase_if(trained, [](const LocalStage &local) { return !isTrained(local); });
    return trained;
  }

  std::uint32_t lastRank() const {
    for (std::uint32_t rank = 0; rank < plan.mesh.pipeline; ++rank)
      for (const LocalStage &local : programOf(plan, rank)->stages)
        if (isTrained(local) && local.stage + 1 == stages)
          return rank;
    return 0;
  }

  /// Every rank of a replica counts; one has the losses.
  void addStats(std::vector<Term> &stats, bool evaluates, Term header,
                const std::vector<Term> &losses, std::uint32_t owner = 0) {
    for (std::uint32_t rank = 0; rank < plan.mesh.pipeline; ++rank) {
      const Term measured =
          meaning.measured(evaluates, header, rank == owner ? losses : std::vector<Term>());
      stats.push_back(terms.with(kNothing, kCounters, kMeasured, measured));
    }
  }

  void apply(std::uint32_t step, const std::vector<std::vector<Term>> &gradients,
             const std::vector<Term> &stats) {
    const Term header = meaning.header(step, Phase::Loaded, 0);
    std::vector<Term> scaled;
    for (const std::vector<Term> &ofReplicas : gradients)
      scaled.push_back(meaning.scaled(header, ofReplicas.size() > 1 ? meaning.reduced(ofReplicas)
                                                                    : ofReplicas[0]));
    const Term scalars = meaning.scalars(squaresOf(scaled));
    trained.decided[scalars] = runsEarly ? course[step].verdict : course[step].bad;
    see(meaning.report(scalars, stats));
    if (runsEarly && course[step].verdict == kStands)
      return applyEarly(step, scaled);
    const bool isSkipped = runsEarly ? course[step].verdict == kRefused : course[step].bad == 1;
    for (std::uint32_t stage = 0; stage < stages && !isSkipped; ++stage) {
      const Term before = weights[stage];
      weights[stage] =
          meaning.updated(true, header, scalars, scaled[stage], before, moments[stage]);
      moments[stage] =
          meaning.updated(false, header, scalars, scaled[stage], before, moments[stage]);
    }
  }

  void applyEarly(std::uint32_t step, const std::vector<Term> &scaled) {
    const Term header = meaning.header(step, Phase::Settled, 0);
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
      const Term before = weights[stage];
      weights[stage] = meaning.early(true, header, scaled[stage], before, moments[stage]);
      moments[stage] = meaning.early(false, header, scaled[stage], before, moments[stage]);
    }
  }

  /// One record for each rank of a replica.
  std::vector<Term> squaresOf(const std::vector<Term> &scaled) {
    std::vector<Term> squares;
    for (std::uint32_t rank = 0; rank < plan.mesh.pipeline; ++rank) {
      Term record = kNothing;
      for (const LocalStage &local : trainedOf(rank))
        record = terms.with(record, kSquares, stageNumber(local.model, local.stage),
                            meaning.square(scaled[local.stage]));
      squares.push_back(record);
    }
    return squares;
  }

  void evaluate(std::uint32_t step) {
    std::vector<Term> stats;
    for (std::uint32_t replica = 0; replica < plan.mesh.data; ++replica) {
      const Term header = meaning.header(step, Phase::Evaluating, replica);
      addStats(stats, true, header,
               forward(header, true, step, replica, plan.evaluation.microbatches).losses);
    }
    see(meaning.evaluationReport(meaning.header(step, Phase::Evaluating, 0), stats));
  }

  void save(std::uint32_t step) {
    const Term header = meaning.header(step, Phase::Loaded, 0);
    std::vector<Term> snapshots;
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
      snapshots.push_back(meaning.snapshot(header, weights[stage], moments[stage]));
      see(meaning.saved(stage, snapshots.back()));
    }
    see(meaning.named(step, snapshots));
  }

  void exportAll() {
    std::vector<Term> stats;
    for (std::uint32_t rank = 0; rank < plan.mesh.pipeline; ++rank) {
      Term record = kNothing;
      for (const LocalStage &local : trainedOf(rank)) {
        see(meaning.exported(local.stage, weights[local.stage]));
        record = terms.with(record, kCounters, kExported + local.stage, weights[local.stage]);
      }
      stats.push_back(record);
    }
    see(meaning.exportCommit(stats));
  }

  void see(Term term) { trained.seen.push_back(term); }

  const Plan &plan;
  const Course &course;
  const Meaning &meaning;
  Terms &terms;
  const Model &model;
  const std::uint32_t stages, slices;
  const bool runsEarly;               // the optimizer
  std::vector<Term> weights, moments; // of each stage
  Term round = kNothing;              // that steps train on
  Trained trained;
};

} // namespace

Trained train(const Plan &plan, const Course &course, const Meaning &meaning, Terms &terms) {
  return Job(plan, course, meaning, terms).run();
}

} // namespace vime::interpreter
