#include "bench/fmus/cvode_pair.hpp"

#include <utility>
#include <vector>

#include "models/mass_pair.hpp"
#include "numerics/ode.hpp"

namespace entrain {
namespace {

class IntegratedByCvode final : public Model {
 public:
  explicit IntegratedByCvode(std::unique_ptr<Model> model)
      : model_(std::move(model)),
        solver_(model_->variables().states.size(),
                {.method = numerics::OdeMethod::Bdf, .relative_tolerance = 1e-10, .absolute_tolerance = 1e-10}),
        u_(model_->variables().inputs.size()) {}

  const VariableTable& variables() const noexcept override { return model_->variables(); }
  void configure(std::span<const Value> parameters) override { model_->configure(parameters); }
  Feedthrough feedthrough() const override { return model_->feedthrough(); }
  void derivatives(const Point& at, std::span<double> dx) const override { model_->derivatives(at, dx); }
  void outputs(const Point& at, std::span<double> y) const override { model_->outputs(at, y); }
  void linearize(const Point& at, Linearization& result) const override { model_->linearize(at, result); }
  void output_rates(const Point& at, std::span<double> dy) const override { model_->output_rates(at, dy); }
  void integrate(Time from, Duration size, const InputBlock& inputs, std::span<double> x) override {
    solver_.integrate(0.0, size, x, [&](Duration s, std::span<const double> at, std::span<double> dx) {
      for (std::size_t i = 0; i < u_.size(); ++i) u_[i] = inputs.value(i, s);
      model_->derivatives({from + s, at, u_, {}, {}}, dx);
    });
  }

 private:
  std::unique_ptr<Model> model_;
  numerics::OdeSolver solver_;
  std::vector<double> u_;
};

}  // namespace

std::unique_ptr<Model> make_cvode_left() {
  return std::make_unique<IntegratedByCvode>(models::make_mechanical_left());
}
std::unique_ptr<Model> make_cvode_right() {
  return std::make_unique<IntegratedByCvode>(models::make_mechanical_right());
}

}  // namespace entrain
