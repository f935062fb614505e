#include "kernels/LibTorch/Loan.h"

#include <atomic>
#include <mutex>
#include <set>

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

/// Blocks that were in use when their loan ended. Whoever has one gives it back some day, and it
/// must go nowhere then: its memory is the plan's.
class Escaped {
public:
  void add(const void *block) {
    const std::lock_guard lock(mutex);
    blocks.insert(block);
    count = blocks.size();
  }
  /// Whether it was one of them.
  bool remove(const void *block) {
    if (count == 0)
      return false;
    const std::lock_guard lock(mutex);
    const auto found = blocks.find(block);
    if (found == blocks.end())
      return false;
    blocks.erase(found);
    count = blocks.size();
    return true;
  }

private:
  std::mutex mutex;
  std::multiset<const void *> blocks;
  std::atomic<std::size_t> count{0};
};

Escaped &escaped() {
  static auto &all = *new Escaped; // LibTorch may give blocks back as late as it likes
  return all;
}

thread_local Loan *innermost = nullptr;

} // namespace

Loan::Loan(void *start, std::size_t size)
    : memory(aligned(start)), bytes(behind(start, size)), outer(innermost) {
  if (bytes > 0)
    blocks.emplace(0, Block{bytes, true});
  innermost = this;
}

Loan::~Loan() {
  for (const auto &[offset, block] : blocks)
    if (!block.isFree)
      escaped().add(memory + offset);
  innermost = outer;
}

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
  const auto at = blocks.find(offset);
  if (at == blocks.end() || at->second.isFree)
    return;
  used -= at->second.bytes;
  --count;
  at->second.isFree = true;
  const auto merge = [&](auto first, auto second) {
    first->second.bytes += second->second.bytes;
    blocks.erase(second);
  };
  if (const auto next = std::next(at); next != blocks.end() && next->second.isFree)
    merge(at, next);
  if (at != blocks.begin())
    if (const auto previous = std::prev(at); previous->second.isFree)
      merge(previous, at);
}

/// Serves a thread from its loan, and as LibTorch does where it has none. A block's ticket is its
/// address: oneDNN takes and gives back plain pointers.
class LoanAllocator final : public c10::Allocator {
public:
  explicit LoanAllocator(c10::Allocator &usual) { others() = &usual; }

  c10::DataPtr allocate(std::size_t bytes) override {
    void *block = nullptr;
    if (bytes > 0)
      block = innermost ? innermost->take(bytes) : others()->raw_allocate(bytes);
    return {block, block, &giveBack, c10::DeviceType::CPU};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &giveBack; }
  void copy_data(void *to, const void *from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

private:
  static c10::Allocator *&others() {
    static c10::Allocator *usual = nullptr;
    return usual;
  }

  static void giveBack(void *block) {
    if (!block || escaped().remove(block))
      return;
    const auto *at = static_cast<std::byte *>(block);
    for (Loan *loan = innermost; loan; loan = loan->outer)
      if (at >= loan->memory && at < loan->memory + loan->bytes)
        return loan->giveBack(std::size_t(at - loan->memory));
    others()->raw_deallocate(block);
  }
};

void lendToLibTorch() {
  static std::once_flag once;
  std::call_once(once, [] {
    // LibTorch's for good: it may free tensors as late as it likes.
    c10::SetCPUAllocator(new LoanAllocator(*c10::GetCPUAllocator()), /*priority=*/100);
  });
}

} // namespace vime
