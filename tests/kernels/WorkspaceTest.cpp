// A kernel needs the workspace that kernels/Workspace.h names for its call and no byte more, of
// whatever was there before, and has forgotten it afterwards.
#include "kernels/Workspace.h"
#include "kernels/Native.h"
#include "tests/Conformance/FencedBytes.h"
#include "tests/Conformance/KernelsTensor.h"

#include <functional>
#include <random>

#include <gtest/gtest.h>

namespace vime {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::int64_t kPromptTokens = 16; // AttentionWithCache.cpp: from which on there are panels

/// A call with a workspace: how many bytes of it, and what comes out.
struct Call {
  std::string name;
  std::size_t workspace = 0;
  std::function<Bytes(const Kernels &, void *workspace)> run;
  bool isLargest = true; // others of the same workspace need less
};

/// Calls of random sizes, the same in every run.
class RandomCalls {
public:
  explicit RandomCalls(DataType type) : type(type) {}

  Call product() {
    const std::int64_t rows = below(130), columns = 1 + below(300), depth = 1 + below(600);
    const bool strided = below(2) == 0;
    return {"product " + names({rows, columns, depth}), productWorkspace(type, columns, depth),
            [=, type = type](const Kernels &kernels, void *workspace) {
              Tensor a = made(type, strided ? depth : rows, strided ? rows : depth, 1),
                     b = made(type, depth, columns, 2), c(type, rows, columns);
              kernels.product(
                  {.rows = rows,
                   .columns = columns,
                   .depth = depth,
                   .a = strided ? Factor{a.data(), 1, a.stride} : Factor{a.data(), a.stride, 1},
                   .b = {b.data(), b.stride, 1},
                   .result = c.matrix()},
                  workspace);
              return c.bytes();
            }};
  }

  Call linear() {
    const Linear sizes{below(70), 1 + below(80), 1 + below(80), below(2) == 0};
    return {
        "linear " + names({sizes.tokens, sizes.inputs, sizes.outputs}),
        linearWorkspace(type, sizes), [=, type = type](const Kernels &kernels, void *workspace) {
          Tensor x = made(type, sizes.tokens, sizes.inputs, 3),
                 w = made(type, sizes.outputs, sizes.inputs, 4),
                 y = made(type, sizes.tokens, sizes.outputs, 5), dx = x, dw = w;
          linearForward(kernels, sizes, x.matrix(), w.data(), kNoMatrix, y.matrix(), workspace);
          linearBackwardInput(kernels, sizes, y.matrix(), w.data(), kNoMatrix, dx.matrix(),
                              workspace);
          linearBackwardWeight(kernels, sizes, y.matrix(), x.matrix(), true, dw.data(), workspace);
          Bytes all = y.bytes();
          for (const Tensor *more : {&dx, &dw}) {
            const Bytes bytes = more->bytes();
            all.insert(all.end(), bytes.begin(), bytes.end());
          }
          return all;
        }};
  }

  Call attention() {
    const auto groups = std::int32_t(1 + below(2)), keys = std::int32_t(1 + below(3));
    const Attention sizes{groups * keys, keys, std::int32_t(2 * (1 + below(35)))};
    std::vector<std::int32_t> offsets{0};
    std::int32_t longest = 0;
    for (std::int64_t segment = 0; segment < 3; ++segment) {
      const auto length = std::int32_t(below(segment == 1 ? 330 : 40));
      longest = std::max(longest, length);
      offsets.push_back(offsets.back() + length);
    }
    return {"attention " + names({sizes.heads, sizes.keyValueHeads, sizes.headWidth, longest}),
            attentionWorkspace(type, sizes, longest),
            [=, type = type](const Kernels &kernels, void *workspace) {
              const Segments segments{offsets.data(), 3};
              const std::int64_t tokens = segments.tokens();
              Tensor qkv = made(type, tokens, sizes.qkvWidth(), 6),
                     dOut = made(type, tokens, sizes.queryWidth(), 7),
                     out(type, tokens, sizes.queryWidth()), lse(type, tokens, sizes.heads);
              kernels.attentionForward(sizes, segments, {}, qkv.matrix(), out.matrix(), lse.data(),
                                       workspace);
              kernels.attentionBackward(sizes, segments, {}, qkv.matrix(), out.matrix(),
                                        dOut.matrix(), lse.data(), workspace);
              Bytes all = out.bytes(), gradients = qkv.bytes();
              all.insert(all.end(), gradients.begin(), gradients.end());
              return all;
            }};
  }

  Call attentionWithCache() {
    const auto groups = std::int32_t(1 + below(3)), keys = std::int32_t(1 + below(3));
    const Attention sizes{groups * keys, keys, std::int32_t(2 * (1 + below(35)))};
    const std::int64_t before = below(200), tokens = 1 + below(40);
    return {"attention with a cache " +
                names({sizes.heads, sizes.keyValueHeads, sizes.headWidth, before, tokens}),
            attentionWithCacheWorkspace(type, sizes, before + tokens),
            [=, type = type](const Kernels &kernels, void *workspace) {
              Tensor qkv = made(type, before + tokens, sizes.qkvWidth(), 6),
                     out(type, before + tokens, sizes.queryWidth());
              FencedBytes memory(keyValueCacheBytes(type, sizes, before + tokens),
                                 FencedBytes::Flush::Behind);
              const KeyValueCache filled{memory.filled(std::byte{0xff}), before + tokens};
              kernels.attentionWithCache(sizes, 0, before, qkv.matrix(), filled, out.matrix(),
                                         workspace);
              kernels.attentionWithCache(sizes, before, tokens, {qkv.at(before, 0), qkv.stride},
                                         filled, {out.at(before, 0), out.stride}, workspace);
              return out.bytes();
            },
            /*isLargest=*/tokens >= kPromptTokens};
  }

private:
  static Tensor made(DataType type, std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
    return Tensor(type, rows, columns).randomize(seed);
  }
  std::int64_t below(std::int64_t limit) { return std::int64_t(random() % std::uint64_t(limit)); }
  static std::string names(std::initializer_list<std::int64_t> numbers) {
    std::string text;
    for (const std::int64_t number : numbers)
      text += (text.empty() ? "" : " × ") + std::to_string(number);
    return text;
  }

  const DataType type;
  std::mt19937_64 random{11};
};

std::vector<Call> randomCalls(DataType type) {
  RandomCalls random(type);
  std::vector<Call> calls;
  for (int round = 0; round < 60; ++round) {
    calls.push_back(random.product());
    calls.push_back(random.linear());
    calls.push_back(random.attention());
    calls.push_back(random.attentionWithCache());
  }
  return calls;
}

class WorkspaceTest : public testing::TestWithParam<std::tuple<DataType, Isa>> {
protected:
  void SetUp() override {
    if (!kernels)
      GTEST_SKIP() << nativeRefusal(type);
  }
  const DataType type = std::get<0>(GetParam());
  const Kernels *kernels = nativeKernelsFor(std::get<1>(GetParam()), type);
};

TEST_P(WorkspaceTest, HoldsTheCallsWhateverWasThere) {
  for (const Call &call : randomCalls(type)) {
    SCOPED_TRACE(call.name);
    FencedBytes before(call.workspace, FencedBytes::Flush::Before),
        behind(call.workspace, FencedBytes::Flush::Behind);
    const Bytes expected = call.run(*kernels, before.filled(std::byte{0x00}));
    before.close(); // who kept an address of it would fault
    EXPECT_EQ(call.run(*kernels, behind.filled(std::byte{0xff})), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Native, WorkspaceTest,
                         testing::Combine(testing::Values(DataType::Float32, DataType::Float64),
                                          testing::Values(Isa::Avx2, Isa::Avx512)),
                         [](const auto &info) {
                           return std::string(nameOf(std::get<0>(info.param))) +
                                  (std::get<1>(info.param) == Isa::Avx2 ? "_avx2" : "_avx512");
                         });

// Of a call that does something. The last area of attention's backward has a column for each of 32
// queries, of which the last row may lack some.
TEST(WorkspaceSlack, IsWhatIsStated) {
  for (const DataType type : {DataType::Float32, DataType::Float64}) {
    const Kernels *kernels = nativeKernelsFor(Isa::Avx512, type);
    if (!kernels)
      GTEST_SKIP() << "the widest vectors are not here: " << nativeRefusal(type);
    const std::size_t lastRow = 32 * sizeOf(type);
    for (const Call &call : randomCalls(type)) {
      FencedBytes workspace(call.workspace, FencedBytes::Flush::Before);
      call.run(*kernels, workspace.filled(std::byte{0xff}));
      const std::size_t used = workspace.usedBytes(std::byte{0xff});
      if (used != 0 && call.isLargest) {
        EXPECT_LE(call.workspace - used, unusedWorkspace(type) + lastRow) << call.name;
      }
    }
  }
}

} // namespace
} // namespace vime
