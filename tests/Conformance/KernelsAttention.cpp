// Rotary positions and attention.
#include "tests/Conformance/KernelsFixture.h"

namespace vime {
namespace {

TEST_P(KernelsConformance, RopeTable) {
  for (const std::int32_t width : {2, 6, 8, 32, 128})
    for (const double theta : {1e4, 5e5}) {
      Tensor table = sums(700, width, 0), expected = table;
      kernels().ropeTable(700, width, theta, table.data());
      reference().ropeTable(700, width, theta, expected.data());
      expectClose(table, expected, "cosines and sines");
    }
}

TEST_P(KernelsConformance, RopeCountsFromTheStartOfEachSegment) {
  const std::vector<std::int32_t> offsets = {0, 3, 3, 10};
  const Segments segments{offsets.data(), 3};
  for (const std::int32_t width : {2, 6, 8, 32}) {
    Tensor table = sums(7, width, 0);
    reference().ropeTable(7, width, 1e4, table.data());
    const Tensor x = tensor(10, 4 * width).randomize(1);
    Tensor actual = x, expected = x;
    kernels().rope(segments, 3, width, table.data(), false, actual.matrix());
    reference().rope(segments, 3, width, table.data(), false, expected.matrix());
    expectClose(actual, expected, "rotated"); // the fourth head is left alone
    EXPECT_EQ(actual.get(3, 0), x.get(3, 0)) << "position 0 is not rotated";

    kernels().rope(segments, 3, width, table.data(), true, actual.matrix());
    expectClose(actual, x, "rotated back", /*roundings=*/2);
  }
}

struct AttentionCase {
  Attention attention;
  std::vector<std::int32_t> offsets;
};

// Heads below, at and above a vector and a panel of either build; segments around every block.
const std::vector<AttentionCase> kAttention = {
    {{1, 1, 2}, {0, 1}},        {{2, 2, 8}, {0, 7, 7, 24}},    {{4, 2, 5}, {0, 31, 64, 97}},
    {{3, 1, 16}, {0, 33, 35}},  {{2, 1, 20}, {0, 45}},         {{2, 2, 32}, {0, 130, 135}},
    {{1, 1, 33}, {0, 40, 41}},  {{2, 1, 64}, {0, 17, 17, 70}}, {{1, 1, 130}, {0, 20}},
    {{4, 1, 8}, {0, 300, 301}}, {{1, 1, 12}, {0, 520}}};

TEST_P(KernelsConformance, Attention) {
  for (const auto &[attention, offsets] : kAttention) {
    SCOPED_TRACE(testing::Message() << attention.heads << " heads, " << attention.keyValueHeads
                                    << " key-value heads, width " << attention.headWidth
                                    << ", tokens " << offsets.back());
    const Segments segments{offsets.data(), std::int32_t(offsets.size()) - 1};
    const std::int64_t tokens = segments.tokens();
    const Tensor qkv = tensor(tokens, attention.qkvWidth()).randomize(1, 2),
                 dOut = tensor(tokens, attention.queryWidth(), 1).randomize(2);
    Tensor out = tensor(tokens, attention.queryWidth()), outExpected = out;
    Tensor lse = sums(tokens, attention.heads, 0), lseExpected = lse;
    std::int64_t longest = 0;
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
      longest = std::max<std::int64_t>(longest, offsets[s + 1] - offsets[s]);
    Workspace workspace(attentionWorkspace(type(), attention, longest, library()), 8);

    kernels().attentionForward(attention, segments, {}, qkv.matrix(), out.matrix(), lse.data(),
                               workspace.poisoned());
    reference().attentionForward(attention, segments, {}, qkv.matrix(), outExpected.matrix(),
                                 lseExpected.data(), nullptr);
    expectClose(out, outExpected, "out");
    expectClose(lse, lseExpected, "lse");

    Tensor gradient = qkv, expected = qkv;
    kernels().attentionBackward(attention, segments, {}, gradient.matrix(), out.matrix(),
                                dOut.matrix(), lse.data(), workspace.poisoned());
    reference().attentionBackward(attention, segments, {}, expected.matrix(), out.matrix(),
                                  dOut.matrix(), lse.data(), nullptr);
    expectClose(gradient, expected, "dq, dk, dv");
  }
}

} // namespace
} // namespace vime
