#include "trials/identified_step.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/polynomial.hpp"

namespace entrain::trials {
namespace {

// What a model has learned weighs this much less with each step: for what stays as it is, and for what bends.
constexpr double kSlow = 0.98;
constexpr double kFast = 0.7;
constexpr double kNewest = 0.3;          // weight of the latest step in the mean square of the errors
constexpr double kClearlyBetter = 0.25;  // of a mean square: another way takes over
constexpr std::uint64_t kLeastRows = 3;  // of a model that may be chosen
constexpr std::size_t kMostOfFast = 6;   // coefficients, of a model that knows a few steps only
constexpr std::uint64_t kLeastRowsOfFast = 4;
constexpr double kWorthLearning = 1e-8;   // of the range of an output: a smaller error changes no coefficient
constexpr double kGoodEnough = 1e-8;      // of the range of an output: a model with this error stays in use
constexpr double kLinear = 1e-5;          // of the range: the error of a model where the subsystem is linear
constexpr double kLikeKnown = 0.25;       // of a gain: the difference to that at the start
constexpr double kMostGrowth = 4.0;       // of outputs without inputs, per step: the model is not believed
constexpr std::uint64_t kPoorSteps = 12;  // without any use of the models: they are begun anew
constexpr double kUnknown = HUGE_VAL;

void take_in(double& mean_square, double error) {
  const double square = error * error;
  mean_square = mean_square == kUnknown ? square : (1.0 - kNewest) * mean_square + kNewest * square;
  if (std::isnan(mean_square)) mean_square = kUnknown;
}

}  // namespace

bool IdentifiedStep::is_possible(const Ports& ports) {
  return ports.outputs > 0 && ports.inputs > 0 && coupling::is_identifiable(ports.outputs, ports.inputs);
}

IdentifiedStep::IdentifiedStep(Ports ports) : ports_(std::move(ports)) {
  const auto add = [&](std::initializer_list<int> orders, double forgetting, std::size_t most = kMostCoefficients) {
    for (const int order : orders) {
      if (numerics::StepModel::size(ports_.outputs, ports_.inputs, order) > most) break;
      models_.emplace_back(ports_.outputs, ports_.inputs, order, forgetting);
    }
  };
  add({1, 2, 3}, kSlow);
  first_fast_ = models_.size();
  add({1, 2}, kFast, kMostOfFast);
  first_fixed_ = models_.size();
  if (!ports_.direct.empty()) add({1, 2}, kSlow);
  if (!ports_.direct.empty()) {
    for (auto& model : models_) model.assume(ports_.direct);
  }
  predictions_.resize(models_.size());
  free_.assign(ports_.outputs, 0.0);
  free_slopes_.assign(ports_.outputs, 0.0);
  value_gains_.assign(kOrders * ports_.outputs * ports_.inputs, 0.0);
  last_gains_ = value_gains_;
  direct_.assign(ports_.outputs * ports_.inputs, 0.0);
  model_direct_ = direct_;
  memory_.past = numerics::BoxHistory(ports_.outputs, ports_.inputs);
  memory_.met.assign(numerics::BoxHistory::kMost * ports_.outputs, 0.0);
  memory_.errors.assign(ports_.outputs * ways(), kUnknown);
  memory_.choice.assign(ports_.outputs, 0);
  memory_.low.assign(ports_.outputs, HUGE_VAL);
  memory_.high.assign(ports_.outputs, -HUGE_VAL);
  memory_.missed.assign(2 * ports_.outputs, 0.0);
  for (std::size_t at = 0; at < ports_.direct.size(); ++at) {
    if (ports_.direct[at] != 0.0) memory_.choice[at / ports_.inputs] = static_cast<std::uint8_t>(first_fixed_ + 1);
  }
}

std::optional<Time> IdentifiedStep::at() const {
  return memory_.past.count > 0 ? std::optional(memory_.past.times[0]) : std::nullopt;
}

void IdentifiedStep::observe(const Here& here) {
  if (at() == here.t) return;
  for (std::size_t o = 0; o < ports_.outputs; ++o) {
    memory_.low[o] = std::min(memory_.low[o], here.raw[o]);
    memory_.high[o] = std::max(memory_.high[o], here.raw[o]);
  }
  if (memory_.past.count > 0 && here.t > memory_.past.times[0]) {
    const Duration size = here.t - memory_.past.times[0];
    judge(here, size);
    choose(size);
    give_up_if_useless();
  }
  push(here.t, here.held, here.raw, here.outputs);
}

void IdentifiedStep::push(Time t, std::span<const double> held, std::span<const double> raw,
                          std::span<const double> outputs) {
  memory_.past.push(t, raw, held);
  std::copy_backward(memory_.met.begin(), memory_.met.end() - static_cast<std::ptrdiff_t>(ports_.outputs),
                     memory_.met.end());
  std::copy(outputs.begin(), outputs.end(), memory_.met.begin());
}

void IdentifiedStep::go_to(const Position& position) {
  memory_.past = position.past;
  memory_.met = position.met;
}

void IdentifiedStep::pass(Duration size, std::span<const double> held, std::span<const double> raw,
                          std::span<const double> outputs) {
  push(memory_.past.times[0] + size, held, raw, outputs);
}

/// What each way would have predicted of the step that was made; then the models learn from it.
void IdentifiedStep::judge(const Here& here, Duration size) {
  ++memory_.steps;
  for (std::size_t o = 0; o < ports_.outputs; ++o) {
    if (here.continued.empty()) break;
    const double miss = here.raw[o] - here.continued[o];
    take_in(error(o, 0), miss);
    memory_.missed[2 * o + 1] += miss * miss;
    if (memory_.choice[o] == 0) memory_.missed[2 * o] += miss * miss;
  }
  for (std::size_t m = 0; m < models_.size(); ++m) {
    auto& model = models_[m];
    if (!model.can_predict(memory_.past)) continue;
    auto& prediction = predictions_[m];
    model.predict(memory_.past, size, prediction);
    const bool fixed = m >= first_fixed_;
    const bool judged = fixed || model.rows() >= (m >= first_fast_ ? kLeastRowsOfFast : kLeastRows);
    bool learns = model.rows() < kLeastRows;
    for (std::size_t o = 0; o < ports_.outputs; ++o) {
      double miss = here.raw[o] - prediction.free[o];
      for (std::size_t j = 0; j < ports_.inputs; ++j) miss -= prediction.gains[o * ports_.inputs + j] * here.held[j];
      if (judged) take_in(error(o, m + 1), miss);
      if (memory_.choice[o] == m + 1) memory_.missed[2 * o] += miss * miss;
      learns = learns || !(std::abs(miss) <= kWorthLearning * (memory_.high[o] - memory_.low[o]));
    }
    if (learns && !fixed) model.learn(memory_.past, size, here.held, here.raw, true);
  }
}

void IdentifiedStep::choose(Duration size) {
  for (std::size_t o = 0; o < ports_.outputs; ++o) {
    const std::size_t now = memory_.choice[o];
    const double good = kGoodEnough * (memory_.high[o] - memory_.low[o]);
    if (now > 0 && error(o, now) <= good * good) continue;
    std::size_t best = now;
    for (std::size_t way = 0; way < ways(); ++way) {
      if (error(o, way) < error(o, best)) best = way;
    }
    if (best == now || !(error(o, best) < kClearlyBetter * error(o, now))) continue;
    if (best > 0 && !(models_[best - 1].growth(size) <= kMostGrowth)) {
      ++memory_.unstable;
      continue;
    }
    memory_.choice[o] = static_cast<std::uint8_t>(best);
  }
  const bool any = std::any_of(memory_.choice.begin(), memory_.choice.end(), [](auto way) { return way > 0; });
  if (any) ++memory_.used;
  memory_.poor = any ? 0 : memory_.poor + 1;
}

/// The equations may have become others: what was learned of the old ones is in the way.
void IdentifiedStep::give_up_if_useless() {
  if (memory_.poor < kPoorSteps) return;
  memory_.poor = 0;
  for (auto& model : models_) model.forget();
  for (std::size_t o = 0; o < ports_.outputs; ++o) {
    for (std::size_t way = 1; way < ways(); ++way) error(o, way) = kUnknown;
  }
}

/// The value at the end of what is handed over for s^p: in parts, of the degree that the subsystem takes.
void IdentifiedStep::find_ends(Duration size) {
  const Duration part = size / ports_.parts;
  for (std::size_t p = 0; p < kOrders; ++p) {
    std::array<double, kOrders> polynomial{};
    polynomial[p] = 1.0;
    const numerics::PolynomialBlock block{polynomial.data(), 1, kMaxInputDegree};
    if (ports_.input_degree >= kMaxInputDegree) {
      ends_[p] = std::pow(size, static_cast<double>(p));
      continue;
    }
    numerics::shift_origin(block, size - part);
    numerics::project(block, ports_.input_degree, part);
    double end = 0.0;
    for (int k = ports_.input_degree; k >= 0; --k) end = end * part + polynomial[static_cast<std::size_t>(k)];
    ends_[p] = end;
  }
}

/// Predicted so well that its equations have not changed: what was known of feedthrough at the start still holds, while
/// the models cannot tell a position from its slope in the long run.
bool IdentifiedStep::seems_linear(std::size_t output) const {
  const double good = kLinear * (memory_.high[output] - memory_.low[output]);
  return memory_.errors[output * ways() + memory_.choice[output]] <= good * good;
}

void IdentifiedStep::find_direct(Duration size) {
  std::fill(direct_.begin(), direct_.end(), 0.0);
  if (!ports_.feedthrough.any()) return;
  for (std::size_t m = 0; m < models_.size(); ++m) {
    const auto chosen = static_cast<std::uint8_t>(m + 1);
    if (std::find(memory_.choice.begin(), memory_.choice.end(), chosen) == memory_.choice.end()) continue;
    models_[m].direct_gains(size, model_direct_);
    for (std::size_t o = 0; o < ports_.outputs; ++o) {
      for (std::size_t j = 0; j < ports_.inputs; ++j) {
        const std::size_t at = o * ports_.inputs + j;
        if (memory_.choice[o] != chosen || !ports_.feedthrough(o, j)) continue;
        direct_[at] = model_direct_[at];
        if (ports_.direct.empty() || !seems_linear(o)) continue;
        const double known = ports_.direct[at];
        if (std::abs(direct_[at] - known) <= kLikeKnown * std::abs(known)) direct_[at] = known;
      }
    }
  }
}

/// Of the slope at the end of two steps, of the polynomial through three values; the second step is 0 where only two
/// are known.
IdentifiedStep::SlopeWeights IdentifiedStep::slope_weights(double first, double second) const {
  if (second == 0.0) return {1.0 / first, -1.0 / first, 0.0};
  const double both = first + second;
  return {1.0 / first + 1.0 / both, -both / (first * second), first / (second * both)};
}

void IdentifiedStep::set_step(const Ahead& ahead) {
  const Duration h = ahead.size;
  const auto& past = memory_.past;
  find_ends(h);
  find_direct(h);
  for (std::size_t m = 0; m < models_.size(); ++m) {
    if (models_[m].can_predict(past)) models_[m].predict(past, h, predictions_[m]);
  }
  const SlopeWeights weights = slope_weights(h, past.count > 1 ? past.times[0] - past.times[1] : 0.0);
  slope_factor_ = weights.end;
  std::fill(value_gains_.begin(), value_gains_.end(), 0.0);
  for (std::size_t o = 0; o < ports_.outputs; ++o) {
    free_[o] = ahead.continued[o];
    free_slopes_[o] = ahead.continued_slopes[o];
    const std::size_t way = memory_.choice[o];
    if (way == 0 || !models_[way - 1].can_predict(past)) continue;
    const auto& prediction = predictions_[way - 1];
    free_[o] = prediction.free[o];
    free_slopes_[o] = weights.end * free_[o] + weights.here * memory_.met[o];
    if (past.count > 1) free_slopes_[o] += weights.before * memory_.met[ports_.outputs + o];
    for (std::size_t j = 0; j < ports_.inputs; ++j) {
      const std::size_t at = o * ports_.inputs + j;
      double power = 1.0;
      for (std::size_t p = 0; p < kOrders; ++p) {
        value_gains_[place(o, static_cast<int>(p), j)] =
            (prediction.gains[at] - direct_[at]) * ends_[p] + direct_[at] * power;
        power *= h;
      }
    }
  }
  if (value_gains_ == last_gains_) return;
  last_gains_ = value_gains_;
  ++revision_;
}

void IdentifiedStep::estimate(const InputBlock& inputs, std::span<double> y, std::span<double> dy) const {
  for (std::size_t o = 0; o < ports_.outputs; ++o) {
    double sum = 0.0;
    for (int p = 0; p <= inputs.degree(); ++p) {
      const auto order = inputs.order(p);
      for (std::size_t j = 0; j < ports_.inputs; ++j) sum += value_gain(o, p, j) * order[j];
    }
    y[o] = free_[o] + sum;
    dy[o] = free_slopes_[o] + (memory_.choice[o] == 0 ? 0.0 : slope_factor_ * sum);
  }
}

void IdentifiedStep::slopes_here(std::span<double> dy) const {
  const auto& past = memory_.past;
  if (past.count < 2) return;
  const auto weights =
      slope_weights(past.times[0] - past.times[1], past.count > 2 ? past.times[1] - past.times[2] : 0.0);
  for (std::size_t o = 0; o < ports_.outputs; ++o) {
    if (memory_.choice[o] == 0) continue;
    dy[o] = weights.end * memory_.met[o] + weights.here * memory_.met[ports_.outputs + o];
    if (past.count > 2) dy[o] += weights.before * memory_.met[2 * ports_.outputs + o];
  }
}

void IdentifiedStep::correct(const Made& made, std::span<double> outputs) const {
  if (made.gap.empty()) return;
  for (std::size_t o = 0; o < ports_.outputs; ++o) {
    for (std::size_t j = 0; j < ports_.inputs; ++j) outputs[o] += direct_gain(o, j) * made.gap[j];
  }
}

void IdentifiedStep::forget_past() {
  memory_.past.count = 0;
}

PredictionQuality IdentifiedStep::quality() const {
  PredictionQuality quality;
  if (memory_.used == 0) return quality;
  const auto steps = static_cast<double>(memory_.steps);
  for (std::size_t o = 0; o < ports_.outputs; ++o) {
    const double range = memory_.high[o] - memory_.low[o];
    if (!(range > 0.0)) continue;
    quality.error = std::max(quality.error, std::sqrt(memory_.missed[2 * o] / steps) / range);
    quality.continued = std::max(quality.continued, std::sqrt(memory_.missed[2 * o + 1] / steps) / range);
    if (memory_.choice[o] == 0) continue;
    quality.order = std::max(quality.order, static_cast<double>(models_[memory_.choice[o] - 1U].order()));
  }
  quality.used = static_cast<double>(memory_.used);
  quality.steps = steps;
  quality.unstable = static_cast<double>(memory_.unstable);
  return quality;
}

void IdentifiedStep::restore(std::span<const std::byte> bytes) {
  base::ByteReader reader(bytes);
  reader(memory_);
  std::vector<numerics::StepModel::Memory> models(models_.size());
  reader(models);
  for (std::size_t m = 0; m < models_.size(); ++m) models_[m].restore(models[m]);
  std::fill(last_gains_.begin(), last_gains_.end(), 0.0);
  ++revision_;
}

}  // namespace entrain::trials
