// The keys of [subsystems.NAME]: whatever the list contains holds for the reader, the writer, the checks and the docs.
#include "description/subsystem_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>

#include "description/run_keys.hpp"
#include "description/system_file.hpp"
#include "description/toml_text.hpp"
#include "subsystem/restricted.hpp"
#include "support/facts.hpp"
#include "support/places.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace subsystem_keys_test {

// A value that is allowed.
bool sample(const description::KeyLimits&, bool) {
  return false;
}
std::int64_t sample(const description::KeyLimits& limits, std::int64_t) {
  return static_cast<std::int64_t>(std::isfinite(limits.max) ? limits.max : limits.min);
}
double sample(const description::KeyLimits& limits, double) {
  return std::isfinite(limits.max) ? limits.max : 0.5;
}
std::vector<double> sample(const description::KeyLimits&, const std::vector<double>&) {
  return {1.0, 2.5};
}
Isolation sample(const description::KeyLimits&, const Isolation&) {
  return "suppliers";
}
std::string sample(const description::KeyLimits&, const std::string&) {
  return "identified";
}
template <Choice Enum>
Enum sample(const description::KeyLimits&, Enum) {
  return ChoiceNames<Enum>::all.back().value;
}

template <class T>
std::string text_of(const T& value) {
  if constexpr (Choice<T>) {
    return description::toml_text(to_word(value));
  } else if constexpr (std::is_same_v<T, Isolation>) {
    return std::visit([](const auto& held) { return description::toml_text(OptionValue(held)); }, value);
  } else {
    return description::toml_text(OptionValue(value));
  }
}

/// Values that a key must refuse, beside those of a wrong type.
template <class T>
std::vector<std::string> wrong_values(const description::KeyLimits& limits) {
  std::vector<std::string> values;
  if constexpr (Choice<T>) {
    values = {"\"no such word\"", "1"};
  } else if constexpr (std::is_same_v<T, bool>) {
    values = {"\"no\"", "1"};
  } else if constexpr (std::is_same_v<T, std::string>) {
    values = {"true", "1", "[\"a\"]"};
  } else if constexpr (std::is_same_v<T, Isolation>) {
    values = {"\"\"", "1", "[true]"};
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    values = {"[1.0, nan]", "[\"a\"]", "1.0"};
  } else {
    values = {"\"a\"", "true"};
    const auto add = [&](double value) { values.push_back(text_of(static_cast<T>(value))); };
    if (std::isfinite(limits.min)) add(limits.above_min ? limits.min : limits.min - 1.0);
    if (std::isfinite(limits.max)) add(2.0 * limits.max);
    if (std::is_same_v<T, double>) values.insert(values.end(), {"nan", "inf"});
  }
  return values;
}

std::string source_of(description::KeyOwner owner) {
  return owner == description::KeyOwner::Fmu     ? "fmu = \"a.fmu\""
         : owner == description::KeyOwner::Table ? "csv = \"a.csv\""
                                                 : "model = \"tough\"";
}

struct Parsed {
  SubsystemDescription subsystem;
  std::vector<std::string> problems;
};

Parsed parsed(const std::string& source, std::string_view key, const std::string& value) {
  std::vector<Problem> problems;
  const auto text = fmt::format("[subsystems.a]\n{}\n{} = {}\n", source, key, value);
  Parsed result{description::parse_system(text, "system.toml", problems).subsystems.at(0), {}};
  for (const auto& problem : problems) result.problems.push_back(test::outline(problem));
  return result;
}

TEST(SubsystemKeys, are_read_with_their_place_and_written_back) {
  description::for_each_subsystem_key([]<class T, class Ability>(const description::SubsystemKey<T, Ability>& key) {
    const T value = sample(key.limits, T{});
    auto [subsystem, problems] = parsed(source_of(key.owner), key.name, text_of(value));
    EXPECT_TRUE(problems.empty()) << key.name << ": " << fmt::format("{}", fmt::join(problems, "; "));
    ASSERT_TRUE(subsystem.*key.field) << key.name;
    EXPECT_EQ((subsystem.*key.field)->value, value) << key.name;
    EXPECT_EQ((subsystem.*key.field)->where.line, 3) << key.name;
    SystemDescription system;
    system.subsystems.assign(1, subsystem);
    const auto line = fmt::format("\n{} = {}\n", key.name, text_of(value));
    EXPECT_NE(system_text(system).find(line), std::string::npos) << system_text(system);
    (subsystem.*key.field).reset();
    system.subsystems.assign(1, subsystem);
    EXPECT_EQ(system_text(system).find(fmt::format("\n{} = ", key.name)), std::string::npos) << key.name;
  });
}

TEST(SubsystemKeys, refuse_what_they_do_not_allow) {
  description::for_each_subsystem_key([]<class T, class Ability>(const description::SubsystemKey<T, Ability>& key) {
    for (const auto& value : wrong_values<T>(key.limits)) {
      const auto problems = parsed(source_of(key.owner), key.name, value).problems;
      ASSERT_EQ(problems.size(), 1U) << key.name << " = " << value;
      EXPECT_TRUE(problems[0].starts_with("system.toml:3: ")) << problems[0];
      EXPECT_NE(problems[0].find(fmt::format(" subsystems.a.{} ", key.name)), std::string::npos) << problems[0];
    }
  });
}

TEST(SubsystemKeys, for_one_kind_of_subsystem_are_refused_by_the_others) {
  description::for_each_subsystem_key([]<class T, class Ability>(const description::SubsystemKey<T, Ability>& key) {
    for (const auto owner : {description::KeyOwner::All, description::KeyOwner::Fmu, description::KeyOwner::Table}) {
      const auto problems = parsed(source_of(owner), key.name, text_of(sample(key.limits, T{}))).problems;
      const bool allowed = key.owner == description::KeyOwner::All || key.owner == owner;
      EXPECT_EQ(problems.size(), allowed ? 0U : 1U) << key.name << " beside " << source_of(owner);
      for (const auto& problem : problems) EXPECT_NE(problem.find("key-misplaced"), std::string::npos) << problem;
    }
  });
}

TEST(SubsystemKeys, that_are_mistyped_are_suggested) {
  description::for_each_subsystem_key([](const auto& key) {
    const auto problems = parsed("model = \"tough\"", std::string(key.name) + "x", "1").problems;
    ASSERT_EQ(problems.size(), 1U) << key.name;
    EXPECT_NE(problems[0].find(fmt::format("did you mean '{}'?", key.name)), std::string::npos) << problems[0];
  });
}

TEST(SubsystemKeys, of_an_earlier_version_are_refused_with_the_line_to_write) {
  EXPECT_EQ(parsed("fmu = \"a.fmu\"", "tolerance", "1e-8").problems,
            std::vector<std::string>{"system.toml:3: key-renamed subsystems.a.tolerance (names = relative_tolerance); "
                                     "write relative_tolerance = 1e-08"});
}

TEST(SubsystemKeys, restrict_where_they_name_a_capability) {
  description::for_each_subsystem_key([]<class T, class Ability>(const description::SubsystemKey<T, Ability>& key) {
    SubsystemDescription description;
    EXPECT_FALSE(subsystem::restricts(description));
    description.*key.field = {sample(key.limits, T{}), {}};
    const bool has_ability = !std::is_same_v<Ability, std::nullptr_t>;
    EXPECT_EQ(subsystem::restricts(description), has_ability || key.name == "events") << key.name;
  });
}

template <class T>
std::string type_text(const description::KeyLimits& limits, std::string_view unit) {
  if constexpr (Choice<T>) {
    return fmt::format("`\"{}\"`", fmt::join(words_of<T>(), "\"`, `\""));
  } else if constexpr (std::is_same_v<T, bool>) {
    return "`true`, `false`";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "a name";
  } else if constexpr (std::is_same_v<T, Isolation>) {
    return "`true`, `false`, a name";
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    return fmt::format("list of numbers{}", unit.empty() ? "" : fmt::format(" in {}", unit));
  } else {
    return fmt::format("{} {}", std::is_same_v<T, double> ? "number" : "integer",
                       description::limits_text(limits, unit));
  }
}

/// The table as docs/system_file.md has it.
std::string table_of_keys() {
  std::string table = "| key | of | value | meaning |\n|---|---|---|---|\n";
  description::for_each_subsystem_key([&]<class T, class Ability>(const description::SubsystemKey<T, Ability>& key) {
    const auto* owner = key.owner == description::KeyOwner::Fmu     ? "an FMU"
                        : key.owner == description::KeyOwner::Table ? "a table"
                                                                    : "all";
    table += fmt::format("| `{}` | {} | {} | {} |\n", key.name, owner, type_text<T>(key.limits, key.unit), key.help);
  });
  return table;
}

TEST(SubsystemKeys, are_documented_as_in_the_list) {
  const auto docs = test::text_of(test::examples_folder() + "/../docs/system_file.md");
  EXPECT_NE(docs.find(table_of_keys()), std::string::npos) << "docs/system_file.md must hold this table:\n\n"
                                                           << table_of_keys();
}

TEST(Documented, is_every_source_of_a_subsystem) {
  const auto docs = test::text_of(test::examples_folder() + "/../docs/system_file.md");
  for (const auto& source : description::kSubsystemSources) {
    EXPECT_NE(docs.find(fmt::format("\n| `{} = ", source.name)), std::string::npos) << source.name;
  }
}

TEST(Documented, is_every_key_of_run) {
  const auto docs = test::text_of(test::examples_folder() + "/../docs/system_file.md");
  const auto keys = docs.substr(docs.find("## [run]"), docs.find("## [subsystems.NAME]") - docs.find("## [run]"));
  description::for_each_run_key(
      [&](const auto& key) { EXPECT_NE(keys.find(fmt::format("`{}`", key.name)), std::string::npos) << key.name; });
}

TEST(Documented, is_every_format_of_results) {
  const auto docs = test::text_of(test::examples_folder() + "/../docs/system_file.md");
  for (const auto format : kRecordFormats) {
    EXPECT_NE(docs.find(fmt::format("`\"{}\"`", format)), std::string::npos) << format;
  }
}

}  // namespace subsystem_keys_test
}  // namespace entrain
