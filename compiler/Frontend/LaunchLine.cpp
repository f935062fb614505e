#include "compiler/Frontend/LaunchLine.h"

#include <algorithm>
#include <map>

namespace vime {
namespace {

struct Word {
  std::string text;
  int line = 1;
  bool ends = false; // of a command or an array: nothing behind it belongs to what is before
};

bool isNameLetter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_';
}

class Words {
public:
  explicit Words(std::string_view text) : rest(text) {}

  std::vector<Word> split() {
    while (!rest.empty())
      step();
    finish();
    return std::move(words);
  }

private:
  void step() {
    const char letter = rest.front();
    if (letter == '\\')
      return escape();
    if (letter == '\'' || letter == '"')
      return quote(letter);
    if (letter == '#' && !open)
      return comment();
    if (letter == '$')
      return variable();
    if (letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n')
      finish();
    else if (letter == '(' || letter == ')' || letter == ';' || letter == '&' || letter == '|')
      separate();
    else
      add(letter);
    take();
  }

  void escape() {
    take();
    if (rest.starts_with("\r\n"))
      take();
    if (rest.starts_with('\n'))
      finish();
    else if (!rest.empty())
      add(rest.front());
    take();
  }

  void quote(char mark) {
    open = true;
    for (take(); !rest.empty() && rest.front() != mark;) {
      if (mark == '"' && rest.front() == '$') {
        variable();
        continue;
      }
      if (mark == '"' && rest.starts_with('\\'))
        take();
      if (!rest.empty())
        add(rest.front());
      take();
    }
    take();
  }

  void comment() {
    while (!rest.empty() && rest.front() != '\n')
      take();
  }

  /// `${NAME}` and `$NAME`; what else begins with `$` stays as it is.
  void variable() {
    const bool isBraced = rest.starts_with("${");
    std::string name;
    for (const char letter : rest.substr(isBraced ? 2 : 1)) {
      if (!isNameLetter(letter))
        break;
      name += letter;
    }
    const std::size_t size = name.size() + (isBraced ? 3 : 1);
    const auto known = variables.find(name);
    if (known == variables.end() || (isBraced && rest.substr(size - 1, 1) != "}")) {
      add('$');
      return take();
    }
    for (const char letter : known->second)
      add(letter);
    for (std::size_t count = 0; count < size; ++count)
      take();
  }

  void add(char letter) {
    if (!open && word.text.empty())
      word.line = line;
    open = true;
    word.text += letter;
  }

  void take() {
    if (rest.empty())
      return;
    line += rest.front() == '\n' ? 1 : 0;
    rest.remove_prefix(1);
  }

  void finish() {
    if (open)
      learn();
    if (open)
      words.push_back(std::move(word));
    word = {};
    open = false;
  }

  void separate() {
    finish();
    words.push_back({.line = line, .ends = true});
  }

  /// `NAME=value`.
  void learn() {
    const std::size_t equals = word.text.find('=');
    const auto name = word.text.substr(0, equals);
    if (equals != word.text.npos && equals > 0 && std::ranges::all_of(name, isNameLetter))
      variables[name] = word.text.substr(equals + 1);
  }

  std::string_view rest;
  int line = 1;
  bool open = false; // a word has begun, though it may be empty
  Word word;
  std::vector<Word> words;
  std::map<std::string, std::string> variables;
};

bool isFlag(std::string_view word) {
  return word.size() > 2 && word.starts_with("--") && isNameLetter(word[2]);
}

} // namespace

const LaunchFlag *LaunchLine::find(std::string_view name) const {
  const auto found = std::find_if(flags.rbegin(), flags.rend(),
                                  [&](const LaunchFlag &flag) { return flag.name == name; });
  return found == flags.rend() ? nullptr : &*found;
}

bool isLaunch(std::string_view text) {
  return std::ranges::any_of(Words(text).split(),
                             [](const Word &word) { return isFlag(word.text); });
}

LaunchLine readLaunch(std::string_view text) {
  LaunchLine launch;
  bool takesValues = false;
  for (const Word &word : Words(text).split()) {
    if (word.ends || word.text == "--") { // what is launched stands behind it
      takesValues = false;
    } else if (isFlag(word.text)) {
      const std::size_t equals = std::min(word.text.find('='), word.text.size());
      LaunchFlag flag{.name = word.text.substr(2, equals - 2), .line = word.line};
      std::ranges::replace(flag.name, '_', '-');
      takesValues = equals == word.text.size();
      if (!takesValues)
        flag.values.push_back(word.text.substr(equals + 1));
      launch.flags.push_back(std::move(flag));
    } else if (word.text.find("[@]") != word.text.npos) {
      takesValues = false; // an array, whose flags stand where it is made
    } else if (takesValues) {
      launch.flags.back().values.push_back(word.text);
    } else if (word.text.ends_with(".py")) {
      launch.programs.push_back(word.text);
    }
  }
  return launch;
}

} // namespace vime
