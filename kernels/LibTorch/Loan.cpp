#include "kernels/LibTorch/Loan.h"

#include <atomic>
#include <mutex>

#include <c10/core/CPUAllocator.h>
#include <c10/util/StringUtil.h>

namespace vime {
namespace {

constexpr std::size_t kAlignment = 64; // LibTorch's own

std::size_t roundUp(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::byte *aligned(void *memory) {
  return reinterpret_cast<std::byte *>(roundUp(reinterpret_cast<std::uintptr_t>(memory)));
}

std::size_t behind(void *memory, std::size_t bytes) {
  const auto lost = std::size_t(aligned(memory) - static_cast<std::byte *>(memory));
  return bytes > lost ? (bytes - lost) / kAlignment * kAlignment : 0;
}

std::uint64_t nextNumber() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

// What LibTorch hands back with a block: which loan it is of and where, never an address that might
// be gone. Offsets count in units of kAlignment.
constexpr unsigned kOffsetBits = 36;
constexpr std::uint64_t kNumbers = (std::uint64_t(1) << (64 - kOffsetBits)) - 1;

void *ticketOf(std::uint64_t number, std::size_t offset) {
  return reinterpret_cast<void *>((number % kNumbers + 1) << kOffsetBits | offset / kAlignment);
}

thread_local Loan *innermost = nullptr;

} // namespace

Loan::Loan(void *start, std::size_t size)
    : memory(aligned(start)), bytes(behind(start, size)), number(nextNumber()), outer(innermost) {
  if (bytes > 0)
    blocks.emplace(0, Block{bytes, true});
  innermost = this;
}

Loan::~Loan() { innermost = outer; }

Loan *Loan::current() { return innermost; }

void Loan::close() {
  if (refusal.empty() && used > 0)
    refusal = c10::str("LibTorch keeps ", used, " bytes in ", count,
                       " blocks of a workspace beyond its task");
  rethrowRefusal();
}

void Loan::rethrowRefusal() const {
  if (!refusal.empty())
    throw KernelError(refusal);
}

void *Loan::take(std::size_t wanted) {
  const std::size_t size = roundUp(wanted);
  for (auto at = blocks.begin(); at != blocks.end(); ++at) {
    auto &[offset, block] = *at;
    if (!block.isFree || block.bytes < size)
      continue;
    if (block.bytes > size)
      blocks.emplace_hint(std::next(at), offset + size, Block{block.bytes - size, true});
    block = {size, false};
    used += size;
    ++count;
    mostUsed = std::max(mostUsed, used);
    return memory + offset;
  }
  if (refusal.empty())
    refusal = c10::str("LibTorch asks for ", wanted, " bytes where ", used, " of the workspace's ",
                       bytes, " are in use");
  throw KernelError(refusal);
}

void Loan::giveBack(std::size_t offset) {
  auto at = blocks.find(offset);
  if (at == blocks.end() || at->second.isFree)
    return;
  used -= at->second.bytes;
  --count;
  at->second.isFree = true;
  const auto merge = [&](auto first, auto second) {
    first->second.bytes += second->second.bytes;
    blocks.erase(second);
  };
  if (auto next = std::next(at); next != blocks.end() && next->second.isFree)
    merge(at, next);
  if (at != blocks.begin())
    if (auto previous = std::prev(at); previous->second.isFree)
      merge(previous, at);
}

/// Serves a thread from its loan, and as LibTorch does where it has none.
class LoanAllocator final : public c10::Allocator {
public:
  explicit LoanAllocator(c10::Allocator &usual) : usual(usual) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    Loan *loan = innermost;
    if (!loan)
      return usual.allocate(bytes);
    if (bytes == 0)
      return {nullptr, nullptr, &giveBack, c10::DeviceType::CPU};
    void *block = loan->take(bytes);
    const auto offset = std::size_t(static_cast<std::byte *>(block) - loan->memory);
    return {block, ticketOf(loan->number, offset), &giveBack, c10::DeviceType::CPU};
  }
  void copy_data(void *to, const void *from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

private:
  /// A block of a loan that is over was reported when it ended.
  static void giveBack(void *ticket) {
    const auto bits = reinterpret_cast<std::uint64_t>(ticket);
    const std::size_t offset = (bits & ((std::uint64_t(1) << kOffsetBits) - 1)) * kAlignment;
    for (Loan *loan = innermost; loan; loan = loan->outer)
      if (ticketOf(loan->number, offset) == ticket)
        return loan->giveBack(offset);
  }

  c10::Allocator &usual;
};

void lendToLibTorch() {
  static std::once_flag once;
  std::call_once(once, [] {
    // LibTorch's for good: it may free tensors as late as it likes.
    c10::SetCPUAllocator(new LoanAllocator(*c10::GetCPUAllocator()), /*priority=*/100);
  });
}

} // namespace vime
