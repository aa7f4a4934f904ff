// Who waits looks before it sleeps, as long as everyone who does so has a processor of its own.
#include "base/looking.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace entrain::base {
namespace {

/// The processors are shared by one process again when a test ends.
class Looking : public testing::Test {
 protected:
  void TearDown() override { share_processors(1); }
};

TEST_F(Looking, is_allowed_while_there_is_a_processor_for_all_that_look) {
  EXPECT_TRUE(may_look());
  {
    Lookers others(processors() - 1);
    EXPECT_TRUE(may_look());
    others.set(processors());
    EXPECT_FALSE(may_look());
  }
  EXPECT_TRUE(may_look()) << "they are gone";
}

TEST_F(Looking, counts_the_processes_that_share_the_processors) {
  share_processors(processors());
  EXPECT_TRUE(may_look());
  const Lookers other(1);
  EXPECT_FALSE(may_look());
  share_processors(processors() + 1);
  EXPECT_EQ(processes_that_share(), processors() + 1);
  EXPECT_FALSE(may_look());
}

TEST_F(Looking, ends_when_it_finds_what_it_waits_for_or_after_a_while) {
  EXPECT_FALSE(look_until([] { return false; }));
  int looks = 0;
  EXPECT_TRUE(look_until([&] { return ++looks == 5; }));
  EXPECT_EQ(looks, 5);
}

}  // namespace
}  // namespace entrain::base
