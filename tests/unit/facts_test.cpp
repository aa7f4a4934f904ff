// The renderer and the catalogue. Sentences are matched here, and nowhere else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "base/quoting.hpp"
#include "support/facts.hpp"
#include "support/places.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace facts_test {

TEST(Render, places_subjects_and_numbers_with_their_units) {
  EXPECT_EQ(render({FactCode::InputDegreeLowered, {"prey"}, {{"from", 3}, {"to", 0}}}),
            "inputs of 'prey' lowered from degree 3 to 0 by mean-square fit");
  EXPECT_EQ(render({FactCode::InputsHeldInside, {"a"}, {{"internal_step", 0.01, "s"}}}),
            "inputs of 'a' are held over its internal steps of 0.01 s, with their mean");
}

TEST(Render, knows_singular_and_plural) {
  EXPECT_EQ(render({FactCode::LoopsSolved, {}, {{"loops", 1}}}), "1 algebraic loop solved at every communication time");
  EXPECT_EQ(render({FactCode::LoopsSolved, {}, {{"loops", 2}}}),
            "2 algebraic loops solved at every communication time");
  EXPECT_EQ(
      render({FactCode::EventsSeenLate, {"prey"}, {{"count", 2}, {"first", 0.25, "s"}}}),
      "2 announced events lie between two communication times and are seen late; the first: 'prey' at t = 0.25 s. "
      "Choose a step that divides their times");
}

TEST(Render, leaves_out_what_depends_on_a_value_that_is_not_there) {
  EXPECT_EQ(render({FactCode::OutputJumps, {"a"}, {{"jumps", 3}}}), "'a': 3 unannounced jumps");
  EXPECT_EQ(render({FactCode::OutputJumps, {"a"}, {{"jumps", 3}, {"late", 1}}}),
            "'a': 3 unannounced jumps, 1 seen up to a step late");
  EXPECT_EQ(render({FactCode::SubstepsUnused, {"a"}, {{"substeps", 4}}}),
            "substeps = 4 of 'a' have no effect: its step may not be divided");
  EXPECT_EQ(render({FactCode::SubstepsUnused, {"a"}, {{"substeps", 4}, {"degree", 1}}}),
            "substeps = 4 of 'a' have no effect: it takes inputs of degree 1 as they are");
}

TEST(Render, shortens_long_lists_of_subjects) {
  Fact sequence{FactCode::CallingSequence, {}, {{"origin", "found"}}};
  for (int i = 0; i < 13; ++i) sequence.subjects.push_back(std::to_string(i));
  EXPECT_EQ(render(sequence), "calling sequence (found): 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...");
  EXPECT_EQ(render({FactCode::NothingToCompareFor, {"run", "a.x", "a.y"}}), "run has nothing to compare for a.x, a.y");
}

TEST(Render, formats_numbers_as_in_the_catalogue) {
  EXPECT_EQ(render({FactCode::LoopStartResidual, {}, {{"residual", 1.23456e-5}}}),
            "an algebraic loop starts with a residual of 1.2e-05");
}

TEST(Render, shows_position_and_remedy) {
  const auto problem =
      problem_of({FactCode::UnknownKey, {"stpe"}, {{"owner", "run"}}}, "did you mean 'step'?", {"system.toml", 4, 1});
  EXPECT_EQ(to_string(problem), "system.toml:4: unknown key 'stpe' in [run]; did you mean 'step'?");
  EXPECT_EQ(render(fact_of(problem)), to_string(problem));
  EXPECT_EQ(problem.severity, Problem::Severity::Error);
  const auto warning = problem_of({FactCode::OptionWithoutEffect, {"method.missiles.max_step"}}, "leave it out");
  EXPECT_EQ(warning.severity, Problem::Severity::Warning);
  EXPECT_EQ(to_string(warning),
            "warning: method.missiles.max_step has no effect: the macro step is fixed; leave it out");
}

TEST(Render, passes_on_the_words_of_users) {
  EXPECT_EQ(render(custom_note("as {it} is")), "as {it} is");
  EXPECT_EQ(kind_of(custom_warning("hot").code), FactKind::Warning);
  const Problem of_a_user{"the gain is odd", "take 1", {"--option", 0, 0}};
  EXPECT_EQ(render(fact_of(of_a_user)), "--option: the gain is odd; take 1");
  EXPECT_EQ(fact_of(of_a_user).code, FactCode::CustomError);
}

TEST(ErrorOfAFact, has_its_sentence_and_the_remedy_of_the_context) {
  const Error error(ErrorCode::SubsystemFailed, {FactCode::StepRejected, {"prey"}, {{"step", 0.5, "s"}}},
                    {.subsystem = "prey", .variable = {}, .time = 1.5, .remedy = "Choose a smaller step"});
  EXPECT_STREQ(error.what(), "subsystem 'prey', at t = 1.5 s: rejected a step of 0.5 s. Choose a smaller step");
  EXPECT_EQ(error.message(), "rejected a step of 0.5 s");
  EXPECT_EQ(error.fact().remedy, "Choose a smaller step");
  EXPECT_EQ(error.context().time, 1.5);
}

TEST(ErrorOfAFact, has_the_position_before_its_sentence) {
  const Error error(ErrorCode::FileFailed, {FactCode::CsvNoTime, {}, {}, {}, {"a.csv", 3, 0}});
  EXPECT_STREQ(error.what(), "a.csv:3: a row without a time");
}

TEST(ErrorInWords, is_a_custom_fact) {
  const Error error(ErrorCode::SolverFailed, "as {it} is", {"", "", std::nullopt, "take 1"});
  EXPECT_STREQ(error.what(), "as {it} is. take 1");
  EXPECT_EQ(error.fact(), (Fact{FactCode::CustomError, {}, {{"text", "as {it} is"}}, "take 1"}));
}

TEST(ErrorOfProblems, is_the_first_of_them) {
  const Error error({problem_of({FactCode::UnknownKey, {"stpe"}, {{"owner", "run"}}}, "write step"),
                     problem_of({FactCode::NoSubsystems})});
  EXPECT_EQ(error.fact().code, FactCode::UnknownKey);
  EXPECT_EQ(error.fact().remedy, "write step");
  EXPECT_EQ(error.problems().size(), 2U);
}

TEST(QuotingFact, keeps_code_subjects_and_values_of_the_error) {
  const Error error(ErrorCode::InvalidSystem, {FactCode::LearnedCount, {"a.u"}, {{"count", 3}, {"steps", 4}}});
  const Fact fact = base::quoting({FactCode::LearnedUnusable, {"l.json"}}, error, error.message());
  EXPECT_EQ(render(fact), "'l.json' is no learned correction: 3 corrections of 'a.u' instead of 4");
  EXPECT_EQ(fact.text("of"), "learned-count");
  EXPECT_EQ(fact.subjects, (std::vector<std::string>{"l.json", "a.u"}));
  EXPECT_EQ(fact.number("steps"), 4.0);
}

TEST(FactCatalogue, names_are_unique_and_found_again) {
  std::set<std::string_view> names;
  for (const auto& entry : fact_catalogue()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_EQ(fact_code(entry.name), entry.code);
    EXPECT_TRUE(std::all_of(entry.name.begin(), entry.name.end(), [](char c) {
      return c == '-' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    })) << entry.name;
  }
  EXPECT_EQ(fact_code("no-such-thing"), std::nullopt);
}

/// FmuClaimWithdrawn -> fmu-claim-withdrawn
std::string kebab(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const bool upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    if (upper && !text.empty()) text += '-';
    text += upper ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : c;
  }
  return text;
}

TEST(FactCatalogue, names_are_those_of_the_enumeration) {
  const auto header = test::text_of(test::examples_folder() + "/../include/entrain/fact_codes.hpp");
  std::istringstream lines(header);
  std::size_t next = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ") || line.starts_with("  //") || !line.ends_with(",")) continue;
    ASSERT_LT(next, fact_catalogue().size());
    EXPECT_EQ(fact_catalogue()[next].name, kebab(line.substr(2, line.size() - 3)));
    ++next;
  }
  EXPECT_EQ(next, fact_catalogue().size());
}

TEST(FactCatalogue, every_sentence_is_rendered_without_a_rest_of_its_template) {
  for (const auto& entry : fact_catalogue()) {
    const auto bare = render(Fact{entry.code, {"a", "b", "c"}});
    EXPECT_EQ(bare.find_first_of("{}~|"), std::string::npos) << entry.name << ": " << bare;
    EXPECT_EQ(std::count(entry.sentence.begin(), entry.sentence.end(), '{'),
              std::count(entry.sentence.begin(), entry.sentence.end(), '}'))
        << entry.name;
  }
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

/// The rows of the table in docs/facts.md.
std::vector<std::string> rows_of(FactKind kind) {
  std::vector<std::string> rows;
  for (const auto& entry : fact_catalogue()) {
    if (entry.kind != kind) continue;
    rows.push_back(fmt::format("| `{}` | {} | {} |\n", entry.name, escaped(entry.sentence), escaped(entry.remedy)));
  }
  return rows;
}

TEST(FactCatalogue, is_in_the_docs) {
  const auto docs = test::text_of(test::examples_folder() + "/../docs/facts.md");
  for (const auto kind : {FactKind::Note, FactKind::Warning, FactKind::Error}) {
    std::string table = "| code | sentence | remedy |\n|---|---|---|\n";
    std::string missing;
    for (const auto& row : rows_of(kind)) {
      if (docs.find("\n" + row) == std::string::npos) missing += row;
      table += row;
    }
    EXPECT_TRUE(docs.find(table) != std::string::npos) << "docs/facts.md must hold this table:\n\n"
                                                       << table << "\nrows that are missing or differ:\n\n"
                                                       << missing;
  }
}

}  // namespace facts_test
}  // namespace entrain
