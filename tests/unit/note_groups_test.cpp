#include "cli/note_groups.hpp"

#include <gtest/gtest.h>

#include "entrain/fact_codes.hpp"

namespace entrain {
namespace note_groups_test {

using Lines = std::vector<std::string>;

/// Each fact alone.
Lines rendered(const std::vector<Fact>& facts) {
  Lines lines;
  for (const Fact& fact : facts) lines.push_back(render(fact));
  return lines;
}

Fact past_validity(const std::string& subsystem, int steps) {
  return {FactCode::EstimatesPastValidity, {subsystem}, {{"steps", steps}}};
}

TEST(GroupedNotes, leave_a_few_of_a_code_as_they_are) {
  const std::vector<Fact> notes{{FactCode::LoopsDelayed, {}, {{"loops", 1}}},
                                past_validity("a", 3),
                                past_validity("b", 4),
                                {FactCode::InputsNotSmoothed, {"a"}}};
  EXPECT_EQ(cli::grouped_notes(notes), rendered(notes));
}

TEST(GroupedNotes, join_many_of_a_code_where_the_first_stood) {
  std::vector<Fact> notes;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    notes.push_back({FactCode::InputDegreeLowered, {name}, {{"from", 3}, {"to", 0}}});
    if (*name == 'a') notes.push_back({FactCode::NothingDelayed});
  }
  EXPECT_EQ(
      cli::grouped_notes(notes),
      (Lines{render(notes[0]) + "; likewise 'b', 'c', 'd', 'e', 'f' and 2 more (all in run.json)", render(notes[1])}));
}

TEST(GroupedNotes, say_where_the_numbers_differ) {
  const std::vector<Fact> notes{past_validity("a", 1), past_validity("b", 2), past_validity("c", 3),
                                past_validity("d", 4)};
  EXPECT_EQ(cli::grouped_notes(notes),
            (Lines{render(notes[0]) + "; likewise, with other numbers, 'b', 'c', 'd' (all in run.json)"}));
}

TEST(GroupedNotes, without_a_subject_are_never_joined) {
  std::vector<Fact> notes;
  for (int loops = 1; loops <= 4; ++loops) notes.push_back({FactCode::LoopsSolved, {}, {{"loops", loops}}});
  EXPECT_EQ(cli::grouped_notes(notes), rendered(notes));
}

}  // namespace note_groups_test
}  // namespace entrain
