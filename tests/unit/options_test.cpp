#include "entrain/options.hpp"
#include "support/facts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace entrain {
namespace options_test {

enum class Loops { Delay, Solve };

}  // namespace options_test

template <>
struct ChoiceNames<options_test::Loops> {
  using Loops = options_test::Loops;
  static constexpr std::array<ChoiceName<Loops>, 2> all{{{Loops::Delay, "delay"}, {Loops::Solve, "solve"}}};
};

namespace options_test {

/// One option of every kind.
struct Sample final : HasOptions {
  double relative_tolerance = 1e-6;
  double gain = 0.5;
  int degree = 0;
  bool smooth = false;
  Loops loops = Loops::Delay;
  std::vector<std::string> sequence;
  std::map<std::string, double> gains;

  void bind(OptionBinder& binder) override {
    binder.number("relative_tolerance", relative_tolerance, "relative error allowed",
                  {0.0, std::numeric_limits<double>::infinity()});
    binder.number("gain", gain, "any number", {});
    binder.integer("degree", degree, "of the input polynomials", {0, 3});
    binder.boolean("smooth", smooth, "keep the slope");
    binder.choice("loops", loops, "algebraic loops at communication times");
    binder.names("sequence", sequence, "order of the subsystems");
    binder.numbers("gains", gains, "per input", {0.0, 1.0});
  }
};

WrittenOptions at_line_7(const std::string& name, OptionValue value) {
  return {{name, {std::move(value), {"system.toml", 7, 1}}}};
}

/// The messages that reading the options gives, one per problem.
std::vector<std::string> messages(Sample& target, const WrittenOptions& written) {
  std::vector<Problem> problems;
  read_options(target, written, "method.jacobi", problems);
  std::vector<std::string> texts;
  texts.reserve(problems.size());
  for (const auto& problem : problems) texts.push_back(test::outline(problem));
  return texts;
}

std::vector<std::string> messages(const WrittenOptions& written) {
  Sample target;
  return messages(target, written);
}

using Texts = std::vector<std::string>;

TEST(Options, are_set_from_what_was_written) {
  Sample target;
  const WrittenOptions written{{"relative_tolerance", {1e-3, {}}},
                               {"degree", {std::int64_t{2}, {}}},
                               {"smooth", {true, {}}},
                               {"loops", {std::string("solve"), {}}},
                               {"sequence", {std::vector<std::string>{"b", "a"}, {}}},
                               {"gains", {std::map<std::string, double>{{"a.u", 0.25}}, {}}}};
  EXPECT_EQ(messages(target, written), Texts{});
  EXPECT_EQ(target.relative_tolerance, 1e-3);
  EXPECT_EQ(target.gain, 0.5) << "an option that is not written keeps its default";
  EXPECT_EQ(target.degree, 2);
  EXPECT_TRUE(target.smooth);
  EXPECT_EQ(target.loops, Loops::Solve);
  EXPECT_EQ(target.sequence, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(target.gains, (std::map<std::string, double>{{"a.u", 0.25}}));
}

TEST(Options, take_an_integer_for_a_number) {
  Sample target;
  EXPECT_EQ(messages(target, at_line_7("relative_tolerance", std::int64_t{1})), Texts{});
  EXPECT_EQ(target.relative_tolerance, 1.0);
}

TEST(Options, refuse_a_decimal_number_for_an_integer) {
  Sample target;
  EXPECT_EQ(messages(target, at_line_7("degree", 2.0)),
            Texts{"system.toml:7: wrong-type method.jacobi.degree (expected = an integer, found = the number 2.0)"});
  EXPECT_EQ(target.degree, 0);
}

TEST(Options, have_inclusive_limits) {
  for (const std::int64_t degree : {0, 3}) EXPECT_EQ(messages(at_line_7("degree", degree)), Texts{});
  EXPECT_EQ(messages(at_line_7("degree", std::int64_t{5})),
            Texts{"system.toml:7: out-of-range method.jacobi.degree (range = between 0 and 3, value = 5)"});
  EXPECT_EQ(messages(at_line_7("degree", std::int64_t{-1})),
            Texts{"system.toml:7: out-of-range method.jacobi.degree (range = between 0 and 3, value = -1)"});
  EXPECT_EQ(messages(at_line_7("relative_tolerance", 0.0)), Texts{});
  EXPECT_EQ(messages(at_line_7("relative_tolerance", -1e-9)),
            Texts{"system.toml:7: out-of-range method.jacobi.relative_tolerance (range = at least 0, value = -1e-09)"});
}

TEST(Options, leave_the_field_alone_when_the_value_is_refused) {
  Sample target;
  EXPECT_EQ(messages(target, at_line_7("relative_tolerance", -1.0)).size(), 1U);
  EXPECT_EQ(target.relative_tolerance, 1e-6);
}

TEST(Options, never_take_nan) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(messages(at_line_7("gain", kNan)),
            Texts{"system.toml:7: out-of-range method.jacobi.gain (range = a number, value = nan)"});
  EXPECT_EQ(messages(at_line_7("relative_tolerance", kNan)),
            Texts{"system.toml:7: out-of-range method.jacobi.relative_tolerance (range = at least 0, value = nan)"});
  EXPECT_EQ(messages(at_line_7("gains", std::map<std::string, double>{{"a.u", kNan}})),
            Texts{"system.toml:7: out-of-range method.jacobi.gains.\"a.u\" (range = between 0 and 1, value = nan)"});
}

struct Unlimited final : HasOptions {
  int count = 1;
  void bind(OptionBinder& binder) override { binder.integer("count", count, "", {}); }
};

TEST(Options, refuse_an_integer_that_an_int_cannot_hold) {
  Unlimited target;
  std::vector<Problem> problems;
  read_options(target, at_line_7("count", std::int64_t{1} << 40), "method.x", problems);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(test::outline(problems[0].fact),
            "out-of-range method.x.count (range = between -2147483648 and 2147483647, value = 1099511627776)");
  EXPECT_EQ(target.count, 1);
}

TEST(Options, of_a_wrong_type_name_the_type_expected_and_the_one_found) {
  const std::string where = "system.toml:7: ";
  EXPECT_EQ(
      messages(at_line_7("relative_tolerance", std::string("small"))),
      Texts{where + "wrong-type method.jacobi.relative_tolerance (expected = a number, found = the string \"small\")"});
  EXPECT_EQ(messages(at_line_7("smooth", std::int64_t{1})),
            Texts{where + "wrong-type method.jacobi.smooth (expected = true or false, found = the integer 1)"});
  EXPECT_EQ(messages(at_line_7("loops", true)),
            Texts{where + "wrong-type method.jacobi.loops (expected = a string, found = the boolean true)"});
  EXPECT_EQ(messages(at_line_7("sequence", std::string("a"))),
            Texts{where + "wrong-type method.jacobi.sequence (expected = a list of names, found = the string \"a\")"});
  EXPECT_EQ(messages(at_line_7("gains", std::vector<double>{1.0})),
            Texts{where + "wrong-type method.jacobi.gains (expected = a table of numbers, found = a list)"});
  EXPECT_EQ(messages(at_line_7("degree", std::map<std::string, double>{})),
            Texts{where + "wrong-type method.jacobi.degree (expected = an integer, found = a table)"});
  EXPECT_EQ(
      messages(at_line_7("degree", std::string(100, 'x'))),
      Texts{where + "wrong-type method.jacobi.degree (expected = an integer, found = a string of 100 characters)"});
}

TEST(Options, suggest_the_choice_that_was_meant) {
  EXPECT_EQ(messages(at_line_7("loops", std::string("dely"))),
            Texts{"system.toml:7: word-unknown method.jacobi.loops (value = dely, words = delay | solve); did you mean "
                  "'delay'?"});
  EXPECT_EQ(messages(at_line_7("loops", std::string("forget"))),
            Texts{"system.toml:7: word-unknown method.jacobi.loops (value = forget, words = delay | solve)"});
}

TEST(Options, that_are_unknown_come_with_a_suggestion) {
  EXPECT_EQ(messages(at_line_7("degre", std::int64_t{2})),
            Texts{"system.toml:7: unknown-option degre (owner = method.jacobi); did you mean 'degree'?"});
  EXPECT_EQ(messages({{"colour", {true, {"--option colour=true"}}}}),
            Texts{"--option colour=true: unknown-option colour (owner = method.jacobi); known: relative_tolerance, "
                  "gain, degree, smooth, loops, sequence, gains"});
}

TEST(Options, of_an_earlier_version_are_refused_with_the_line_to_write) {
  EXPECT_EQ(messages(at_line_7("tolerance", 1e-3)), Texts{"system.toml:7: key-renamed method.jacobi.tolerance (names = "
                                                          "relative_tolerance); write relative_tolerance = 0.001"});
  EXPECT_EQ(messages(at_line_7("epsilon", 1e-3)).size(), 1U);
  EXPECT_EQ(messages(at_line_7("epsilon", 1e-3))[0].find("key-renamed"), std::string::npos)
      << "these options have no iteration_tolerance";
}

TEST(Options, report_all_problems_at_once) {
  WrittenOptions written = at_line_7("degree", std::int64_t{9});
  written.merge(at_line_7("smoth", true));
  written.merge(at_line_7("gains", std::map<std::string, double>{{"a.u", 2.0}, {"b.u", 0.5}, {"c.u", -1.0}}));
  EXPECT_EQ(messages(written).size(), 4U);
}

TEST(Options, in_force_are_those_read_and_the_defaults_of_the_others) {
  Sample target;
  EXPECT_EQ(messages(target, at_line_7("degree", std::int64_t{2})), Texts{});
  const std::map<std::string, OptionValue> expected{{"relative_tolerance", 1e-6},
                                                    {"gain", 0.5},
                                                    {"degree", std::int64_t{2}},
                                                    {"smooth", false},
                                                    {"loops", std::string("delay")},
                                                    {"sequence", std::vector<std::string>{}},
                                                    {"gains", std::map<std::string, double>{}}};
  EXPECT_EQ(options_in_force(target), expected);
}

TEST(Options, in_force_read_back_to_themselves) {
  Sample target;
  target.degree = 3;
  target.gains = {{"a.u", 1.0 / 3.0}};
  WrittenOptions written;
  for (const auto& [name, value] : options_in_force(target)) written[name] = {value, {}};
  Sample copy;
  EXPECT_EQ(messages(copy, written), Texts{});
  EXPECT_EQ(options_in_force(copy), options_in_force(target));
}

TEST(Options, are_described_in_the_order_they_are_bound) {
  Sample target;
  target.gains = {{"a.u", 0.5}};
  const auto help = describe_options(target);
  ASSERT_EQ(help.size(), 7U);
  const std::vector<std::vector<std::string>> expected{
      {"relative_tolerance", "number", "1e-06", "relative error allowed (at least 0)"},
      {"gain", "number", "0.5", "any number"},
      {"degree", "integer", "0", "of the input polynomials (between 0 and 3)"},
      {"smooth", "boolean", "false", "keep the slope"},
      {"loops", "delay | solve", "delay", "algebraic loops at communication times"},
      {"sequence", "list of names", "[]", "order of the subsystems"},
      {"gains", "table of numbers", "{ \"a.u\" = 0.5 }", "per input (between 0 and 1)"}};
  for (std::size_t i = 0; i < help.size(); ++i)
    EXPECT_EQ((std::vector<std::string>{help[i].name, help[i].type, help[i].default_value, help[i].help}), expected[i]);
}

}  // namespace options_test
}  // namespace entrain
