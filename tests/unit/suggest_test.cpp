#include "base/suggest.hpp"

#include <gtest/gtest.h>

namespace entrain {
namespace suggest_test {

const std::vector<std::string> kKeys{"start", "stop", "step", "method"};

TEST(Suggest, finds_the_word_one_typing_slip_away) {
  EXPECT_EQ(base::nearest("metod", kKeys), "method");    // a letter lost
  EXPECT_EQ(base::nearest("methood", kKeys), "method");  // a letter too many
  EXPECT_EQ(base::nearest("nethod", kKeys), "method");   // a wrong letter
  EXPECT_EQ(base::nearest("mehtod", kKeys), "method");   // two letters swapped
  EXPECT_EQ(base::nearest("METHOD", kKeys), "method");   // case
}

TEST(Suggest, counts_a_swap_of_neighbours_as_one_slip) {
  // Three letters allow one slip; as two replacements the swap would be too far away.
  EXPECT_EQ(base::nearest("abd", {"adb"}), "adb");
}

TEST(Suggest, takes_the_nearest_and_the_first_of_equals) {
  EXPECT_EQ(base::nearest("stet", {"start", "step"}), "step");
  EXPECT_EQ(base::nearest("st0p", {"stop", "step"}), "stop");
  EXPECT_EQ(base::nearest("stxp", {"step", "stop"}), "step");
}

TEST(Suggest, is_empty_for_a_word_that_is_like_none) {
  EXPECT_EQ(base::nearest("temperature", kKeys), std::nullopt);
  EXPECT_EQ(base::nearest("", kKeys), std::nullopt);
  EXPECT_EQ(base::nearest("step", {}), std::nullopt);
}

TEST(Suggest, allows_more_slips_in_longer_words) {
  EXPECT_EQ(base::nearest("sttae_derivatves", {"state_derivatives"}), "state_derivatives");
  EXPECT_EQ(base::nearest("ab", {"cd"}), std::nullopt);
}

TEST(Suggest, asks_or_lists_what_is_known) {
  EXPECT_EQ(suggestion("metod", kKeys), "did you mean 'method'?");
  EXPECT_EQ(suggestion("temperature", kKeys), "known: start, stop, step, method");
  EXPECT_EQ(suggestion("temperature", {}), "");
}

TEST(Suggest, shortens_a_long_list) {
  const std::vector<std::string> many{"aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh", "ii"};
  EXPECT_EQ(suggestion("temperature", many), "known: aa, bb, cc, dd, ee, ff, gg, hh, ...");
}

}  // namespace suggest_test
}  // namespace entrain
