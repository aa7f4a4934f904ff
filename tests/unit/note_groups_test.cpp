#include "cli/note_groups.hpp"

#include <gtest/gtest.h>

namespace entrain {
namespace note_groups_test {

using Notes = std::vector<std::string>;

TEST(GroupedNotes, leave_a_few_of_a_kind_as_they_are) {
  const Notes notes{"1 algebraic loop delayed by one step", "'a': 9 steps of 0.1 .. 0.3 s",
                    "'b': 7 steps of 0.1 .. 2e-05 s", "'a' read an estimate past its validity on 3 steps"};
  EXPECT_EQ(cli::grouped_notes(notes), notes);
}

TEST(GroupedNotes, join_many_of_a_kind_where_the_first_stood) {
  Notes notes;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    notes.push_back(std::string("inputs of '") + name + "' lowered from degree 3 to 0");
    if (*name == 'a') notes.emplace_back("coupling equations: 4 unknowns");
  }
  EXPECT_EQ(cli::grouped_notes(notes),
            (Notes{"inputs of 'a' lowered from degree 3 to 0; likewise 'b', 'c', 'd', 'e', 'f' "
                   "and 2 more (all in run.json)",
                   "coupling equations: 4 unknowns"}));
}

TEST(GroupedNotes, say_where_the_numbers_differ) {
  const Notes notes{"'a': 1 of 2 steps", "'b': 3 of 4 steps", "'c': 5 of 6 steps", "'d': 7 of 8 steps"};
  EXPECT_EQ(cli::grouped_notes(notes),
            (Notes{"'a': 1 of 2 steps; likewise, with other numbers, 'b', 'c', 'd' (all in run.json)"}));
}

TEST(GroupedNotes, that_name_nobody_are_never_joined) {
  const Notes notes{"1 loop", "2 loop", "3 loop", "4 loop"};
  EXPECT_EQ(cli::grouped_notes(notes), notes);
}

}  // namespace note_groups_test
}  // namespace entrain
