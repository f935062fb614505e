#include "runtime/Transport/Interfaces.h"

#include <array>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>

namespace vime {
namespace {

std::string textOf(const sockaddr &address) {
  const socklen_t size = address.sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  std::array<char, NI_MAXHOST> text{};
  getnameinfo(&address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return text.data();
}

} // namespace

StatusOr<std::string> addressOfInterface(const std::string &name) {
  ifaddrs *list = nullptr;
  if (getifaddrs(&list) != 0)
    return Status(StatusCode::Unacceptable, "cannot list the network interfaces");
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  std::set<std::string> names;
  for (const int family : {AF_INET, AF_INET6})
    for (const ifaddrs *entry = list; entry; entry = entry->ifa_next)
      if (entry->ifa_addr && entry->ifa_addr->sa_family == family) {
        if (name == entry->ifa_name)
          return textOf(*entry->ifa_addr);
        names.insert(entry->ifa_name);
      }
  return Status(StatusCode::Usage,
                fmt::format("no network interface `{}` with an address is here, there are: {}",
                            name, fmt::join(names, ", ")));
}

} // namespace vime
