// What LibTorch allocates inside a loan lies in the loan's memory, or the call fails.
#include <functional>
#include <thread>
#include <vector>

#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include "kernels/LibTorch/Loan.h"

namespace vime {
namespace {

class LoanTest : public testing::Test {
protected:
  void SetUp() override { lendToLibTorch(); }
  bool isInside(const at::Tensor &tensor) const {
    const auto *data = static_cast<const std::byte *>(tensor.const_data_ptr());
    return data >= memory.data() && data + tensor.nbytes() <= memory.data() + memory.size();
  }
  std::string messageOf(const std::function<void()> &body) const {
    try {
      body();
    } catch (const KernelError &error) {
      return error.what();
    }
    return "no error";
  }
  std::vector<std::byte> memory = std::vector<std::byte>(16 << 10);
};

TEST_F(LoanTest, TensorsLieInItAndBlocksAreUsedAgain) {
  Loan loan(memory.data(), memory.size());
  for (int round = 0; round < 100; ++round) {
    const at::Tensor a = at::ones({1000}), b = at::ones({300});
    const at::Tensor sum = at::add(a, a);
    EXPECT_TRUE(isInside(a) && isInside(b) && isInside(sum));
    EXPECT_EQ(sum.sum().item<float>(), 2000);
  }
  EXPECT_GE(loan.peak(), 2 * 4000 + 1200u);
  loan.close();
}

TEST_F(LoanTest, HolesBetweenBlocksAreFilled) {
  Loan loan(memory.data(), memory.size());
  {
    at::Tensor first = at::empty({1000}), second = at::empty({1000}), third = at::empty({1000});
    const void *hole = second.const_data_ptr();
    second = at::Tensor();
    const at::Tensor again = at::empty({900});
    EXPECT_EQ(again.const_data_ptr(), hole);
    first = third = at::Tensor();
    const at::Tensor larger = at::empty({2000}); // as wide as no block was: neighbours are one
    EXPECT_TRUE(isInside(larger));
  }
  loan.close();
}

TEST_F(LoanTest, TooLittleIsAnError) {
  Loan loan(memory.data(), memory.size());
  const std::string refusal = messageOf([] { at::empty({5000}); });
  EXPECT_NE(refusal.find("LibTorch asks for 20000 bytes where 0 of the workspace's "),
            std::string::npos)
      << refusal;
  EXPECT_EQ(messageOf([&] { loan.close(); }), refusal) << "though somebody caught it";
}

TEST_F(LoanTest, WhatOutlivesItIsAnError) {
  at::Tensor escaped;
  {
    Loan loan(memory.data(), memory.size());
    escaped = at::empty({10});
    EXPECT_EQ(messageOf([&] { loan.close(); }),
              "LibTorch keeps 64 bytes in 1 blocks of a workspace beyond its task");
  }
  Loan next(memory.data(), memory.size());
  const at::Tensor other = at::empty({10});
  escaped = at::Tensor(); // takes nothing from the next loan
  EXPECT_NE(messageOf([&] { next.close(); }), "no error");
}

TEST_F(LoanTest, IsOfItsThreadAndOfTheInnermost) {
  std::vector<std::byte> inner(4 << 10);
  Loan loan(memory.data(), memory.size());
  const at::Tensor outside = at::empty({10});
  {
    Loan nested(inner.data(), inner.size());
    EXPECT_FALSE(isInside(at::empty({10})));
    nested.close();
  }
  EXPECT_TRUE(isInside(at::empty({10})));
  std::thread([&] { EXPECT_FALSE(isInside(at::empty({10}))); }).join();
}

/// As oneDNN asks for it.
TEST_F(LoanTest, PlainPointersComeBackToWhereTheyAreFrom) {
  c10::Allocator &allocator = *c10::GetCPUAllocator();
  void *before = allocator.raw_allocate(100);
  {
    Loan loan(memory.data(), memory.size());
    void *inside = allocator.raw_allocate(100);
    EXPECT_EQ(inside >= memory.data() && inside < memory.data() + memory.size(), true);
    allocator.raw_deallocate(before);
    allocator.raw_deallocate(inside);
    loan.close();
  }
  at::Tensor escaped;
  {
    const Loan loan(memory.data(), memory.size());
    escaped = at::empty({10});
  }
  escaped = at::Tensor(); // goes nowhere
}

TEST_F(LoanTest, WithoutOneLibTorchAllocatesAsEver) { EXPECT_FALSE(isInside(at::empty({10}))); }

} // namespace
} // namespace vime
