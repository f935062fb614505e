#include "runtime/Data/PromptLine.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/Base/Utf8.h"

namespace vime {
namespace {

using Json = nlohmann::ordered_json;

Status refuse(std::string what) { return {StatusCode::InvalidInput, std::move(what)}; }

// JSON is UTF-8. A byte that is none stands for itself as a character of the private planes while
// the line is parsed: byte b as U+10FF00 + b, which is F4 8F BE xx or F4 8F BF xx.

std::string disguised(unsigned char byte) {
  const int last = byte & 0x3F;
  return {'\xF4', '\x8F', static_cast<char>(0xBC + (byte >> 6)), static_cast<char>(0x80 + last)};
}

/// The line as UTF-8, or nothing where a disguise could be mistaken for what was there before.
std::optional<std::string> disguise(std::string_view line) {
  std::string result;
  for (std::string_view left = line; !left.empty();) {
    const std::size_t length = utf8Length(left);
    result += length == 0 ? disguised(static_cast<unsigned char>(left[0])) : left.substr(0, length);
    left.remove_prefix(std::max<std::size_t>(length, 1));
  }
  std::string lower(line);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char byte) { return byte >= 'A' && byte <= 'Z' ? char(byte + 32) : byte; });
  for (const char *taken : {"\xF4\x8F\xBE", "\xF4\x8F\xBF", "\\udbff"})
    if (lower.find(taken) != lower.npos)
      return std::nullopt;
  return result;
}

std::string revealed(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool hides = text.substr(at, 2) == "\xF4\x8F" && at + 3 < text.size() &&
                       (text[at + 2] == '\xBE' || text[at + 2] == '\xBF');
    if (!hides) {
      result += text[at];
      continue;
    }
    const auto high = static_cast<unsigned char>(text[at + 2]) - 0xBC;
    result += static_cast<char>((high << 6) | (text[at + 3] & 0x3F));
    at += 3;
  }
  return result;
}

/// An object without duplicate keys on its first level, or within its metadata.
StatusOr<Json> parseObject(std::string_view line) {
  std::string twice;
  std::vector<std::set<std::string>> names; // of the objects around, outermost first
  const auto watch = [&](int, Json::parse_event_t event, Json &value) {
    if (event == Json::parse_event_t::object_start)
      names.emplace_back();
    if (event == Json::parse_event_t::object_end)
      names.pop_back();
    if (event == Json::parse_event_t::key && twice.empty() &&
        !names.back().insert(value.get_ref<const std::string &>()).second)
      twice = value.get<std::string>();
    return true;
  };
  Json object = Json::parse(line, watch, /*allow_exceptions=*/false);
  if (object.is_discarded())
    return refuse("no JSON");
  if (!object.is_object())
    return refuse(fmt::format("a JSON {}, expected an object", object.type_name()));
  if (!twice.empty())
    return refuse(fmt::format("two keys are called `{}`", withReplacements(revealed(twice))));
  return object;
}

Status checkKeys(const Json &object) {
  constexpr std::string_view kKeys[] = {"prompt", "prompt_ids", "answer", "label", "metadata"};
  for (const auto &[key, value] : object.items())
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys))
      return refuse(fmt::format("`{}` is no key of a prompt, they are prompt, prompt_ids, answer, "
                                "label and metadata\nhelp: put it into `metadata`",
                                withReplacements(key)));
  for (const auto &[one, other] : {std::pair{"prompt", "prompt_ids"}, {"answer", "label"}})
    if (object.contains(one) && object.contains(other))
      return refuse(fmt::format("both `{}` and `{}`, which say the same", one, other));
  return {};
}

Status takeText(const Json &value, std::uint32_t vocabulary, Prompt &prompt) {
  if (!value.is_string())
    return refuse(fmt::format("`prompt` is a JSON {}, expected a text", value.type_name()));
  if (vocabulary < 256)
    return refuse(fmt::format("`prompt` is a text of bytes, and the model has a vocabulary of {}",
                              vocabulary));
  for (const char byte : revealed(value.get_ref<const std::string &>()))
    prompt.tokens.push_back(static_cast<unsigned char>(byte));
  return {};
}

Status takeIds(const Json &value, std::uint32_t vocabulary, Prompt &prompt) {
  prompt.isText = false;
  if (!value.is_array())
    return refuse(
        fmt::format("`prompt_ids` is a JSON {}, expected a list of numbers", value.type_name()));
  for (const Json &id : value) {
    const bool fits = id.is_number_unsigned() && id.get<std::uint64_t>() < vocabulary;
    if (!fits)
      return refuse(fmt::format("`prompt_ids` has {} at place {}, tokens are 0 to {}",
                                id.is_primitive() ? id.dump() : "no number", prompt.tokens.size(),
                                vocabulary - 1));
    prompt.tokens.push_back(id.get<std::int32_t>());
  }
  return {};
}

Status takeTokens(const Json &object, const PromptLimits &limits, Prompt &prompt) {
  const auto text = object.find("prompt"), ids = object.find("prompt_ids");
  if (text == object.end() && ids == object.end())
    return refuse("neither `prompt` nor `prompt_ids`");
  if (ids != object.end() && limits.needsText)
    return refuse("`prompt_ids` are no text, and rewards by rule read texts\nhelp: give "
                  "`prompt`, or score by `reward.command` or `reward.url`");
  Status taken = text != object.end() ? takeText(*text, limits.vocabulary, prompt)
                                      : takeIds(*ids, limits.vocabulary, prompt);
  if (!taken.ok())
    return taken;
  if (prompt.tokens.empty())
    return refuse("the prompt is empty");
  if (prompt.tokens.size() > limits.tokens)
    return refuse(fmt::format("the prompt has {} tokens, the longest may have {}\nhelp: raise "
                              "`data.max_prompt`, or shorten it: no prompt is ever cut",
                              prompt.tokens.size(), limits.tokens));
  return {};
}

Status takeAnswer(const Json &object, bool isNeeded, Prompt &prompt) {
  for (const char *key : {"answer", "label"})
    if (const auto value = object.find(key); value != object.end()) {
      if (!value->is_string())
        return refuse(fmt::format("`{}` is a JSON {}, expected a text", key, value->type_name()));
      prompt.answer = revealed(value->get_ref<const std::string &>());
    }
  if (isNeeded && prompt.answer.empty())
    return refuse("no `answer`, which the reward compares with");
  return {};
}

} // namespace

StatusOr<Prompt> parsePromptLine(std::string_view line, const PromptLimits &limits) {
  if (line.find_first_not_of(" \t\r") == line.npos)
    return refuse("an empty line");
  const std::optional<std::string> text =
      withReplacements(line) == line ? std::string(line) : disguise(line);
  if (!text)
    return refuse("bytes that are no UTF-8 beside characters behind U+10FF7F");
  const StatusOr<Json> object = parseObject(*text);
  if (!object.ok())
    return object.status();
  Prompt prompt;
  if (Status status = checkKeys(*object); !status.ok())
    return status;
  if (Status status = takeTokens(*object, limits, prompt); !status.ok())
    return status;
  if (Status status = takeAnswer(*object, limits.needsAnswer, prompt); !status.ok())
    return status;
  if (const auto metadata = object->find("metadata"); metadata != object->end()) {
    if (!metadata->is_object())
      return refuse(
          fmt::format("`metadata` is a JSON {}, expected an object", metadata->type_name()));
    prompt.metadata = revealed(metadata->dump());
  }
  return prompt;
}

} // namespace vime
