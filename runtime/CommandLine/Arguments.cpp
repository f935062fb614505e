#include "runtime/CommandLine/Arguments.h"

#include <algorithm>
#include <charconv>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/Base/Nearest.h"

namespace vime {
namespace {

// A validator of CLI11 returns what is wrong. Behind the line end: help.
std::string wordProblem(const std::vector<std::string> &words, const std::string &given) {
  if (std::find(words.begin(), words.end(), given) != words.end())
    return {};
  const std::vector<std::string_view> views(words.begin(), words.end());
  const auto near = nearest(given, views);
  return fmt::format("cannot be `{}`\n{}one of `{}`", given,
                     near ? fmt::format("did you mean `{}`? ", *near) : "",
                     fmt::join(words, "`, `"));
}

std::string countProblem(const std::string &given) {
  int number = 0;
  const char *end = given.data() + given.size();
  const auto [stop, error] = std::from_chars(given.data(), end, number);
  return error == std::errc() && stop == end
             ? std::string()
             : fmt::format("takes a whole number, not `{}`\n", given);
}

} // namespace

CLI::Option *takesWord(CLI::Option *option, const std::vector<std::string> &words) {
  return option->type_name(fmt::format("{}", fmt::join(words, "|")))
      ->check([words](const std::string &given) { return wordProblem(words, given); });
}

CLI::Option *takesCount(CLI::Option *option) { return option->type_name("N")->check(countProblem); }

CLI::Option *takesName(CLI::Option *option, std::string type) {
  return option->type_name(type)->check([type](const std::string &given) {
    return given.empty() ? fmt::format("takes {}, and is empty\n", type) : std::string();
  });
}

std::vector<std::string> wordsOf(const CLI::Option &option) {
  const std::string type = option.get_type_name();
  if (type.empty() || std::any_of(type.begin(), type.end(), ::isupper))
    return {};
  return CLI::detail::split(type, '|');
}

std::string namesOf(const CLI::Option &option) {
  return option.get_positional() ? option.get_name(true) : option.get_name(false, true);
}

std::string valueOf(const CLI::Option &option) {
  return option.get_items_expected_max() == 0 ? std::string() : option.get_type_name();
}

} // namespace vime
