// Terms: what bytes mean, as symbols. Two terms are one number exactly if they are built alike, so
// a run is compared with what it should leave by comparing numbers.
//
//   Terms terms;
//   const Term first = terms.make(Op::Initial, {0, 1});
//   terms.describe(first)   // `initial(0, 1)`
//
// A gradient is the list of its summands, parameters are the update of earlier parameters: which
// microbatches are in a sum and which generation lies in a buffer can be read off.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace vime::interpreter {

enum class Op : std::uint8_t {
  Nothing, // never written
  Garbage, // written, and for nobody to read
  Empty,   // of a microbatch without tokens
  Torn,    // pieces of several values, one behind the other: value and where it begins in it
  Other,   // of an action whose inputs are not what it is made for
  Header,  // step, phase, replica
  Text,    // what is loaded: column, step, replica, microbatch
  Initial,
  Output,
  Stash,
  LossStash,
  Loss,
  InputStash, // what an input gradient leaves in the stash
  WeightStash,
  InputGradient,
  Context, // for later slices of the same samples, with those before them
  ContextGradients,
  Contribution, // of a microbatch to the gradients of a stage
  TiedContribution,
  Sum,     // of contributions, in this order
  Added,   // the sum of a tied head added to that of the embedding
  Reduced, // over replicas, in this order
  Share,   // of a replica: what it keeps of the whole
  Scaled,
  Square,
  Record, // of a rank: key and value, ascending by key
  Key,
  Scalars,
  Weights,
  Moments,
  EarlyWeights, // ahead of the verdict
  EarlyMoments,
  Kept, // what a step was made from: header, weights, moments
  Measured,
  Snapshot,
  // Of rounds: prompts, held out or of a round; what an engine answers, with which weights and
  // version; what a round trains on; log-probabilities by the reference.
  Prompts,
  Samples,
  Round,
  Reference,
  Advantages, // with a KL taken out of rewards
  // What can be seen from outside.
  Report,
  EvaluationReport,
  Export,
  ExportCommit,
  Saved,
  Named, // a checkpoint, by its step
  Scored,
  Final
};

using Term = std::uint32_t;
inline constexpr Term kNothing = 0, kGarbage = 1, kEmpty = 2;

class Terms {
public:
  using Numbers = std::array<std::uint32_t, 4>;
  struct Node {
    Op op;
    Numbers numbers;
    std::vector<Term> parts;
  };

  Terms();
  Term make(Op op, const Numbers &numbers, std::span<const Term> parts = {});
  Term make(Op op, const Numbers &numbers, std::initializer_list<Term> parts) {
    return make(op, numbers, std::span(parts.begin(), parts.size()));
  }
  const Node &operator[](Term term) const { return nodes[term]; }
  bool is(Term term, Op op) const { return nodes[term].op == op; }
  std::size_t size() const { return nodes.size(); }

  /// A record of some kind with another value at a key; of nothing a new one, of anything else
  /// Other.
  Term with(Term record, std::uint32_t kind, std::uint32_t key, Term value);
  /// kNothing where it has none.
  Term at(Term record, std::uint32_t key) const;

  /// Down to a few levels.
  std::string describe(Term term, int levels = 2) const;
  /// Where the second stops being like the first.
  std::string difference(Term wanted, Term found) const;

private:
  struct Hash {
    std::size_t operator()(const std::vector<std::uint32_t> &words) const;
  };
  std::deque<Node> nodes; // a node stays where it is
  std::unordered_map<std::vector<std::uint32_t>, Term, Hash> known;
};

} // namespace vime::interpreter
