#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "entrain/simulation.hpp"
#include "subsystem/native/linear_model.hpp"
#include "subsystem/native/model_support.hpp"
#include "subsystem/native/native_subsystem.hpp"

namespace entrain::test {

/// x'' + 2 damping omega x' + omega^2 x = sum of gain * x of other oscillators. Output x, if it has an output.
struct Oscillator {
  struct Source {
    std::size_t from;
    double gain;
  };
  double omega = 1.0;
  double damping = 0.2;
  double position = 1.0;
  double velocity = 0.0;
  std::vector<Source> sources = {};
  std::optional<double> step = {};  ///< imposed
  double offset = 0.0;
  int input_degree = 3;
  bool has_output = true;
  bool rollback = true;
  bool states = true;
  std::optional<double> min_step = {};
  std::optional<double> max_step = {};
  std::optional<double> initial_step = {};
  std::vector<double> events = {};  ///< announced times, at which nothing happens
};
using Network = std::vector<Oscillator>;

class OscillatorModel final : public subsystem::LinearModel {
 public:
  explicit OscillatorModel(const Oscillator& oscillator) : LinearModel(table(oscillator)), oscillator_(oscillator) {}
  void configure(std::span<const Value>) override {
    const std::size_t inputs = oscillator_.sources.size();
    const std::size_t outputs = oscillator_.has_output ? 1 : 0;
    Linearization l{Matrix(2, 2), Matrix(2, inputs), Matrix(outputs, 2), Matrix(outputs, inputs)};
    l.A(0, 1) = 1.0;
    l.A(1, 0) = -oscillator_.omega * oscillator_.omega;
    l.A(1, 1) = -2.0 * oscillator_.damping * oscillator_.omega;
    for (std::size_t i = 0; i < inputs; ++i) l.B(1, i) = oscillator_.sources[i].gain;
    if (oscillator_.has_output) l.C(0, 0) = 1.0;
    set_matrices(std::move(l));
  }

 private:
  static VariableTable table(const Oscillator& oscillator) {
    VariableTable result;
    for (std::size_t i = 0; i < oscillator.sources.size(); ++i) {
      result.inputs.push_back(subsystem::real("u" + std::to_string(i), "", ""));
    }
    if (oscillator.has_output) result.outputs = {subsystem::real("x", "", "")};
    result.states = {subsystem::real("x", "", "", oscillator.position),
                     subsystem::real("v", "", "", oscillator.velocity)};
    return result;
  }
  Oscillator oscillator_;
};

inline ModelFactory models_of(const Network& network) {
  return [network](std::string_view name) -> std::unique_ptr<Model> {
    std::size_t index = 0;
    std::from_chars(name.data(), name.data() + name.size(), index);
    return std::make_unique<OscillatorModel>(network[index]);
  };
}

/// Subsystem k is "sK".
inline SystemDescription description_of(const Network& network, double stop) {
  SystemDescription description;
  description.name = "oscillators";
  description.method.value = "jacobi";
  description.stop = {stop, {}};
  for (std::size_t s = 0; s < network.size(); ++s) {
    auto& subsystem = description.subsystems.emplace_back();
    subsystem.name = "s" + std::to_string(s);
    subsystem.model = std::to_string(s);
    subsystem.input_degree = Written<std::int64_t>{network[s].input_degree, {}};
    if (!network[s].rollback) subsystem.rollback = Written<bool>{false, {}};
    if (!network[s].states) subsystem.states = Written<bool>{false, {}};
    const auto write = [](std::optional<Written<double>>& field, const std::optional<double>& value) {
      if (value) field = Written<double>{*value, {}};
    };
    write(subsystem.step, network[s].step);
    write(subsystem.min_step, network[s].min_step);
    write(subsystem.max_step, network[s].max_step);
    write(subsystem.initial_step, network[s].initial_step);
    if (network[s].offset > 0.0) subsystem.step_offset = Written<double>{network[s].offset, {}};
    if (!network[s].events.empty()) subsystem.events = Written<std::vector<double>>{network[s].events, {}};
    for (std::size_t i = 0; i < network[s].sources.size(); ++i) {
      description.connections.push_back({"s" + std::to_string(network[s].sources[i].from) + ".x",
                                         "s" + std::to_string(s) + ".u" + std::to_string(i),
                                         {}});
    }
  }
  return description;
}

/// What the oscillators sent, each at its own times.
struct Sent {
  std::vector<std::vector<Time>> times;     // by oscillator, with the start
  std::vector<std::vector<double>> values;  // x
};

/// The motion without any coupling error: all equations by one integrator, fine enough for 1e-9.
class ExactMotion {
 public:
  ExactMotion(const Network& network, double stop) : network_(network) {
    std::vector<double> x;
    for (const auto& oscillator : network) x.insert(x.end(), {oscillator.position, oscillator.velocity});
    states_.push_back(x);
    for (double t = 0.0; t < stop + kStep; t += kStep) states_.push_back(stepped(states_.back(), kStep));
  }
  double position(std::size_t oscillator, Time t) const {
    const auto before = static_cast<std::size_t>(t / kStep);
    return stepped(states_[before], t - static_cast<double>(before) * kStep)[2 * oscillator];
  }
  /// Largest root mean square over an oscillator's times, of all oscillators.
  double error_of(const Sent& sent) const {
    double worst = 0.0;
    for (std::size_t s = 0; s < network_.size(); ++s) {
      double sum = 0.0;
      for (std::size_t k = 0; k < sent.times[s].size(); ++k) {
        sum += std::pow(sent.values[s][k] - position(s, sent.times[s][k]), 2);
      }
      worst = std::max(worst, std::sqrt(sum / static_cast<double>(sent.times[s].size())));
    }
    return worst;
  }

 private:
  static constexpr double kStep = 2e-3;
  using State = std::vector<double>;

  State rates(const State& x) const {
    State dx(x.size());
    for (std::size_t s = 0; s < network_.size(); ++s) {
      const auto& o = network_[s];
      dx[2 * s] = x[2 * s + 1];
      dx[2 * s + 1] = -o.omega * o.omega * x[2 * s] - 2.0 * o.damping * o.omega * x[2 * s + 1];
      for (const auto& source : o.sources) dx[2 * s + 1] += source.gain * x[2 * source.from];
    }
    return dx;
  }
  State stepped(const State& x, double h) const {  // classical Runge-Kutta
    const auto ahead = [&](const State& slope, double by) {
      State result = x;
      for (std::size_t i = 0; i < x.size(); ++i) result[i] += by * slope[i];
      return result;
    };
    const State a = rates(x);
    const State b = rates(ahead(a, h / 2));
    const State c = rates(ahead(b, h / 2));
    const State d = rates(ahead(c, h));
    State result = x;
    for (std::size_t i = 0; i < x.size(); ++i) result[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
    return result;
  }

  Network network_;
  std::vector<State> states_;
};

/// The same communication times with held inputs, by hand.
inline Sent held_on(const Network& network, const std::vector<std::vector<Time>>& schedule) {
  const std::size_t size = network.size();
  std::vector<std::unique_ptr<Subsystem>> subsystems;
  std::vector<double> outputs(size);
  Sent sent{schedule, std::vector<std::vector<double>>(size)};
  for (std::size_t s = 0; s < size; ++s) {
    subsystems.push_back(subsystem::make_native_subsystem("s", std::make_unique<OscillatorModel>(network[s])));
    subsystems[s]->initialize(0.0, 1e9);
    outputs[s] = network[s].position;
    sent.values[s].push_back(outputs[s]);
  }
  std::vector<std::vector<double>> inputs(size);
  const auto hold = [&](std::size_t s) {
    inputs[s].clear();
    for (const auto& source : network[s].sources) inputs[s].push_back(outputs[source.from]);
  };
  for (std::size_t s = 0; s < size; ++s) hold(s);
  std::vector<std::size_t> next(size, 1);
  for (;;) {
    Time now = kNever;
    for (std::size_t s = 0; s < size; ++s) {
      if (next[s] < schedule[s].size()) now = std::min(now, schedule[s][next[s]]);
    }
    if (now == kNever) return sent;
    std::vector<std::size_t> due;
    for (std::size_t s = 0; s < size; ++s) {
      if (next[s] < schedule[s].size() && schedule[s][next[s]] == now) due.push_back(s);
    }
    for (const std::size_t s : due) {
      const Time from = schedule[s][next[s]++ - 1];
      std::vector<double> state(2);
      (void)subsystems[s]->step({from, now - from, {inputs[s].data(), inputs[s].size(), 0}},
                                std::span(state).first(network[s].has_output ? 1 : 0));
      subsystems[s]->facets().states->states(state);
      sent.values[s].push_back(outputs[s] = state[0]);
    }
    for (const std::size_t s : due) hold(s);
  }
}

}  // namespace entrain::test
