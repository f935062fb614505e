#include "runtime/Tools/TransportOption.h"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace vime {

std::optional<QueueMerging> parseRendezvous(const std::string &transport) {
  constexpr std::string_view kName = "rendezvous";
  if (transport == kName)
    return QueueMerging{};
  if (!transport.starts_with(std::string(kName) + ":"))
    return std::nullopt;
  const std::string_view merging = std::string_view(transport).substr(kName.size() + 1);
  if (merging == "merged")
    return QueueMerging{.kind = QueueMerging::Kind::All};
  QueueMerging random{.kind = QueueMerging::Kind::Random};
  const char *const end = merging.data() + merging.size();
  const auto [last, error] = std::from_chars(merging.data(), end, random.seed);
  return error == std::errc() && last == end ? std::optional(random) : std::nullopt;
}

std::string objectionToTransport(const std::string &name) {
  if (name == "local" || name == "gloo" || parseRendezvous(name))
    return "";
  return fmt::format("cannot be `{}`\n`local`, `gloo`, `rendezvous`, `rendezvous:merged` or "
                     "`rendezvous:SEED`",
                     name);
}

} // namespace vime
