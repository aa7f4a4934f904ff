// Subsystems that want all calls from the thread that runs the system (Capabilities::calling_thread), as Python code
// does: whatever threads there are, and to the same bits.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <thread>

#include "entrain/extensions.hpp"
#include "entrain/simulation.hpp"
#include "models/registry.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace calling_thread_test {

struct Calls {
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> bound_here = 0, bound_elsewhere = 0, others_elsewhere = 0;
};

/// A built-in model that counts who calls it. A step that is bound leaves its thread, for others to take part.
class Counting final : public Subsystem, private Rollback {
 public:
  Counting(std::unique_ptr<Subsystem> inner, bool bound, Calls& calls)
      : inner_(std::move(inner)), bound_(bound), calls_(calls) {}

  std::string_view name() const noexcept override { return inner_->name(); }
  const VariableTable& variables() const noexcept override { return inner_->variables(); }
  const Capabilities& capabilities() const override {
    can_ = inner_->capabilities();
    can_.calling_thread = bound_;
    return can_;
  }
  Facets facets() noexcept override {
    Facets facets = inner_->facets();
    if (facets.rollback != nullptr) facets.rollback = this;
    return facets;
  }
  void set_start(VariableTable::Place place, const Value& value) override { inner_->set_start(place, value); }
  void initialize(Time start, Time stop) override { inner_->initialize(start, stop); }
  void evaluate(std::span<const double> inputs, std::span<double> outputs) override {
    count();
    inner_->evaluate(inputs, outputs);
  }
  StepReport step(const Step& step, std::span<double> outputs) override {
    count();
    if (bound_) std::this_thread::sleep_for(std::chrono::microseconds(100));
    return inner_->step(step, outputs);
  }

 private:
  StateId save() override {
    count();
    return inner_->facets().rollback->save();
  }
  void restore(StateId id) override {
    count();
    inner_->facets().rollback->restore(id);
  }
  void release(StateId id) override { inner_->facets().rollback->release(id); }
  void count() {
    const bool here = std::this_thread::get_id() == calls_.caller;
    if (bound_) ++(here ? calls_.bound_here : calls_.bound_elsewhere);
    if (!bound_ && !here) ++calls_.others_elsewhere;
  }

  std::unique_ptr<Subsystem> inner_;
  bool bound_;
  Calls& calls_;
  mutable Capabilities can_;
};

/// Every second subsystem is bound to the calling thread.
Extensions counting(Calls& calls) {
  Extensions extensions;
  extensions.subsystems = [&calls, made = 0](std::string_view kind,
                                             std::string_view name) mutable -> std::unique_ptr<Subsystem> {
    auto model = models::make_built_in_model(kind);
    if (!model) return nullptr;
    return std::make_unique<Counting>(subsystem::make_native_subsystem(std::string(name), std::move(model)),
                                      made++ % 2 == 0, calls);
  };
  return extensions;
}

class Last final : public Observer {
 public:
  void communicated(const Sample& sample, const RunSummary&) override {
    bits.clear();
    for (const double value : sample.values) bits.push_back(std::bit_cast<std::uint64_t>(value));
  }
  std::vector<std::uint64_t> bits;
};

std::vector<std::uint64_t> end_of(const SystemDescription& description, const Extensions& extensions, int threads) {
  Simulation simulation(description, {.threads = threads}, extensions);
  Last last;
  simulation.observe(last);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  return last.bits;
}

class CallingThread : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Methods, CallingThread, testing::Values("jacobi", "missiles", "ifosmondi"),
                         [](const auto& of) { return std::string(of.param); });

TEST_P(CallingThread, makes_all_calls_of_subsystems_that_are_bound_to_it) {
  const auto description = test::changed(test::example("chain"), {.method = GetParam(), .step = 1e-3, .stop = 0.2});
  Calls calls;
  const auto bits = end_of(description, counting(calls), 4);
  EXPECT_EQ(calls.bound_elsewhere, 0);
  EXPECT_GT(calls.bound_here, 200);
  EXPECT_GT(calls.others_elsewhere, 0);
  EXPECT_EQ(bits, end_of(description, {}, 1));
}

}  // namespace calling_thread_test
}  // namespace entrain
