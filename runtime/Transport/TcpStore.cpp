#include "runtime/Transport/TcpStore.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runtime/Transport/TcpStoreProtocol.h"

namespace vime {
namespace {

/// A store answers at once, unless it is asked to wait.
constexpr std::chrono::seconds kAnswerLimit{20};
/// Ranks tell each other what went wrong behind the deadline too.
constexpr std::chrono::seconds kLastWords{4};

std::string nameOf(const StoreAddress &address) {
  return fmt::format("the store{} at {}:{}", address.isOfRankZero ? " of rank 0" : "", address.host,
                     address.port);
}

Status broken(const std::string &what) { return Status(StatusCode::Unacceptable, what); }

} // namespace

/// The bytes of one query.
class TcpStore::Request {
public:
  explicit Request(store::Query query) { number(query); }
  template <typename Number> Request &number(Number value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
    return *this;
  }
  Request &text(std::string_view value) {
    number(std::uint64_t(value.size()));
    bytes.append(value);
    return *this;
  }
  std::string bytes;
};

TcpStore::TcpStore(TcpConnection connection, const StoreAddress &address, std::string prefix,
                   Deadline last)
    : connection(std::move(connection)), name(nameOf(address)), prefix(std::move(prefix)),
      last(last) {}

Deadline TcpStore::soon() const {
  return std::min(last, std::chrono::steady_clock::now() + kAnswerLimit);
}

StatusOr<TcpStore> TcpStore::connect(const StoreAddress &address, std::string prefix,
                                     Deadline deadline) {
  StatusOr<TcpConnection> connection = TcpConnection::open(address.host, address.port, deadline);
  if (!connection.ok())
    return Status(connection.status().code(),
                  fmt::format("{}: {}", nameOf(address), connection.status().message()));
  TcpStore store(std::move(*connection), address, std::move(prefix), deadline + kLastWords);
  if (Status status = store.ask(Request(store::Query::Validate).number(store::kMagic));
      !status.ok())
    return status;
  // The first answer: is it a store at all, and one that still serves?
  const std::uint32_t token = 0x76696D65;
  std::uint32_t echo = 0;
  if (Status status = store.ask(Request(store::Query::Ping).number(token)); !status.ok())
    return status;
  if (Status status = store.answer(&echo, sizeof echo, std::min(deadline, store.soon()));
      !status.ok())
    return status;
  if (echo != token)
    return store.named(broken("does not speak the protocol of a TCPStore"));
  return store;
}

Status TcpStore::set(const std::string &key, std::string_view value) {
  return ask(Request(store::Query::Set).text(prefix + key).text(value));
}

StatusOr<std::string> TcpStore::get(const std::string &key, Deadline deadline) {
  if (Status status = wait({&key, 1}, deadline); !status.ok())
    return status;
  if (Status status = ask(Request(store::Query::Get).text(prefix + key)); !status.ok())
    return status;
  std::uint64_t size = 0;
  if (Status status = answer(&size, sizeof size, soon()); !status.ok())
    return status;
  if (size > store::kMaxValueBytes)
    return named(broken(fmt::format("answers with a value of {} bytes", size)));
  std::string value(size, '\0');
  if (Status status = answer(value.data(), value.size(), soon()); !status.ok())
    return status;
  return value;
}

Status TcpStore::wait(std::span<const std::string> keys, Deadline deadline) {
  Request request(store::Query::Wait);
  request.number(std::uint64_t(keys.size()));
  for (const std::string &key : keys)
    request.text(prefix + key);
  if (Status status = ask(request); !status.ok())
    return status;
  auto reply = store::WaitAnswer::Cancelled;
  if (Status status = answer(&reply, sizeof reply, deadline); !status.ok()) {
    if (status.code() == StatusCode::Hang)
      if (Status cancelled = cancelWait(); !cancelled.ok())
        return cancelled;
    return status;
  }
  return reply == store::WaitAnswer::AllThere ? Status()
                                              : named(broken("cancels what nobody cancelled"));
}

/// The store may have answered in the meantime: then that comes first.
Status TcpStore::cancelWait() {
  if (Status status = ask(Request(store::Query::CancelWait)); !status.ok())
    return status;
  for (int turn = 0; turn < 2; ++turn) {
    auto reply = store::WaitAnswer::AllThere;
    if (Status status = answer(&reply, sizeof reply, soon()); !status.ok())
      return status;
    if (reply == store::WaitAnswer::Cancelled)
      return Status();
  }
  return named(broken("does not cancel a wait"));
}

StatusOr<bool> TcpStore::has(const std::string &key) {
  if (Status status = ask(Request(store::Query::Check).number(std::uint64_t(1)).text(prefix + key));
      !status.ok())
    return status;
  auto reply = store::Presence::NotAll;
  if (Status status = answer(&reply, sizeof reply, soon()); !status.ok())
    return status;
  return reply == store::Presence::All;
}

StatusOr<std::int64_t> TcpStore::add(const std::string &key, std::int64_t amount) {
  if (Status status = ask(Request(store::Query::Add).text(prefix + key).number(amount));
      !status.ok())
    return status;
  std::int64_t sum = 0;
  if (Status status = answer(&sum, sizeof sum, soon()); !status.ok())
    return status;
  return sum;
}

Status TcpStore::ask(const Request &request) {
  return named(connection.send(request.bytes, soon()));
}

Status TcpStore::answer(void *bytes, std::size_t count, Deadline deadline) {
  return named(connection.receive(bytes, count, deadline));
}

Status TcpStore::named(Status status) const {
  return status.ok() ? status
                     : Status(status.code(), fmt::format("{}: {}", name, status.message()));
}

} // namespace vime
