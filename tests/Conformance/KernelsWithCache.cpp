// Attention of sequences whose keys and values stay from call to call, against whole ones.
#include "tests/Conformance/CachedAttention.h"
#include "tests/Conformance/KernelsFixture.h"

#include <numeric>

namespace vime {
namespace {

struct CachedCase {
  CachedAttention cached;
  std::vector<std::int64_t> parts;
};

/// `count` tokens, one at a time.
std::vector<std::int64_t> oneByOne(std::vector<std::int64_t> parts, std::int64_t count) {
  parts.insert(parts.end(), std::size_t(count), 1);
  return parts;
}

// Heads below, at and above a vector of either build and a group of heads; keys around a block and
// a chunk of depth.
const std::vector<CachedCase> kCached = {{{{1, 1, 2}, 1}, {1}},
                                         {{{2, 2, 8}, 18}, oneByOne({3}, 15)},
                                         {{{4, 2, 6}, 40}, {7, 1, 1, 16, 1}},
                                         {{{5, 5, 16}, 33}, oneByOne({}, 33)},
                                         {{{6, 1, 20}, 45}, {1, 44}},
                                         {{{2, 2, 32}, 150}, oneByOne({125}, 10)},
                                         {{{3, 1, 34}, 41}, oneByOne({37}, 4)},
                                         {{{8, 4, 64}, 70}, {17, 0, 33, 20}},
                                         {{{1, 1, 130}, 20}, oneByOne({10}, 10)},
                                         {{{2, 1, 48}, 530}, {255, 1, 1, 260}}};

TEST_P(KernelsConformance, AttentionWithCache) {
  for (const auto &[cached, parts] : kCached) {
    const Attention &attention = cached.attention;
    SCOPED_TRACE(testing::Message() << attention.heads << " heads, " << attention.keyValueHeads
                                    << " key-value heads, width " << attention.headWidth << ", "
                                    << parts.size() << " calls");
    const std::int64_t tokens = std::accumulate(parts.begin(), parts.end(), std::int64_t(0));
    const Tensor qkv = tensor(tokens, attention.qkvWidth()).randomize(1, 2);
    const Tensor out = cached.run(kernels(), library(), qkv, parts);

    const std::int32_t offsets[] = {0, std::int32_t(tokens)};
    Tensor expected = tensor(tokens, attention.queryWidth());
    Tensor lse = sums(tokens, attention.heads, 0);
    reference().attentionForward(attention, {offsets, 1}, {}, qkv.matrix(), expected.matrix(),
                                 lse.data(), nullptr);
    expectClose(out, expected, "out");
    expectClose(cached.run(reference(), library(), qkv, parts), expected, "the reference's out");
    for (const Kernels *one : {&kernels(), &reference()})
      EXPECT_EQ(cached.run(*one, library(), qkv, parts, parts.size() / 2).bytes(),
                cached.run(*one, library(), qkv, parts).bytes())
          << one->name() << ": went on in a copy";
  }
}

} // namespace
} // namespace vime
