// Counts every allocation of this program; the hot path must make none.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "models/chain_system.hpp"
#include "support/systems.hpp"

namespace {
std::atomic<long> allocations{0};
}

// GCC sees through the replaced operators and takes free() for a mismatch of new.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace entrain {
namespace {

class NoAllocation : public testing::TestWithParam<test::Change> {};

TEST_P(NoAllocation, after_the_first_macro_steps) {
  Simulation simulation(test::changed(chain_system(5), GetParam()));
  simulation.run_until(0.05);  // a few steps: the degree has grown by then
  const long before = allocations;
  simulation.run_until(5.0);
  EXPECT_EQ(simulation.summary().termination, Termination::Running) << simulation.summary().message;
  // Leaving run_until refreshes the summary (the name of the worst connection): that is not the hot path.
  const long of_many_steps = allocations - before;
  const long again = allocations;
  simulation.run_until(5.005);
  EXPECT_LE(of_many_steps, allocations - again);
}

INSTANTIATE_TEST_SUITE_P(Methods, NoAllocation,
                         testing::Values(test::Change{.method = "jacobi", .step = 0.01},
                                         test::Change{.method = "jacobi", .step = 0.01, .options = {"degree=2"}},
                                         test::Change{.method = "gauss-seidel", .step = 0.01, .options = {"degree=1"}},
                                         test::Change{.method = "nepce", .step = 0.01}));

}  // namespace
}  // namespace entrain
