#include "tests/Interpreter/Meaning.h"

#include <algorithm>

#include "runtime/Plan/BatchCaps.h"

namespace vime::interpreter {

using plan::Decision;

std::uint32_t Meaning::decided(Term header, Decision decision) const {
  if (!terms.is(header, Op::Header))
    return 0;
  const Step &step = course[stepOf(header)];
  const bool ended = isHeader(header, Phase::Reported) && step.evaluationStops;
  switch (decision) {
  case Decision::Microbatches: // of a round nobody knows before it is packed
    return hasRounds(plan) && isHeader(header, Phase::Decided) ? plan.data.microbatches
                                                               : step.microbatches;
  case Decision::Rollout:
    return step.rollout;
  case Decision::Evaluate:
    return step.evaluate;
  case Decision::Save:
    return step.save;
  case Decision::Stop:
    return ended ? 1 : step.stop;
  case Decision::Pending:
    return step.pending;
  case Decision::Settle:
    return step.settle;
  case Decision::Bad:
  case Decision::Verdict:
    break;
  }
  return 0;
}

bool Meaning::isEmpty(Term header, std::uint32_t microbatch) const {
  if (!terms.is(header, Op::Header))
    return false;
  const Step &step = course[stepOf(header)];
  const std::uint32_t replica = terms[header].numbers[2];
  if (isHeader(header, Phase::Evaluating))
    return microbatch >= step.filledOfText[replica];
  return microbatch >= step.filled[replica];
}

Term Meaning::ofTask(Term header) const {
  return isHeader(header, Phase::Settled)
             ? this->header(stepOf(header), Phase::Loaded, terms[header].numbers[2])
             : header;
}

/// What a refused step has counted too much is taken back.
Term Meaning::settled(Term header) const {
  return isHeader(header, Phase::Loaded)
             ? this->header(stepOf(header), Phase::Settled, terms[header].numbers[2])
             : terms.make(Op::Other, {}, {header});
}

/// Only a settled header counts the updates right.
Term Meaning::early(bool weights, Term header, Term gradients, Term oldWeights,
                    Term oldMoments) const {
  return terms.make(isHeader(header, Phase::Settled)
                        ? (weights ? Op::EarlyWeights : Op::EarlyMoments)
                        : Op::Other,
                    {}, {shared(header), gradients, oldWeights, oldMoments});
}

Term Meaning::redone(bool weights, std::uint32_t verdict, Term scalars, Term gradients,
                     Term kept) const {
  if (!terms.is(kept, Op::Kept))
    return terms.make(Op::Other, {}, {kept});
  const Term header = terms[kept].parts[0], oldWeights = terms[kept].parts[1],
             oldMoments = terms[kept].parts[2];
  if (verdict == plan::kRefused)
    return weights ? oldWeights : oldMoments;
  return updated(weights, header, scalars, gradients, oldWeights, oldMoments);
}

Term Meaning::shared(Term header) const {
  header = ofTask(header);
  return isHeader(header, Phase::Loaded) || isHeader(header, Phase::Reported)
             ? this->header(stepOf(header), Phase::Loaded, 0)
             : terms.make(Op::Other, {}, {header});
}

Term Meaning::text(Column column, bool evaluates, std::uint32_t step, std::uint32_t replica,
                   std::uint32_t microbatch) const {
  return terms.make(Op::Text, {static_cast<std::uint32_t>(column) + (evaluates ? 10u : 0u), step,
                               replica, microbatch});
}

Term Meaning::made(Op op, bool evaluates, std::uint32_t stage, std::uint32_t microbatch,
                   const TaskInputs &in) const {
  if (isEmpty(in.header, microbatch))
    return kEmpty;
  return terms.make(op, {evaluates ? 1u : 0u, stage, microbatch},
                    {in.header, in.segments, in.input, in.weights, in.tiedWeights,
                     in.outputGradient, in.stash, in.context, in.contextGradients});
}

Term Meaning::lossStash(bool evaluates, std::uint32_t stage, std::uint32_t microbatch,
                        const TaskInputs &in, Term labels) const {
  const Term made = this->made(Op::LossStash, evaluates, stage, microbatch, in);
  return made == kEmpty ? made : terms.make(Op::LossStash, {}, {made, labels});
}

Term Meaning::loss(bool evaluates, std::uint32_t stage, std::uint32_t microbatch,
                   const TaskInputs &in, Term labels) const {
  const Term made = this->made(Op::Loss, evaluates, stage, microbatch, in);
  return made == kEmpty ? made : terms.make(Op::Loss, {}, {made, labels});
}

Term Meaning::policy(Op op, std::uint32_t stage, std::uint32_t microbatch, const TaskInputs &in,
                     Term labels, Term policy, Term reference) const {
  const Term made = this->made(op, false, stage, microbatch, in);
  return made == kEmpty ? made : terms.make(op, {}, {made, labels, policy, reference});
}

std::vector<Term> Meaning::advantages(Term header,
                                      const std::vector<std::vector<Term>> &columns) const {
  constexpr std::size_t kPolicy = 2;
  std::vector<Term> all = {ofTask(header)}, made = columns[kPolicy];
  for (std::uint32_t microbatch = 0; microbatch < made.size(); ++microbatch)
    for (const std::vector<Term> &column : columns)
      if (!isEmpty(header, microbatch))
        all.push_back(column[microbatch]);
  for (std::uint32_t microbatch = 0; microbatch < made.size(); ++microbatch)
    if (!isEmpty(header, microbatch))
      made[microbatch] = terms.make(Op::Advantages, {microbatch}, all);
  return made;
}

Term Meaning::reference(std::uint32_t stage, std::uint32_t microbatch, const TaskInputs &in,
                        Term labels) const {
  const Term made = this->made(Op::Reference, false, stage, microbatch, in);
  return made == kEmpty ? made : terms.make(Op::Reference, {}, {made, labels});
}

Term Meaning::sum(std::vector<Term> contributions) const {
  std::erase(contributions, kEmpty);
  // As a table of an order has them: whichever order that is.
  if (plan.gradientOrder == plan::GradientOrder::Scheduled)
    std::sort(contributions.begin(), contributions.end());
  return terms.make(Op::Sum, {}, contributions);
}

Term Meaning::addTo(Term sum, Term contribution) const {
  if (!terms.is(sum, Op::Sum))
    return terms.make(Op::Other, {}, {sum, contribution});
  std::vector<Term> contributions = terms[sum].parts;
  contributions.push_back(contribution);
  return this->sum(std::move(contributions));
}

/// Only elementwise work is done on shares, so that what is made of a share is one of the whole.
Term Meaning::wholeOf(std::uint32_t replica, Term term) const {
  if (!isSharded())
    return term;
  return terms.is(term, Op::Share) && terms[term].numbers[0] == replica
             ? terms[term].parts[0]
             : terms.make(Op::Other, {replica}, {term});
}

Term Meaning::gathered(const std::vector<Term> &shares) const {
  const Term whole = wholeOf(0, shares[0]);
  for (std::uint32_t replica = 1; replica < shares.size(); ++replica)
    if (wholeOf(replica, shares[replica]) != whole)
      return terms.make(Op::Other, {}, shares);
  return whole;
}

Term Meaning::gatheredSquares(const std::vector<Term> &records,
                              const std::vector<std::uint32_t> &stages) const {
  Term sum = kNothing;
  for (const std::uint32_t stage : stages) {
    std::vector<Term> shares;
    for (const Term record : records)
      shares.push_back(terms.is(record, Op::Record) ? terms.at(record, stage) : kNothing);
    sum = terms.with(sum, kSquares, stage, gathered(shares));
  }
  return sum;
}

/// Losses of microbatches without tokens are not looked at.
Term Meaning::measured(bool evaluates, Term header, const std::vector<Term> &losses) const {
  std::vector<Term> parts = {ofTask(header)};
  for (std::uint32_t microbatch = 0; microbatch < losses.size(); ++microbatch)
    if (!isEmpty(header, microbatch))
      parts.push_back(losses[microbatch]);
  return terms.make(Op::Measured, {evaluates ? 1u : 0u}, parts);
}

Term Meaning::snapshot(Term header, Term weights, Term moments) const {
  const bool isOne = terms.is(header, Op::Header);
  return terms.make(isOne ? Op::Snapshot : Op::Other, {isOne ? stepOf(header) : 0},
                    {weights, moments});
}

/// Which step it is stands in what was measured.
Term Meaning::report(Term scalars, const std::vector<Term> &stats) const {
  std::vector<Term> parts = {scalars};
  for (const Term one : stats)
    parts.push_back(terms.at(one, kMeasured));
  return terms.make(Op::Report, {}, parts);
}

/// The first ranks of the replicas have measured something.
Term Meaning::evaluationReport(Term header, const std::vector<Term> &stats) const {
  std::vector<Term> parts = {header};
  for (std::size_t rank = 0; rank < stats.size(); rank += plan.mesh.pipeline)
    parts.push_back(terms.at(stats[rank], kMeasured));
  return terms.make(Op::EvaluationReport, {}, parts);
}

Term Meaning::exportCommit(const std::vector<Term> &stats) const {
  std::vector<Term> parts;
  for (const Term one : stats)
    for (std::uint32_t stage = 0; stage < plan.models[0].stages.size(); ++stage)
      if (const Term weights = terms.at(one, kExported + stage); weights != kNothing)
        parts.push_back(weights);
  return terms.make(Op::ExportCommit, {}, parts);
}

/// Of shards of several steps, or too few, there is no name: the run fails.
Term Meaning::named(const std::vector<Term> &stats, Term before) const {
  const auto stages = static_cast<std::uint32_t>(plan.models[0].stages.size());
  std::vector<Term> snapshots;
  bool isFirst = false; // a stage of the first rank
  std::uint32_t step = 0;
  for (std::size_t rank = 0; rank < stats.size(); ++rank)
    for (std::uint32_t stage = 0; stage < stages; ++stage)
      if (const Term snapshot = terms.at(stats[rank], kSaved + stage);
          terms.is(snapshot, Op::Snapshot)) {
        if (rank == 0 && !isFirst)
          isFirst = true, step = stepOf(snapshot);
        if (stepOf(snapshot) == step)
          snapshots.push_back(snapshot);
      }
  if (!isFirst || (terms.is(before, Op::Named) && stepOf(before) == step))
    return kNothing;
  return snapshots.size() == stages ? named(step, snapshots) : terms.make(Op::Other, {}, snapshots);
}

} // namespace vime::interpreter
