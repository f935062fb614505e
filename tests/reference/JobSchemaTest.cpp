// The JSON Schema takes every job that the reader takes, and refuses what it can refuse.
#include "compiler/Reference/JobSchema.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/Frontend/ReadJob.h"
#include "compiler/Reference/CodePage.h"
#include "compiler/Reference/FieldPage.h"
#include "tests/reference/SchemaCheck.h"

namespace vime {
namespace {

using nlohmann::json;

const json &schema() {
  static const json parsed = json::parse(jobSchema());
  return parsed;
}

std::string problemOfJob(std::string_view text) {
  Findings findings;
  const auto root = readDocument(text, "job.yaml", findings);
  return root ? problemOf(schema(), jsonOf(*root)) : "no YAML";
}

std::string textOf(const std::filesystem::path &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(JobSchema, TakesTheExamples) {
  int jobs = 0;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(VIME_EXAMPLES))
    if (entry.path().filename() == "job.yaml") {
      EXPECT_EQ(problemOfJob(textOf(entry.path())), "") << entry.path();
      ++jobs;
    }
  EXPECT_GE(jobs, 4);
  EXPECT_EQ(problemOfJob(sampleJob()), "");
  EXPECT_EQ(problemOfJob(sampleRoundsJob()), "");
}

TEST(JobSchema, TakesEveryExampleThatIsRight) {
  for (const JobExample &example : jobExamples())
    if (example.code != JobCode::EmptyFile)
      EXPECT_EQ(problemOfJob(sampleJobWith(example.right, example.ofRounds)), "") << example.right;
}

TEST(JobSchema, RefusesKeysWordsUnitsAndRanges) {
  const auto refuses = [](JobCode code) {
    for (const JobExample &example : jobExamples())
      if (example.code == code)
        EXPECT_NE(problemOfJob(sampleJobWith(example.wrong, example.ofRounds)), "")
            << example.wrong;
  };
  for (const JobCode code :
       {JobCode::NotASection, JobCode::Version, JobCode::UnknownKey, JobCode::MissingKey,
        JobCode::LaterKey, JobCode::LaterValue, JobCode::WrongType, JobCode::Unit, JobCode::Range,
        JobCode::UnknownWord, JobCode::Name})
    refuses(code);
}

TEST(JobSchema, HasEveryField) {
  for (const FieldSpec &field : fieldTable()) {
    const json *node = &schema();
    for (std::string_view rest = field.path; !rest.empty() && node;) {
      const std::size_t dot = std::min(rest.find('.'), rest.size());
      const std::string key(rest.substr(0, dot));
      const json &inside = key == "*" ? *node : node->value("properties", json::object());
      const std::string name = key == "*" ? "additionalProperties" : key;
      node = inside.contains(name) ? (key == "*" ? &(*node)[name] : &(*node)["properties"][name])
                                   : nullptr;
      rest.remove_prefix(std::min(dot + 1, rest.size()));
    }
    EXPECT_EQ(node != nullptr, !field.isLater()) << field.path;
  }
}

// What an editor fills in is legal.
void expectLegalExamples(const json &schema, const std::string &path) {
  for (const char *keyword : {"examples", "default"})
    if (schema.contains(keyword))
      for (const json &value : schema[keyword].is_array() && keyword[0] == 'e'
                                   ? schema[keyword]
                                   : json::array({schema[keyword]}))
        EXPECT_EQ(problemOf(schema, value, path), "") << value;
  const json properties = schema.value("properties", json::object());
  for (const auto &[key, inner] : properties.items())
    expectLegalExamples(inner, path + '.' + key);
  if (const json rest = schema.value("additionalProperties", json(false)); rest.is_object())
    expectLegalExamples(rest, path + ".NAME");
}

TEST(JobSchema, ExamplesAndDefaultsAreLegal) { expectLegalExamples(schema(), "job"); }

TEST(JobReference, IsInTheDocument) {
  const std::string page = textOf(VIME_DOCS "/job.md");
  const std::string begin = "<!-- vimec schema --format=markdown -->\n";
  const std::size_t at = page.find(begin);
  ASSERT_NE(at, page.npos);
  const std::string table = page.substr(at + begin.size(), jobReference().size());
  EXPECT_EQ(table, jobReference())
      << "compiler/docs/job.md: put the output of `vimec schema --format=markdown` behind the mark";
}

TEST(JobReference, AManualPage) {
  const std::string page = jobManPage("1.2");
  EXPECT_TRUE(page.starts_with(".TH VIME\\-JOB 5 \"\" \"vime 1.2\" \"File Formats\"\n"));
  EXPECT_NE(page.find(".TP\n\\fBrun.steps\\fR\nnumber of optimizer updates.\n.br\nTakes a whole "
                      "number, 1 to "),
            page.npos);
}

} // namespace
} // namespace vime
