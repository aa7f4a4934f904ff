// What the watch over foreign code costs: the cheapest function there is, called directly and through ForeignCode.
#include "base/foreign_code.hpp"

#include "budget.hpp"

namespace {

int next(int x) {
  return x + 1;
}

}  // namespace

int main() {
  using namespace entrain;
  constexpr int kCalls = 20'000'000;
  base::ForeignCode code({.code = "bench"});
  int (*volatile read_once)(int) = next;  // so that the compiler does not know the callee
  int (*const function)(int) = read_once;
  double bare = 1.0;
  double watched = 1.0;
  int sum = 0;
  for (int i = 0; i < bench::kRepetitions; ++i) {
    bare = std::min(bare, bench::seconds_of([&] {
                      for (int call = 0; call < kCalls; ++call) sum = function(sum % 2);
                    }));
    watched = std::min(watched, bench::seconds_of([&] {
                         for (int call = 0; call < kCalls; ++call) sum = code.call("next", function, sum % 2);
                       }));
  }
  if (sum == 0) return 1;
  bench::Budgets budgets;
  budgets.check("a watched call beyond a bare one", (watched - bare) / kCalls * 1e9, 2.0, "ns");
  return budgets.exit_code();
}
