// TextScanner: the words of a plan's text form, line by line, and where reading failed.
//
//   TextScanner scan(text);
//   while (scan.nextLine())          // lines that say nothing are skipped
//     if (scan.word() == "steps")    // words between blanks; `"texts"` count as one
//       scan.number(run.steps);
//   scan.failure();                  // "12:7: expected a whole number, found `x`"
//
// After the first failure every line ends and every word is empty: callers need not look.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace vime {

class TextScanner {
public:
  explicit TextScanner(std::string_view text) : rest(text) {}

  /// Goes to the next line that has a word. False at the end of the text, and after a failure.
  bool nextLine();
  /// The next line as it is, if it starts with `mark`.
  bool rawLine(std::string_view mark, std::string_view &line);

  /// The next word of the line, "" at its end; what stands before a comment is its end.
  std::string_view word();
  /// The same, and it stays the next one.
  std::string_view peek() const;
  bool atEnd() const { return peek().empty(); }

  /// The next word is this one.
  void expect(std::string_view wanted);
  /// The line has no further word.
  void expectEnd();
  void text(std::string &member);
  void number(double &member);
  template <typename T> void number(T &member) {
    if (!parse(word(), member))
      fail("expected a whole number from " + std::to_string(std::numeric_limits<T>::min()) +
           " to " + std::to_string(std::numeric_limits<T>::max()));
  }
  template <typename T> static bool parse(std::string_view digits, T &number) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
  }

  /// About the last word: `expected …` is completed by what was found.
  void fail(std::string what);
  bool failed() const { return !message.empty(); }
  /// `line:column: what is wrong`, of the first failure.
  const std::string &failure() const { return message; }

private:
  std::string_view rest, line, last;
  std::size_t lineNumber = 0, at = 0,
              start = 0; // `last` starts at `start`, the next is behind `at`
  std::string message;
};

} // namespace vime
