// missiles where it is not known how the states change with states and inputs (A = B = 0): what that costs, and what it
// costs not to know the outputs' C and D either.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "entrain/recording.hpp"
#include "models/registry.hpp"
#include "reproduce/measure.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace missiles_without_rates_test {

/// A built-in model that provides C and D, but neither A nor B.
class WithoutRates final : public Model {
 public:
  explicit WithoutRates(std::unique_ptr<Model> model) : model_(std::move(model)) {}
  const VariableTable& variables() const noexcept override { return model_->variables(); }
  void configure(std::span<const Value> parameters) override { model_->configure(parameters); }
  Feedthrough feedthrough() const override { return model_->feedthrough(); }
  void derivatives(const Point& at, std::span<double> dx) const override { model_->derivatives(at, dx); }
  void outputs(const Point& at, std::span<double> y) const override { model_->outputs(at, y); }
  void output_rates(const Point& at, std::span<double> dy) const override { model_->output_rates(at, dy); }
  void integrate(Time from, Duration size, const InputBlock& inputs, std::span<double> x) override {
    model_->integrate(from, size, inputs, x);
  }
  void linearize(const Point& at, Linearization& result) const override {
    model_->linearize(at, result);
    std::fill(result.A.values.begin(), result.A.values.end(), 0.0);
    std::fill(result.B.values.begin(), result.B.values.end(), 0.0);
  }

 private:
  std::unique_ptr<Model> model_;
};

std::vector<double> position(const SystemDescription& description, const ModelFactory& models = {}) {
  Simulation simulation(description, {}, models);
  MemoryRecorder recorder({"left.x"});
  simulation.observe(recorder);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  return recorder.column("left.x");
}

// An independent implementation gave 3.1e-4 % on the mechanical pair at 1e-3 s, with C and D known.
TEST(MissilesWithoutRates, has_at_most_the_error_of_the_reference_where_the_outputs_are_known) {
  const auto masses = test::example("mechanical");
  const auto exact = position(test::changed(masses, {.method = "monolithic", .step = 1e-3}));
  const auto missiles = test::changed(
      masses, {.method = "missiles", .step = 1e-3, .options = {"linearize=\"once\"", "reconstruction=2"}});
  const auto ours = position(missiles, [](std::string_view name) -> std::unique_ptr<Model> {
    return std::make_unique<WithoutRates>(models::make_built_in_model(name));
  });
  EXPECT_LT(reproducing::percent_error(ours, exact), 3.1e-4);
  auto without_linearization = missiles;
  for (auto& subsystem : without_linearization.subsystems) subsystem.linearization = {false, {}};
  // An output that is no state is then continued from its past: a thousandth of what jacobi has, 5.8 %.
  EXPECT_LT(reproducing::percent_error(position(without_linearization), exact), 5.8e-3);
}

}  // namespace missiles_without_rates_test
}  // namespace entrain
