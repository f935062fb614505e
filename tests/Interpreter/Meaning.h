// Meaning: what an action makes of what it reads. The one place that says what training is, action
// by action; Training.h puts the same pieces together as they should be.
//
// An action that finds other inputs than it is made for leaves `Op::Other`, which nothing right is
// equal to.
#pragma once

#include <string_view>
#include <vector>

#include "tests/Interpreter/Course.h"
#include "tests/Interpreter/Terms.h"

namespace vime::interpreter {

/// Keys of a rank's counters: what was measured in this step, and of each stage what is exported
/// and what is saved.
inline constexpr std::uint32_t kMeasured = 0, kExported = 1'000'000, kSaved = 2'000'000;

/// Records of a rank: of each stage its squares, and the counters.
inline constexpr std::uint32_t kSquares = 0, kCounters = 1;

/// A stage of the whole plan.
constexpr std::uint32_t stageNumber(std::uint32_t model, std::uint32_t stage) {
  return model * 1000 + stage;
}

/// Columns of the text that a step loads.
enum class Column : std::uint8_t { Tokens, Labels, Segments, Policy };

/// What one task reads; kNothing where it has none.
struct TaskInputs {
  Term header = kNothing, segments = kNothing, input = kNothing, weights = kNothing,
       tiedWeights = kNothing, outputGradient = kNothing, stash = kNothing, context = kNothing,
       contextGradients = kNothing;
};

/// The pieces of training.
class Meaning {
public:
  Meaning(const plan::Plan &plan, const Course &course, Terms &terms)
      : plan(plan), course(course), terms(terms) {}

  // ---- the header ----
  Term header(std::uint32_t step, Phase phase, std::uint32_t replica) const {
    return terms.make(Op::Header, {step, static_cast<std::uint32_t>(phase), replica});
  }
  bool isHeader(Term term, Phase phase) const {
    return terms.is(term, Op::Header) &&
           terms[term].numbers[1] == static_cast<std::uint32_t>(phase);
  }
  std::uint32_t stepOf(Term header) const { return terms[header].numbers[0]; }
  /// Of what is no header: 0.
  std::uint32_t decided(Term header, plan::Decision decision) const;
  bool isEmpty(Term header, std::uint32_t microbatch) const;

  /// Of a settled one the loaded one: to tasks they are the same.
  Term ofTask(Term header) const;
  Term settled(Term header) const;

  /// What all replicas find in it: denominator and learning rate.
  Term shared(Term header) const;

  // ---- tasks ----
  Term text(Column column, bool evaluates, std::uint32_t step, std::uint32_t replica,
            std::uint32_t microbatch) const;
  Term initial(bool weights, std::uint32_t stage) const {
    return terms.make(Op::Initial, {weights ? 0u : 1u, stage});
  }
  Term output(bool evaluates, std::uint32_t stage, std::uint32_t microbatch,
              const TaskInputs &in) const {
    return made(Op::Output, evaluates, stage, microbatch, in);
  }
  Term stash(bool evaluates, std::uint32_t stage, std::uint32_t microbatch,
             const TaskInputs &in) const {
    return made(Op::Stash, evaluates, stage, microbatch, in);
  }
  /// What attention keeps for the later slices of the same samples, with what it had of earlier
  /// ones.
  Term context(bool evaluates, std::uint32_t stage, std::uint32_t microbatch,
               const TaskInputs &in) const {
    return made(Op::Context, evaluates, stage, microbatch, in);
  }
  Term lossStash(bool evaluates, std::uint32_t stage, std::uint32_t microbatch,
                 const TaskInputs &in, Term labels) const;
  Term loss(bool evaluates, std::uint32_t stage, std::uint32_t microbatch, const TaskInputs &in,
            Term labels) const;
  /// InputStash, WeightStash, InputGradient, ContextGradients, Contribution or TiedContribution.
  Term ofBackward(Op op, std::uint32_t stage, std::uint32_t microbatch,
                  const TaskInputs &in) const {
    return made(op, false, stage, microbatch, in);
  }

  // ---- rounds ----
  std::uint32_t roundOf(std::uint32_t step) const { return step / plan.round.rollout.steps; }
  /// Held-out prompts are always the same.
  Term prompts(bool heldOut, std::uint32_t round) const {
    return terms.make(Op::Prompts, {heldOut ? 1u : 0u, heldOut ? 0u : round});
  }
  Term samples(std::uint32_t engine, std::uint32_t version, Term prompts,
               std::vector<Term> weights) const {
    weights.insert(weights.begin(), prompts);
    return terms.make(Op::Samples, {engine, version}, weights);
  }
  /// The coordinator's own.
  Term noSamples() const { return terms.make(Op::Samples, {~0u}); }
  Term round(std::uint32_t round, const std::vector<Term> &samples) const {
    return terms.make(Op::Round, {round}, samples);
  }
  Term scored(bool heldOut, const std::vector<Term> &samples) const {
    return terms.make(Op::Scored, {heldOut ? 1u : 0u}, samples);
  }
  /// What a step loads of a round instead of a text.
  Term sample(Column column, std::uint32_t step, std::uint32_t replica, std::uint32_t microbatch,
              Term round) const {
    return terms.make(Op::Text, {static_cast<std::uint32_t>(column), step, replica, microbatch},
                      {round});
  }
  /// LossStash or Loss.
  Term policy(Op op, std::uint32_t stage, std::uint32_t microbatch, const TaskInputs &in,
              Term labels, Term policy, Term reference) const;
  /// What `advantage` makes of the policy's numbers, of each microbatch by those of all: columns
  /// of segments, labels, policy and reference.
  std::vector<Term> advantages(Term header, const std::vector<std::vector<Term>> &columns) const;
  Term reference(std::uint32_t stage, std::uint32_t microbatch, const TaskInputs &in,
                 Term labels) const;

  // ---- gradients and the update ----
  Term sum(std::vector<Term> contributions) const;
  /// Of something else than a sum: Other.
  Term addTo(Term sum, Term contribution) const;
  Term addTied(Term sum, Term tied) const { return terms.make(Op::Added, {}, {sum, tied}); }
  Term reduced(const std::vector<Term> &gradients) const {
    return terms.make(Op::Reduced, {}, gradients);
  }
  bool isSharded() const { return plan.models[0].sharded; }
  /// What a replica keeps of the whole: all of it, if nothing is shared.
  Term kept(std::uint32_t replica, Term whole) const {
    return isSharded() ? terms.make(Op::Share, {replica}, {whole}) : whole;
  }
  /// The whole, of which this is what a replica keeps; Other of anything else.
  Term wholeOf(std::uint32_t replica, Term term) const;
  /// The whole that the shares of all replicas, in this order, are of.
  Term gathered(const std::vector<Term> &shares) const;
  /// Of each of these stages.
  Term gatheredSquares(const std::vector<Term> &records,
                       const std::vector<std::uint32_t> &stages) const;

  Term scaled(Term header, Term gradients) const {
    return terms.make(Op::Scaled, {}, {shared(header), gradients});
  }
  Term square(Term gradients) const { return terms.make(Op::Square, {}, {gradients}); }
  Term scalars(const std::vector<Term> &squares) const {
    return terms.make(Op::Scalars, {}, squares);
  }
  Term updated(bool weights, Term header, Term scalars, Term gradients, Term oldWeights,
               Term oldMoments) const {
    return terms.make(weights ? Op::Weights : Op::Moments, {},
                      {shared(header), scalars, gradients, oldWeights, oldMoments});
  }
  /// As if nothing had to be clipped.
  Term early(bool weights, Term header, Term gradients, Term oldWeights, Term oldMoments) const;
  Term kept(Term header, Term weights, Term moments) const {
    return terms.make(Op::Kept, {}, {shared(header), weights, moments});
  }
  Term redone(bool weights, std::uint32_t verdict, Term scalars, Term gradients, Term kept) const;
  Term measured(bool evaluates, Term header, const std::vector<Term> &losses) const;
  Term snapshot(Term header, Term weights, Term moments) const;

  // ---- what is seen ----
  Term report(Term scalars, const std::vector<Term> &stats) const;
  Term evaluationReport(Term header, const std::vector<Term> &stats) const;
  Term exported(std::uint32_t stage, Term weights) const {
    return terms.make(Op::Export, {stage}, {weights});
  }
  Term exportCommit(const std::vector<Term> &stats) const;
  Term saved(std::uint32_t stage, Term snapshot) const {
    return terms.make(Op::Saved, {stage}, {snapshot});
  }
  /// The checkpoint that the ranks' counters say is whole on the disk: of the step that those of
  /// the first rank name. `before`: the one that was named last. kNothing: there is no new one.
  Term named(const std::vector<Term> &stats, Term before) const;
  Term named(std::uint32_t step, const std::vector<Term> &snapshots) const {
    return terms.make(Op::Named, {step}, snapshots);
  }

private:
  Term made(Op op, bool evaluates, std::uint32_t stage, std::uint32_t microbatch,
            const TaskInputs &in) const;

  const plan::Plan &plan;
  const Course &course;
  Terms &terms;
};

} // namespace vime::interpreter
