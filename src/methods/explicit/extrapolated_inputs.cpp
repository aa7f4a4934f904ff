#include "methods/explicit/extrapolated_inputs.hpp"

#include <algorithm>
#include <array>

#include "numerics/polynomial.hpp"

namespace entrain::method {

void ExtrapolatedInputs::start(const CoupledSystem& system, Settings settings) {
  settings_ = settings;
  plain_hold_ = settings_.degree == 0 && settings_.filter == nullptr;
  histories_.assign(plain_hold_ ? 0 : system.graph().inputs(), {});
  if (!settings_.constant_history) return;
  for (std::size_t i = 0; i < histories_.size(); ++i) {
    auto& history = histories_[i];
    history.count = static_cast<std::size_t>(settings_.degree) + 1;
    history.value.fill(system.incoming(InputId{i}));
    // From the start on: a subsystem that is called after its source gets a sample one macro step later than these, the
    // others replace the newest.
    for (std::size_t m = 0; m < history.count; ++m) history.at[m] = -static_cast<double>(m);
  }
}

void ExtrapolatedInputs::seed(const std::function<double(InputId, int)>& value) {
  for (std::size_t i = 0; i < histories_.size(); ++i) {
    auto& history = histories_[i];
    history.count = static_cast<std::size_t>(settings_.degree);
    for (std::size_t m = 0; m < history.count; ++m) {
      history.value[m] = value(InputId{i}, static_cast<int>(m) + 1);
      history.at[m] = -static_cast<double>(m + 1);
    }
  }
}

void ExtrapolatedInputs::take_sample(InputId input, double value, double at) {
  History& history = histories_[input];
  if (settings_.filter != nullptr && history.count > 0) {
    value = settings_.filter->filtered(input, history.value[0], value);
  }
  if (history.count == 0 || at > history.at[0]) {  // else the source has not moved: the sample is replaced
    const std::size_t kept = std::min(history.count, static_cast<std::size_t>(settings_.degree));
    for (std::size_t m = kept; m > 0; --m) {
      history.value[m] = history.value[m - 1];
      history.at[m] = history.at[m - 1];
    }
    history.count = kept + 1;
  }
  history.value[0] = value;
  history.at[0] = at;
}

int ExtrapolatedInputs::prepare(CoupledSystem& system, SubsystemId s, double now, const Sources& sources) {
  const auto inputs = system.graph().inputs_of(s);
  const auto has_jumped = [&](InputId input) {
    if (sources.jumped.empty()) return false;
    const Connection* connection = system.graph().source(input);
    return connection != nullptr && sources.jumped[system.graph().owner(connection->output)] != 0;
  };
  if (plain_hold_) {
    const auto held = system.coefficients(s, 0, 0);
    for (const InputId input : inputs) {
      if (!has_jumped(input)) held[input - inputs.first] = system.incoming(input);  // else as it was
    }
    return 0;
  }
  int degree = 0;
  for (const InputId input : inputs) {
    const Connection* connection = system.graph().source(input);
    const double at = connection != nullptr ? sources.sample_at[system.graph().owner(connection->output)] : now;
    if (!has_jumped(input)) {
      take_sample(input, system.incoming(input), at);
    } else if (histories_[input].count == 0) {
      take_sample(input, system.inputs()[input], now);
    }
    degree = std::max(degree, static_cast<int>(histories_[input].count) - 1);
  }
  for (const InputId input : inputs) {
    const auto& history = histories_[input];
    std::array<double, kSamples> nodes{};  // in units from the start of this step
    for (std::size_t m = 0; m < history.count; ++m) nodes[m] = history.at[m] - now;
    std::array<double, kSamples> by_steps{};
    numerics::interpolate({nodes.data(), history.count}, {history.value.data(), history.count},
                          {by_steps.data(), history.count});
    double scale = 1.0;
    for (int p = 0; p <= degree; ++p, scale /= settings_.unit) {
      system.coefficients(s, degree, p)[input - inputs.first] = by_steps[static_cast<std::size_t>(p)] * scale;
    }
  }
  return degree;
}

void ExtrapolatedInputs::cut_history(const CoupledSystem& system, SubsystemId source) {
  if (plain_hold_) return;
  for (const auto& connection : system.graph().connections()) {
    if (system.graph().owner(connection.output) == source) histories_[connection.input].count = 0;
  }
}

void ExtrapolatedInputs::cut_constants(const CoupledSystem& system) {
  for (std::size_t i = 0; i < histories_.size(); ++i) {
    if (system.graph().source(InputId{i}) == nullptr) histories_[i].count = 0;
  }
}

}  // namespace entrain::method
