#include <gtest/gtest.h>

#include "compiler/Frontend/FieldTable.h"
#include "compiler/Frontend/Value.h"

namespace vime {
namespace {

// The canonical text of what is read, or the code and the message of why not.
std::string read(std::string_view path, std::string_view text) {
  const FieldSpec &field = *findField(path);
  const auto parsed = parseValue(field, text);
  if (const auto *problem = std::get_if<ValueProblem>(&parsed))
    return std::to_string(number(problem->code)) + ": " + problem->message;
  return printValue(field, std::get<Value>(parsed));
}

std::string helpFor(std::string_view path, std::string_view text) {
  const auto parsed = parseValue(*findField(path), text);
  const auto *problem = std::get_if<ValueProblem>(&parsed);
  return problem ? problem->help : "legal";
}

TEST(Value, WholeNumbersAreDigits) {
  EXPECT_EQ(read("run.seed", "0"), "0");
  EXPECT_EQ(read("run.seed", "9223372036854775807"), "9223372036854775807");
  for (const char *text : {"", " 1", "1 ", "1.0", "1e3", "0x10", "0b1", "0o7", "1_000", "1,000",
                           "+1", "01", "one", "１"})
    EXPECT_EQ(read("run.steps", text).substr(0, 3), "20:") << text;
  EXPECT_EQ(read("run.steps", "-1"), "22: is -1, must be at least 1");
  EXPECT_EQ(read("run.seed", "18446744073709551616").substr(0, 3), "22:") << "beyond 64 bits";
}

TEST(Value, OtherNotationsAreTranslated) {
  EXPECT_EQ(helpFor("run.steps", "1e3"), "write `1000`");
  EXPECT_EQ(helpFor("run.steps", "0x10"), "write `16`");
  EXPECT_EQ(helpFor("run.steps", "1_000"), "write `1000`");
  EXPECT_EQ(helpFor("run.steps", "1,000"), "write `1000`");
  EXPECT_EQ(helpFor("run.steps", "2.0"), "write `2`");
  EXPECT_EQ(helpFor("run.steps", "2.5"), "");
  EXPECT_EQ(helpFor("run.steps", "many"), "");
  EXPECT_EQ(helpFor("optimizer.lr", ".5"), "write `0.5`");
  EXPECT_EQ(helpFor("optimizer.lr", "5."), "write `5.0`");
}

TEST(Value, RealNumbers) {
  EXPECT_EQ(read("optimizer.lr", "3.0e-4"), "0.0003");
  EXPECT_EQ(read("optimizer.lr", "3E-4"), "0.0003");
  EXPECT_EQ(read("optimizer.lr", "1"), "1");
  EXPECT_EQ(read("optimizer.lr", "-0.0"), "0");
  for (const char *text :
       {"", ".5", "5.", "1e", "nan", ".inf", "inf", "0x1p3", "1e999", "1 000", "3e-4x"})
    EXPECT_EQ(read("optimizer.lr", text).substr(0, 3), "20:") << text;
  EXPECT_EQ(read("models.m.norm_epsilon", "0"), "22: is 0, must be more than 0");
}

TEST(Value, CountsHaveTheirNoun) {
  EXPECT_EQ(read("pipeline.microbatch", "4 samples"), "4 samples");
  EXPECT_EQ(read("pipeline.microbatch", "4samples"), "4 samples");
  EXPECT_EQ(read("pipeline.microbatch", "1 sample"), "1 sample");
  EXPECT_EQ(read("data.sequence", "8192 tokens"), "8192 tokens");
  EXPECT_EQ(read("data.sequence", "8192"), "21: lacks its unit");
  EXPECT_EQ(read("data.sequence", "8192 bytes"), "21: is counted in tokens, not in `bytes`");
  EXPECT_EQ(read("data.sequence", "1e3 tokens"), "20: is no whole number: `1e3 tokens`");
  EXPECT_EQ(read("data.sequence", "tokens"), "20: is no whole number: `tokens`");
}

TEST(Value, AmountsHaveOneOfTwoNouns) {
  EXPECT_EQ(read("pipeline.microbatch", "512 tokens"), "512 tokens");
  EXPECT_EQ(read("pipeline.microbatch", "1token"), "1 token");
  EXPECT_EQ(read("pipeline.microbatch", "1 sample"), "1 sample");
  EXPECT_EQ(read("pipeline.microbatch", "65536 tokens"), "65536 tokens");
  EXPECT_EQ(read("pipeline.microbatch", "65537 samples"),
            "22: is 65537 samples, must be at most 65536 samples");
  EXPECT_EQ(read("pipeline.microbatch", "0 tokens"), "22: is 0 tokens, must be at least 1 token");
  EXPECT_EQ(read("pipeline.microbatch", "4"), "21: lacks its unit");
  EXPECT_EQ(read("pipeline.microbatch", "4 bytes"),
            "21: is counted in samples or tokens, not in `bytes`");
  EXPECT_EQ(read("pipeline.microbatch", "many tokens"), "20: is no whole number: `many tokens`");
}

// As Megatron reads them: groups repeated, commas and spaces for the eye.
TEST(Value, LayoutsAreListsOrMegatronsText) {
  EXPECT_EQ(read("pipeline.layout", "[3, 2, 2, 1]"), "[3, 2, 2, 1]");
  EXPECT_EQ(read("pipeline.layout", "Et*3|(tt|)*2tL"), "[3, 2, 2, 1]");
  EXPECT_EQ(read("pipeline.layout", "Et|(t*3|)*2,t|tL"), "[1, 3, 3, 1, 1]");
  EXPECT_EQ(read("pipeline.layout", "Et|((t|t t|)*2 t|)*2 tL"),
            "[1, 1, 2, 1, 2, 1, 1, 2, 1, 2, 1, 1]");
  EXPECT_EQ(read("pipeline.layout", "EtL"), "[1]");
}

TEST(Value, LayoutsSayWhatIsWrongWithThem) {
  const std::string ends =
      "20: must begin with `E`, the embedding, and end with `L`, the head, once each";
  EXPECT_EQ(read("pipeline.layout", "t|t"), ends);
  EXPECT_EQ(read("pipeline.layout", "Et|EtL"), ends);
  EXPECT_EQ(read("pipeline.layout", "Et|tL|"), ends);
  EXPECT_EQ(read("pipeline.layout", "E|t*3|tL"), "20: has no layer in stage 0");
  EXPECT_EQ(read("pipeline.layout", "Et|t|L"), "20: has no layer in stage 2");
  EXPECT_EQ(read("pipeline.layout", "Et|(t|L"), "20: opens a group that it never closes");
  EXPECT_EQ(read("pipeline.layout", "Et|t)|L"), "20: closes a group that it never opened");
  EXPECT_EQ(read("pipeline.layout", "Et*|tL"), "20: repeats a part by no number");
  EXPECT_EQ(read("pipeline.layout", "Et*0|tL"), "20: repeats a part by no number");
  EXPECT_EQ(read("pipeline.layout", "Etx|tL"), "20: has a part that is none: `x`");
  EXPECT_EQ(read("pipeline.layout", "Et|tmL"),
            "16: asks for something vime cannot do yet: layers that predict several tokens, `m`");
  EXPECT_EQ(read("pipeline.layout", "E(((((t*99)*99)*99)*99)*99)*99L"),
            "20: is of more parts than a model has");
  EXPECT_EQ(read("pipeline.layout", "E((((((((((t))))))))))L"),
            "20: has groups in groups, too deep");
}

TEST(Value, SizesAreBinary) {
  EXPECT_EQ(read("cluster.memory", "80GiB"), "80GiB");
  EXPECT_EQ(read("cluster.memory", "80 GiB"), "80GiB");
  EXPECT_EQ(read("cluster.memory", "2048MiB"), "2GiB");
  EXPECT_EQ(read("cluster.memory", "1000B"), "1000B");
  EXPECT_EQ(read("cluster.memory", "80"), "21: lacks its unit");
  EXPECT_EQ(read("cluster.memory", "80GB"), "21: has an unknown unit: `GB`");
  EXPECT_EQ(read("cluster.memory", "GiB"), "20: is no size: `GiB`");
  EXPECT_EQ(read("cluster.memory", "1.5GiB"), "20: is no whole number: `1.5`");
  EXPECT_EQ(helpFor("cluster.memory", "1.5GiB"), "use a smaller unit: `1536MiB`");
  EXPECT_EQ(read("cluster.memory", "0B"), "22: is 0B, must be at least 1B");
  EXPECT_EQ(read("cluster.memory", "99999999999TiB").substr(0, 3), "22:") << "beyond 64 bits";
}

TEST(Value, DurationsKeepTheirBits) {
  EXPECT_EQ(read("limits.transfer", "600s"), "600s");
  EXPECT_EQ(read("limits.transfer", "10 min"), "600s");
  EXPECT_EQ(read("limits.transfer", "3 ms"), "3 ms");
  EXPECT_EQ(read("limits.transfer", "0.003s"), "3 ms");
  EXPECT_EQ(read("limits.transfer", "1.5h"), "5400s");
  EXPECT_EQ(read("models.m.forward", "0s"), "0 ns");
  EXPECT_EQ(read("limits.transfer", "600"), "21: lacks its unit");
  EXPECT_EQ(read("limits.transfer", "600 sec"), "21: has an unknown unit: `sec`");
  EXPECT_EQ(read("limits.transfer", "soon"), "20: is no duration: `soon`");
  EXPECT_EQ(read("limits.transfer", "0s"), "22: is 0s, must be more than 0 ns");
}

TEST(Value, WhatIsPrintedIsReadBackToTheBit) {
  const FieldSpec &field = *findField("limits.transfer");
  double seconds = 1.0 / 3;
  for (int round = 0; round < 200;
       ++round, seconds = seconds * 1.37 > 80000 ? seconds * 1e-13 : seconds * 1.37) {
    const auto again = parseValue(field, printValue(field, seconds));
    ASSERT_TRUE(std::holds_alternative<Value>(again)) << printValue(field, seconds);
    EXPECT_EQ(std::get<double>(std::get<Value>(again)), seconds) << printValue(field, seconds);
  }
}

TEST(Value, RanksAndPairs) {
  EXPECT_EQ(read("roles.actor.ranks", "0-3"), "0-3");
  EXPECT_EQ(read("roles.actor.ranks", "0"), "0");
  EXPECT_EQ(read("roles.actor.ranks", "2-2"), "2");
  EXPECT_EQ(read("roles.actor.ranks", "3-0"), "22: is an empty range: `3-0`");
  EXPECT_EQ(read("roles.actor.ranks", "0-1048576").substr(0, 3), "22:");
  EXPECT_EQ(read("roles.actor.ranks", "0-4294967296").substr(0, 3), "22:");
  for (const char *text : {"-", "0-", "-3", "0..3", "0,1", "all", "0-3-4", "0 - 3"})
    EXPECT_EQ(read("roles.actor.ranks", text).substr(0, 3), "20:") << text;
  EXPECT_EQ(read("optimizer.betas", "[0.9, 0.95]"), "[0.9, 0.95]");
  EXPECT_EQ(read("optimizer.betas", "[0.9, 1]"), "22: is 1, must be less than 1");
  for (const char *text :
       {"[]", "[0.9]", "[0.9, 0.9, 0.9]", "[,]", "0.9, 0.9", "[0.9, x]", "[[0.9, 0.9]]"})
    EXPECT_EQ(read("optimizer.betas", text).substr(0, 3), "20:") << text;
}

TEST(Value, LongTextsOfAUserAreCutInMessages) {
  EXPECT_LT(read("run.steps", std::string(100'000, 'x')).size(), 120u);
}

} // namespace
} // namespace vime
