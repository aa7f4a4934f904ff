// What `entrain new` writes as a connection, and what only as a comment.
#include <gtest/gtest.h>

#include "api/proposals.hpp"
#include "support/program.hpp"
#include "support/systems.hpp"
#include "support/typed_fmus.hpp"

namespace entrain {
namespace new_connections_test {

api::Part part(const std::string& name, std::vector<Variable> inputs, std::vector<Variable> outputs) {
  api::Part result{name, {}};
  result.variables.inputs = std::move(inputs);
  result.variables.outputs = std::move(outputs);
  return result;
}
Variable port(const std::string& name, const std::string& unit) {
  return {name, unit, "", ValueType::Real, 0.0};
}

TEST(ProposedConnection, by_the_type_alone_is_never_sure) {
  const auto proposals =
      api::propose_connections({part("room", {}, {port("temperature", "")}), part("car", {port("steering", "")}, {})});
  ASSERT_EQ(proposals.size(), 1U);
  EXPECT_EQ(proposals[0].outputs, std::vector<std::string>{"room.temperature"});
  EXPECT_EQ(proposals[0].reason, "the type fits");
  EXPECT_FALSE(proposals[0].sure);
}

TEST(ProposedConnection, is_made_where_types_and_directions_leave_a_single_wiring) {
  const auto controller = part("pi", {port("u", "")}, {port("out", "")});
  const auto loop = api::propose_connections({controller, part("pt1", {port("in", "")}, {port("level", "")})});
  ASSERT_EQ(loop.size(), 2U);
  for (const auto& proposal : loop) {
    EXPECT_TRUE(proposal.sure) << proposal.input;
    EXPECT_EQ(proposal.reason, "the only wiring that fits");
  }
  const auto choice =
      api::propose_connections({controller, part("pt1", {port("in", "")}, {port("level", ""), port("flow", "")})});
  EXPECT_FALSE(choice.at(0).sure);
}

TEST(ProposedConnection, by_name_takes_units_that_convert_and_no_others) {
  const auto proposal = [](const std::string& from, const std::string& to) {
    return api::propose_connections({part("a", {}, {port("F", from)}), part("b", {port("F", to)}, {})}).at(0);
  };
  EXPECT_TRUE(proposal("kN", "N").sure);
  EXPECT_EQ(proposal("kN", "N").reason, "same name");
  EXPECT_TRUE(proposal("kN", "m").outputs.empty());
  EXPECT_TRUE(proposal("kN", "bananas").outputs.empty());
}

std::string with_names(const std::string& input, const std::string& output, const std::string& unit = "degC") {
  std::string xml = test::kTyped2;
  const auto replace_all = [&](const std::string& what, const std::string& by) {
    for (std::size_t at = xml.find(what); at != std::string::npos; at = xml.find(what, at + by.size()))
      xml.replace(at, what.size(), by);
  };
  replace_all("name=\"x\"", "name=\"" + input + "\"");
  replace_all("name=\"y\"", "name=\"" + output + "\"");
  replace_all("unit=\"degC\"", "unit=\"" + unit + "\"");
  return xml;
}

/// The file without the '#' of the lines behind "Not clear".
std::string with_comments_removed(std::string text) {
  const auto begin = text.find("# Not clear");
  EXPECT_NE(begin, std::string::npos) << text;
  for (std::size_t at = text.find("\n# \"", begin); at != std::string::npos; at = text.find("\n# \"", at))
    text.erase(at + 1, 2);
  return text;
}

TEST(NewSystemFile, can_be_read_after_following_its_own_instruction) {
  const test::TemporaryFolder folder;
  test::write_typed2(folder, "source.fmu", with_names("none", "y1", "K"));
  test::write_typed2(folder, "sink.fmu", with_names("u1", "nothing", "K"));
  test::write_typed2(folder, "sink2.fmu", with_names("u2", "nothing2", "K"));
  const auto made = test::run_program(folder, {"new", "made", "source.fmu", "sink.fmu", "sink2.fmu"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string text = with_comments_removed(test::text_of(folder / "made" / "system.toml"));
  std::vector<Problem> problems;
  description::parse_system(text, "made.toml", problems);
  for (const auto& problem : problems)  // an input that stands in two lists is the user's to choose
    EXPECT_EQ(to_string(problem).find("TOML"), std::string::npos) << to_string(problem) << text;
}

TEST(NewSystemFile, is_readable_whatever_the_fmu_calls_its_units) {
  const test::TemporaryFolder folder;
  test::write_typed2(folder, "odd.fmu", with_names("x", "y", "a&#13;b&#10;c"));
  const auto made = test::run_program(folder, {"new", "made", "odd.fmu"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(test::run_program(folder, {"check", "made"}).exit_code, 0);
  EXPECT_NE(test::text_of(folder / "made" / "system.toml").find("\\x0d"), std::string::npos);
}

TEST(NewSystemFile, that_does_not_check_is_a_failure) {
  const test::TemporaryFolder folder;
  std::string xml = test::kTyped2;
  xml.replace(xml.find("<Real start=\"0\" unit"), 15, "<Real");  // x has no value then
  test::write_typed2(folder, "open.fmu", xml);
  const auto made = test::run_program(folder, {"new", "made", "open.fmu"});
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_NE(made.err.find("input 'open.x' is not connected"), std::string::npos) << made.err;
}

}  // namespace new_connections_test
}  // namespace entrain
