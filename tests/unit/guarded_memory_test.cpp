// What must not be lost lies where a damaged heap does not reach.
#include "base/guarded_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <limits>

namespace entrain::base {
namespace {

constexpr std::size_t kPageOfDoubles = 512;

TEST(GuardedMemoryDeathTest, writing_beyond_either_end_ends_the_process) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  GuardedVector<double> numbers(kPageOfDoubles, 1.0);
  volatile double* begin = numbers.data();
  EXPECT_EXIT(begin[kPageOfDoubles] = 0.0, testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(*(begin - 1) = 0.0, testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EQ(numbers, GuardedVector<double>(kPageOfDoubles, 1.0));
}

TEST(GuardedMemory, serves_containers_of_any_size) {
  EXPECT_TRUE(GuardedVector<double>().empty());
  GuardedVector<char> bytes(1, 'x');
  bytes.resize(100000, 'y');
  EXPECT_EQ(bytes.front(), 'x');
  EXPECT_EQ(bytes.back(), 'y');
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(GuardedVector<double>(3).data()) % alignof(std::max_align_t), 0U);
  EXPECT_THROW(static_cast<void>(allocate_guarded(std::numeric_limits<std::size_t>::max())), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(allocate_guarded(std::numeric_limits<std::size_t>::max() / 4)), std::bad_alloc);
}

}  // namespace
}  // namespace entrain::base
