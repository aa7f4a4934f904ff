#include "trials/surrogate_step.hpp"

#include <algorithm>
#include <cmath>

#include "coupling/trial_kind.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::trials {

std::optional<Fact> note_of(const PredictionQuality& quality, const coupling::EstimatorChoice& choice,
                            const std::string& subsystem) {
  if (choice.source == coupling::EstimatorChoice::Source::Named) {
    return Fact{FactCode::StepsByEstimator, {subsystem}, {{"estimator", choice.name}, {"error", quality.error}}};
  }
  if (quality.used == 0.0) return std::nullopt;
  Fact fact{FactCode::StepsIdentified,
            {subsystem},
            {{"order", quality.order},
             {"error", quality.error},
             {"continued", quality.continued},
             {"used", quality.used},
             {"steps", quality.steps}}};
  if (quality.unstable > 0.0) fact.values.emplace_back("unstable", quality.unstable);
  return fact;
}

void SurrogateMisses::compare(std::span<const double> outputs) {
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    low[o] = std::min(low[o], outputs[o]);
    high[o] = std::max(high[o], outputs[o]);
    if (expected.empty()) continue;
    const double miss = outputs[o] - expected[o];
    missed[o] += miss * miss;
  }
  if (!expected.empty()) ++steps;
  expected.clear();
}

PredictionQuality SurrogateMisses::quality() const {
  double error = 0.0;
  for (std::size_t o = 0; o < missed.size(); ++o) {
    const double range = high[o] - low[o];
    if (range > 0.0 && steps > 0) error = std::max(error, std::sqrt(missed[o] / static_cast<double>(steps)) / range);
  }
  return {.error = error};
}

SurrogateStep::SurrogateStep(std::unique_ptr<StepEstimator> estimator, std::size_t outputs, std::size_t inputs)
    : estimator_(std::move(estimator)),
      outputs_(outputs),
      inputs_(inputs),
      value_gains_(kOrders * outputs * inputs, 0.0),
      slope_gains_(value_gains_),
      changed_(value_gains_) {
  memory_.held.assign(inputs, 0.0);
  memory_.misses = SurrogateMisses(outputs);
}

void SurrogateStep::observe(const Here& here) {
  if (at() == here.t) return;
  memory_.misses.compare(here.raw);
  memory_.t = here.t;
  memory_.observed = true;
  std::copy(here.held.begin(), here.held.end(), memory_.held.begin());
  estimator_->observe({here.t, here.held, here.raw});
  size_ = 0.0;
}

void SurrogateStep::set_step(const Ahead& ahead) {
  if (ahead.size == size_) return;
  size_ = ahead.size;
  std::vector<double> coefficients(kOrders * inputs_, 0.0);
  std::copy(memory_.held.begin(), memory_.held.end(), coefficients.begin());
  const InputBlock inputs(coefficients.data(), inputs_, kMaxInputDegree);
  std::vector<double> base(outputs_), base_slopes(outputs_), y(outputs_), dy(outputs_);
  estimator_->estimate(size_, inputs, base, base_slopes);
  changed_ = value_gains_;
  for (std::size_t j = 0; j < inputs_; ++j) {
    double power = 1.0;
    for (int p = 0; p <= kMaxInputDegree; ++p) {
      double& coefficient = coefficients[static_cast<std::size_t>(p) * inputs_ + j];
      const double before = coefficient;
      const double change = coupling::kInputDifference * std::max(1.0, std::abs(memory_.held[j])) / power;
      coefficient += change;
      estimator_->estimate(size_, inputs, y, dy);
      for (std::size_t o = 0; o < outputs_; ++o) {
        value_gains_[place(o, p, j)] = (y[o] - base[o]) / change;
        slope_gains_[place(o, p, j)] = (dy[o] - base_slopes[o]) / change;
      }
      coefficient = before;
      power *= size_;
    }
  }
  if (changed_ != value_gains_) ++revision_;
}

void SurrogateStep::estimate(const InputBlock& inputs, std::span<double> y, std::span<double> dy) const {
  estimator_->estimate(size_, inputs, y, dy);
}

/// By the difference of what the estimator makes of both inputs, and only where the step was handed over in one part.
void SurrogateStep::correct(const Made& made, std::span<double> outputs) const {
  if (made.last_part != made.size) return;
  std::vector<double> meant(outputs_), slopes(outputs_);
  auto& expected = memory_.misses.expected;
  expected.resize(outputs_);
  estimator_->estimate(made.size, made.handed, expected, slopes);
  if (made.gap.empty()) return;
  estimator_->estimate(made.size, made.meant, meant, slopes);
  for (std::size_t o = 0; o < outputs_; ++o) outputs[o] += meant[o] - expected[o];
}

void SurrogateStep::forget_past() {
  memory_.observed = false;
  memory_.misses.expected.clear();
  estimator_->forget_past();
}

void SurrogateStep::restore(std::span<const std::byte> bytes) {
  std::vector<std::byte> own;
  base::from_bytes(bytes, memory_, own);
  estimator_->restore(own);
  size_ = 0.0;
  ++revision_;
}

}  // namespace entrain::trials
