#include "tests/Interpreter/Terms.h"

#include <string_view>

namespace vime::interpreter {
namespace {

constexpr std::string_view kNames[] = {"nothing",
                                       "garbage",
                                       "empty",
                                       "torn",
                                       "other",
                                       "header",
                                       "text",
                                       "initial",
                                       "output",
                                       "stash",
                                       "loss_stash",
                                       "loss",
                                       "input_stash",
                                       "weight_stash",
                                       "input_gradient",
                                       "context",
                                       "context_gradients",
                                       "contribution",
                                       "tied_contribution",
                                       "sum",
                                       "added",
                                       "reduced",
                                       "share",
                                       "scaled",
                                       "square",
                                       "record",
                                       "key",
                                       "scalars",
                                       "weights",
                                       "moments",
                                       "early_weights",
                                       "early_moments",
                                       "kept",
                                       "measured",
                                       "snapshot",
                                       "prompts",
                                       "samples",
                                       "round",
                                       "reference",
                                       "advantages",
                                       "report",
                                       "evaluation_report",
                                       "export",
                                       "export_commit",
                                       "saved",
                                       "named",
                                       "scored",
                                       "final"};

} // namespace

std::size_t Terms::Hash::operator()(const std::vector<std::uint32_t> &words) const {
  std::uint64_t hash = words.size();
  for (const std::uint32_t word : words)
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u, hash ^= hash >> 29;
  return hash;
}

Terms::Terms() {
  for (const Op op : {Op::Nothing, Op::Garbage, Op::Empty})
    make(op, {});
}

Term Terms::make(Op op, const Numbers &numbers, std::span<const Term> parts) {
  std::vector<std::uint32_t> words = {static_cast<std::uint32_t>(op)};
  words.insert(words.end(), numbers.begin(), numbers.end());
  words.insert(words.end(), parts.begin(), parts.end());
  const auto [place, isNew] = known.try_emplace(std::move(words), static_cast<Term>(nodes.size()));
  if (isNew)
    nodes.push_back({op, numbers, {parts.begin(), parts.end()}});
  return place->second;
}

Term Terms::with(Term record, std::uint32_t kind, std::uint32_t key, Term value) {
  if (record != kNothing && (!is(record, Op::Record) || nodes[record].numbers[0] != kind))
    return make(Op::Other, {key}, {record, value});
  const Term name = make(Op::Key, {key});
  std::vector<Term> parts;
  bool placed = false;
  const std::vector<Term> before = nodes[record].parts;
  for (std::size_t index = 0; index + 1 < before.size(); index += 2) {
    const std::uint32_t other = nodes[before[index]].numbers[0];
    if (!placed && other >= key) {
      parts.insert(parts.end(), {name, value});
      placed = true;
    }
    if (other != key)
      parts.insert(parts.end(), {before[index], before[index + 1]});
  }
  if (!placed)
    parts.insert(parts.end(), {name, value});
  return make(Op::Record, {kind}, parts);
}

Term Terms::at(Term record, std::uint32_t key) const {
  const Node &node = nodes[record];
  for (std::size_t index = 0; node.op == Op::Record && index < node.parts.size(); index += 2)
    if (nodes[node.parts[index]].numbers[0] == key)
      return node.parts[index + 1];
  return kNothing;
}

std::string Terms::describe(Term term, int levels) const {
  const Node &node = nodes[term];
  std::string text(kNames[static_cast<std::size_t>(node.op)]);
  if (node.numbers != Numbers())
    for (const std::uint32_t number : node.numbers)
      text += " " + std::to_string(number);
  std::string inside;
  for (const Term part : node.parts)
    if (part != kNothing)
      inside += (inside.empty() ? "" : ", ") + (levels > 0 ? describe(part, levels - 1) : "…");
  return inside.empty() ? text : text + " of (" + inside + ")";
}

std::string Terms::difference(Term wanted, Term found) const {
  std::string inside = std::string(kNames[static_cast<std::size_t>(nodes[wanted].op)]);
  for (;;) {
    const Node &one = nodes[wanted], &other = nodes[found];
    if (one.op != other.op || one.numbers != other.numbers ||
        one.parts.size() != other.parts.size())
      break;
    std::size_t part = 0;
    while (part < one.parts.size() && one.parts[part] == other.parts[part])
      ++part;
    if (part == one.parts.size())
      break;
    wanted = one.parts[part];
    found = other.parts[part];
  }
  return "in a " + inside + ": " + describe(found) + " instead of " + describe(wanted);
}

} // namespace vime::interpreter
