// ColumnReader: fills the members of a record from the columns of a line (PlanColumns.h). Included
// by PlanTextReader.cpp.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "compiler/View/TextScanner.h"
#include "runtime/Base/Nearest.h"
#include "runtime/Plan/Names.h"
#include "runtime/Plan/PlanFile.h"

namespace vime {

class ColumnReader {
public:
  explicit ColumnReader(TextScanner &scan) : scan(scan) {}

  void operator()(std::string_view name, auto &member) {
    scan.expect(name);
    value(member);
  }
  void optional(std::string_view name, auto &member, bool) {
    if (finds(name, false))
      (*this)(name, member);
  }
  bool finds(std::string_view name, bool) const { return scan.peek() == name; }
  void flag(std::string_view name, bool &isSet) {
    isSet = finds(name, false);
    if (isSet)
      scan.word();
  }
  void word(std::string_view word) { scan.expect(word); }

  void bits(std::string_view name, std::uint8_t &bits, std::string_view (*nameOfBit)(std::size_t),
            bool) {
    if (!finds(name, false))
      return;
    scan.word();
    bits = 0;
    std::string_view rest = scan.word();
    if (rest == "-")
      return;
    if (rest.empty())
      return scan.fail("expected words between commas, or `-`");
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      bits |= bitOf(rest.substr(0, comma), nameOfBit);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  void opcode(std::uint16_t &opcode) {
    const std::string_view name = scan.word();
    if (const plan::Signature *signature = plan::findSignature(name)) {
      opcode = plan::code(signature->opcode);
      return;
    }
    std::vector<std::string_view> names;
    for (const plan::Signature &signature : plan::signatures())
      names.push_back(signature.name);
    const auto near = nearest(name, names);
    scan.fail("expected the name of an action" +
              (near ? " such as `" + std::string(*near) + '`' : std::string()));
  }

  void value(bool &isSet) {
    const std::string_view digit = scan.word();
    isSet = digit == "1";
    if (digit != "0" && digit != "1")
      scan.fail("expected 0 or 1");
  }
  void value(std::string &words) { scan.text(words); }
  void value(std::vector<std::uint32_t> &numbers) {
    numbers.clear();
    std::string_view rest = scan.word();
    do {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (!TextScanner::parse(rest.substr(0, comma), numbers.emplace_back()))
        return scan.fail("expected whole numbers between commas");
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    } while (!rest.empty());
  }
  void value(plan::Hash128 &hash) {
    const std::string_view digits = scan.word();
    const auto half = [&](std::size_t from, std::uint64_t &number) {
      const char *begin = digits.data() + from;
      return std::from_chars(begin, begin + 16, number, 16).ptr == begin + 16;
    };
    if (digits.size() != 32 || !half(0, hash[1]) || !half(16, hash[0]) ||
        plan::toHex(hash) != digits)
      scan.fail("expected 32 hexadecimal digits");
  }
  void value(plan::Peer &peer) {
    const std::string_view word = scan.word();
    const std::size_t sign = std::min(word.find_first_of("+-="), word.size());
    const auto axis = enumeratorIn<plan::Axis>(word.substr(0, sign));
    // `pp-1` keeps its sign, `pp+1` and `pp=1` do not.
    const std::size_t digits = sign < word.size() && word[sign] == '-' ? sign : sign + 1;
    if (!axis || digits >= word.size() || !TextScanner::parse(word.substr(digits), peer.value))
      return scan.fail("expected a peer such as `pp+1` or `pp=0`");
    peer.axis = *axis;
    peer.relative = word[sign] != '=';
  }
  template <typename T> void value(T &member) {
    if constexpr (std::is_enum_v<T>)
      enumerator(member);
    else
      scan.number(member);
  }

private:
  std::uint8_t bitOf(std::string_view word, std::string_view (*nameOfBit)(std::size_t)) {
    for (std::size_t bit = 0; bit < 8; ++bit)
      if (nameOfBit(bit) == word && word != "?")
        return static_cast<std::uint8_t>(1u << bit);
    scan.fail("`" + std::string(word) + "` is no word of this list");
    return 0;
  }
  /// `forward`, or `?9` for a value without a name.
  template <typename Enum> static std::optional<Enum> enumeratorIn(std::string_view word) {
    std::uint8_t number = 0;
    if (word.starts_with('?') && TextScanner::parse(word.substr(1), number))
      return static_cast<Enum>(number);
    return plan::enumeratorOf<Enum>(word);
  }
  template <typename Enum> void enumerator(Enum &member) {
    if (const auto found = enumeratorIn<Enum>(scan.word()))
      return void(member = *found);
    std::string names;
    for (const std::string_view name : plan::namesOf<Enum>())
      names += (names.empty() ? "`" : ", `") + std::string(name) + "`";
    scan.fail("expected one of " + names);
  }

  TextScanner &scan;
};

} // namespace vime
