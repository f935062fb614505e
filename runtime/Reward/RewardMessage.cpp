#include "runtime/Reward/RewardMessage.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/Base/Utf8.h"
#include "runtime/Plan/RolloutRecords.h"

namespace vime {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostQuoted = 200;

} // namespace

std::string nameOf(const RewardRequest &request) {
  const bool isEvaluation = request.draw >= plan::kFirstEvaluationDraw;
  return fmt::format("sample {} of draw {}{}", request.sample,
                     request.draw - (isEvaluation ? plan::kFirstEvaluationDraw : 0),
                     isEvaluation ? " of an evaluation" : "");
}

std::string describeRequest(std::uint64_t id, const RewardRequest &request) {
  const auto text = [](bool isThere, std::string_view bytes) {
    return isThere ? Json(withReplacements(bytes)) : Json();
  };
  const Json json{{"id", id},
                  {"prompt", text(request.isText, request.prompt)},
                  {"response", text(request.isText, request.response)},
                  {"prompt_ids", request.promptTokens},
                  {"response_ids", request.responseTokens},
                  {"answer", text(!request.answer.empty(), request.answer)}};
  std::string line = json.dump();
  line.pop_back(); // its brace
  return line + ",\"metadata\":" +
         (request.metadata.empty() ? "null" : withReplacements(request.metadata)) + "}";
}

StatusOr<RewardReply> parseReply(std::string_view text) {
  const auto refuse = [&](const char *what) {
    return Status(StatusCode::InvalidInput, fmt::format("answered {}, {}", shortened(text), what));
  };
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() && (text.find("NaN") != text.npos || text.find("Infinity") != text.npos))
    return refuse("whose score is not finite: JSON has no NaN and no Infinity");
  if (!json.is_object())
    return refuse("which is no JSON object");
  const auto id = json.find("id"), score = json.find("score");
  if (id == json.end() || !id->is_number_unsigned())
    return refuse("which has no `id`");
  if (score == json.end() || !score->is_number() || !std::isfinite(score->get<double>()))
    return refuse("which has no `score` that is a finite number");
  return RewardReply{id->get<std::uint64_t>(), score->get<double>()};
}

std::string shortened(std::string_view text) {
  std::string shown = withReplacements(text.substr(0, kMostQuoted));
  for (char &byte : shown)
    if (static_cast<unsigned char>(byte) < ' ' || byte == 0x7F)
      byte = ' ';
  return fmt::format("`{}{}`", shown, text.size() > kMostQuoted ? "…" : "");
}

} // namespace vime
