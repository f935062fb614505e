#include "runtime/Reward/Pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

namespace vime {

StatusOr<Pattern> Pattern::make(const std::string &text) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(true);
  auto expression = std::make_shared<const RE2>(text, options);
  if (!expression->ok())
    return Status(StatusCode::InvalidInput,
                  fmt::format("pattern `{}` cannot be read: {}", text, expression->error()));
  return Pattern(std::move(expression));
}

bool Pattern::isIn(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression);
}

bool Pattern::matchesAll(std::string_view text) const {
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *expression);
}

} // namespace vime
