// The protocol of PyTorch's TCPStore, as far as vime speaks it: between TcpStore.cpp, the client,
// and TcpStoreServer.cpp, and what torchrun hosts.
//
// A client sends queries: one byte, then numbers in the byte order of the machine, and texts as a
// 64-bit length with their bytes. The first is `Validate` with the magic number; it and `Set` have
// no answer.
#pragma once

#include <cstdint>

namespace vime::store {

enum class Query : std::uint8_t {
  Validate = 0,    // u32 magic number
  Set = 1,         // key, value
  Get = 3,         // key → value; the key must be there
  Add = 4,         // key, i64 → i64 sum; kept as decimal text
  Check = 5,       // u64 count, keys → Presence
  Wait = 6,        // u64 count, keys → WaitAnswer once all are there
  CancelWait = 12, // → WaitAnswer
  Ping = 13        // u32 → the same u32
};

enum class Presence : std::uint8_t { All = 0, NotAll = 1 };
enum class WaitAnswer : std::uint8_t { AllThere = 0, Cancelled = 1 };

constexpr std::uint32_t kMagic = 0x3C85F7CE;

// What a peer may send: beyond, it is broken or hostile.
constexpr std::uint64_t kMaxKeyBytes = 8 << 10;
constexpr std::uint64_t kMaxValueBytes = 8 << 20;
constexpr std::uint64_t kMaxKeys = 128 << 10;

} // namespace vime::store
