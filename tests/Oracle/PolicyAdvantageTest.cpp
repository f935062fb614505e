// Advantages against LibTorch in float64: sums over all later tokens, written out, instead of
// recurrences.
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "runtime/Policy/GroupAdvantage.h"
#include "runtime/Policy/TokenAdvantage.h"
#include "runtime/Policy/Whitening.h"

namespace vime {
namespace {

using torch::Tensor;
using torch::indexing::Slice;
using Numbers = std::vector<double>;

constexpr double kTolerance = 1e-10;
constexpr double kDiscount = 0.97, kDecay = 0.9, kKl = 0.3;

Tensor tensorOf(const Numbers &numbers) { return torch::tensor(numbers, torch::kFloat64); }

void expectNear(const Numbers &found, const Tensor &expected) {
  ASSERT_EQ(std::int64_t(found.size()), expected.numel());
  const Tensor flat = expected.contiguous().flatten();
  for (std::size_t place = 0; place < found.size(); ++place)
    EXPECT_NEAR(found[place], flat[std::int64_t(place)].item<double>(), kTolerance) << place;
}

/// Several sequences with masks, a reward each, and numbers of tokens.
struct Rewarded {
  std::vector<std::uint32_t> begins = {0};
  std::vector<std::uint8_t> mask;
  Numbers rewards, old, reference, values;

  explicit Rewarded(unsigned seed) {
    std::mt19937 random(seed);
    const auto uniform = [&](double low, double high) {
      return low + (high - low) * double(random()) / 0x1p32;
    };
    for (int sequence = 0; sequence < 8; ++sequence) {
      const std::size_t length = 1 + random() % 30;
      for (std::size_t token = 0; token < length; ++token) {
        mask.push_back(token == length / 2 || random() % 3 != 0 ? 1 : 0);
        old.push_back(uniform(-4, -0.1));
        reference.push_back(old.back() + uniform(-1, 1));
        values.push_back(uniform(-2, 2));
      }
      begins.push_back(std::uint32_t(mask.size()));
      rewards.push_back(uniform(-3, 3));
    }
  }
  Sequences sequences() const { return {begins, mask}; }
};

Tensor klOf(KlEstimator estimator, const Tensor &x) {
  return estimator == KlEstimator::K1   ? x
         : estimator == KlEstimator::K2 ? x.square() / 2
                                        : (-x).exp() - 1 + x;
}

/// sums[t] of factor^(k - t) · numbers[k] over k >= t.
Tensor discounted(const Tensor &numbers, double factor) {
  const Tensor places = torch::arange(numbers.numel(), torch::kFloat64);
  const Tensor apart = places.unsqueeze(0) - places.unsqueeze(1);
  return torch::matmul(torch::pow(factor, apart).triu(), numbers);
}

/// Calls with the places of each sequence's tokens with mask 1, and the rewards of those tokens.
template <typename Visit>
void eachSequence(const Rewarded &given, KlEstimator estimator, Visit visit) {
  for (std::size_t sequence = 0; sequence < given.rewards.size(); ++sequence) {
    std::vector<std::int64_t> places;
    for (std::uint32_t token = given.begins[sequence]; token < given.begins[sequence + 1]; ++token)
      if (given.mask[token] != 0)
        places.push_back(token);
    const Tensor at = torch::tensor(places);
    const Tensor apart = (tensorOf(given.old) - tensorOf(given.reference)).index({at});
    Tensor rewards = -kKl * klOf(estimator, apart);
    rewards[-1] += given.rewards[sequence];
    visit(at, rewards);
  }
}

/// Rewards of tokens as PPO and REINFORCE++ have them.
Numbers tokenRewards(const Rewarded &given, KlEstimator estimator) {
  Numbers tokens(given.mask.size());
  EXPECT_TRUE(putOnLastToken(given.sequences(), given.rewards, tokens).ok());
  EXPECT_TRUE(
      subtractKl(given.sequences(), estimator, kKl, given.old, given.reference, tokens).ok());
  return tokens;
}

TEST(AdvantageOracle, ComparesGroupsLikeLibTorch) {
  std::mt19937 random(3);
  Numbers rewards;
  std::vector<std::uint32_t> groups;
  for (std::uint32_t place = 0; place < 40; ++place) {
    rewards.push_back(double(random()) / 1e9);
    groups.push_back(place / 8);
  }
  const Tensor table = tensorOf(rewards).reshape({5, 8});
  const Tensor centred = table - table.mean(1, true);
  Numbers found(rewards.size());
  ASSERT_TRUE(groupAdvantages(GroupBaseline::Mean, groups, rewards, found).ok());
  expectNear(found, centred);
  ASSERT_TRUE(groupAdvantages(GroupBaseline::MeanAndDeviation, groups, rewards, found).ok());
  expectNear(found, centred / (table.std(1, /*unbiased=*/true, /*keepdim=*/true) + 1e-6));
  ASSERT_TRUE(groupAdvantages(GroupBaseline::LeaveOneOut, groups, rewards, found).ok());
  expectNear(found, centred * 8 / 7);
}

TEST(AdvantageOracle, DiscountsAndEstimatesLikeSumsWrittenOut) {
  for (const auto estimator : {KlEstimator::K1, KlEstimator::K2, KlEstimator::K3})
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const Rewarded given(seed);
      const Numbers tokens = tokenRewards(given, estimator);
      Numbers sums(tokens.size()), advantages(tokens.size()), returns(tokens.size());
      ASSERT_TRUE(discountReturns(given.sequences(), kDiscount, tokens, sums).ok());
      ASSERT_TRUE(generalisedAdvantages(given.sequences(), {kDiscount, kDecay}, tokens,
                                        given.values, advantages, returns)
                      .ok());
      Tensor expectedSums = torch::zeros(std::int64_t(tokens.size()), torch::kFloat64);
      Tensor expected = expectedSums.clone(), expectedReturns = expectedSums.clone();
      eachSequence(given, estimator, [&](const Tensor &at, const Tensor &rewards) {
        const Tensor values = tensorOf(given.values).index({at});
        const Tensor next =
            torch::cat({values.index({Slice(1)}), torch::zeros(1, torch::kFloat64)});
        const Tensor estimate = discounted(rewards + kDiscount * next - values, kDiscount * kDecay);
        expectedSums.index_put_({at}, discounted(rewards, kDiscount));
        expected.index_put_({at}, estimate);
        expectedReturns.index_put_({at}, estimate + values);
      });
      expectNear(sums, expectedSums);
      expectNear(advantages, expected);
      expectNear(returns, expectedReturns);
    }
}

/// REINFORCE++ with a baseline: from rewards of groups to whitened tokens.
TEST(AdvantageOracle, WhitensLikeLibTorch) {
  const Rewarded given(9);
  const std::vector<std::uint32_t> groups = {0, 0, 0, 0, 1, 1, 1, 1};
  Numbers compared(8), tokens(given.mask.size());
  ASSERT_TRUE(groupAdvantages(GroupBaseline::Mean, groups, given.rewards, compared).ok());
  ASSERT_TRUE(spreadOverTokens(given.sequences(), compared, tokens).ok());
  ASSERT_TRUE(
      subtractKl(given.sequences(), KlEstimator::K2, kKl, given.old, given.reference, tokens).ok());
  Whitening whitening;
  whitening.addNumbers(given.mask, tokens);
  whitening.takeMean();
  whitening.addSquares(given.mask, tokens);
  whitening.apply(given.mask, tokens);

  const Tensor table = tensorOf(given.rewards).reshape({2, 4});
  const Tensor centred = (table - table.mean(1, true)).flatten();
  Tensor expected = torch::zeros(std::int64_t(tokens.size()), torch::kFloat64);
  std::int64_t sequence = 0;
  eachSequence(given, KlEstimator::K2, [&](const Tensor &at, const Tensor &) {
    const Tensor apart = (tensorOf(given.old) - tensorOf(given.reference)).index({at});
    expected.index_put_({at}, centred[sequence++] - kKl * apart.square() / 2);
  });
  const Tensor mask = tensorOf(Numbers(given.mask.begin(), given.mask.end())) != 0;
  const Tensor trained = expected.index({mask});
  expected.index_put_({mask}, (trained - trained.mean()) / (trained.var() + 1e-8).sqrt());
  expectNear(tokens, expected);
}

} // namespace
} // namespace vime
