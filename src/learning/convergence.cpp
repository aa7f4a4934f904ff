#include "learning/convergence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "numerics/exponential.hpp"
#include "numerics/learning_gain.hpp"
#include "numerics/linear_fit.hpp"

namespace entrain {
namespace {

constexpr std::size_t kMostStates = 40;  // beyond, the estimate costs more than the runs
constexpr std::size_t kMostWires = 10;
constexpr std::size_t kPilotSteps = 400;  // enough for a few periods of what the step resolves
constexpr double kFitTolerance = 1e-9;    // of a step that is called linear

/// The states and inputs of all subsystems in the first steps.
class Pilot : public Observer {
 public:
  /// The system is asked anew each time: a run may make it anew.
  explicit Pilot(RepeatedRun& run) : run_(run), now_(run.system().states()) {}
  void communicated(const Sample&, const RunSummary& summary) override {
    run_.system().read_states(now_);
    states_.insert(states_.end(), now_.begin(), now_.end());
    if (summary.macro_steps == 0) return;
    const auto inputs = run_.system().inputs();
    inputs_.insert(inputs_.end(), inputs.begin(), inputs.end());
    ++steps_;
  }

  /// x(k+1) = [A B rest] (x(k), u(k), 1) of one subsystem, as one matrix with a column per state; nullopt when its
  /// steps are not so.
  std::optional<Matrix> fitted_step(SubsystemId s) const {
    const Graph& graph = run_.system().graph();
    const auto states = run_.system().states_of(s);
    const auto inputs = graph.inputs_of(s);
    Matrix samples(steps_, states.count + inputs.count + 1);
    Matrix targets(steps_, states.count);
    for (std::size_t k = 0; k < steps_; ++k) {
      const double* x = states_.data() + k * now_.size() + states.first;
      const double* u = inputs_.data() + k * graph.inputs() + inputs.first;
      for (std::size_t i = 0; i < states.count; ++i) {
        samples(k, i) = x[i];
        targets(k, i) = x[now_.size() + i];
      }
      for (std::size_t i = 0; i < inputs.count; ++i) samples(k, states.count + i) = u[i];
      samples(k, states.count + inputs.count) = 1.0;
    }
    return linear_fit(samples, targets, kFitTolerance);
  }

 private:
  RepeatedRun& run_;
  std::vector<double> now_, states_, inputs_;
  std::size_t steps_ = 0;
};

/// All subsystems side by side: x(k+1) = A x + B u, y = C x + D u.
struct Whole {
  Matrix A, B, C, D;
  std::size_t fitted = 0;  // subsystems whose step was fitted
};

void place(Matrix& into, const Matrix& block, std::size_t row, std::size_t col) {
  for (std::size_t i = 0; i < block.rows; ++i) {
    for (std::size_t j = 0; j < block.cols; ++j) into(row + i, col + j) = block(i, j);
  }
}

/// Columns `first` .. of the rows of `fit`, transposed: how the states follow what these rows belong to.
Matrix part_of_fit(const Matrix& fit, std::size_t first, std::size_t count) {
  Matrix result(fit.cols, count);
  for (std::size_t i = 0; i < fit.cols; ++i) {
    for (std::size_t j = 0; j < count; ++j) result(i, j) = fit(first + j, i);
  }
  return result;
}

Whole whole_system(CoupledSystem& system, const Pilot& pilot, Duration step) {
  const Graph& graph = system.graph();
  Whole whole{Matrix(system.states(), system.states()), Matrix(system.states(), graph.inputs()),
              Matrix(graph.outputs(), system.states()), Matrix(graph.outputs(), graph.inputs())};
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    Linearization here;
    system.linearize_all(std::span(&id, 1), std::span(&here, 1));
    const auto states = system.states_of(id);
    const auto inputs = graph.inputs_of(id);
    if (const auto fit = pilot.fitted_step(id)) {
      place(whole.A, part_of_fit(*fit, 0, states.count), states.first, states.first);
      place(whole.B, part_of_fit(*fit, states.count, inputs.count), states.first, inputs.first);
      ++whole.fitted;
    } else {
      const PhiBlocks exact = exact_step_matrices(here.A, here.B, step, 0);
      place(whole.A, exact.exponential, states.first, states.first);
      place(whole.B, exact.gamma[0], states.first, inputs.first);
    }
    place(whole.C, here.C, graph.outputs_of(id).first, states.first);
    place(whole.D, here.D, graph.outputs_of(id).first, inputs.first);
  }
  return whole;
}

/// Every connection closed but the learned ones, which become the inputs v of the loop; the outputs behind them, as
/// they arrive, are its outputs r.
DelayedLoop opened_at(const Whole& whole, const Graph& graph, std::span<const LearnedWire> wires) {
  const std::size_t n = whole.A.rows;
  // How the inputs follow the states through the connections that stay closed: outputs without feedthrough.
  Matrix follow(graph.inputs(), n);
  for (const auto& connection : graph.connections()) {
    const bool learned = std::any_of(
        wires.begin(), wires.end(), [&](const LearnedWire& wire) { return wire.connection.input == connection.input; });
    if (learned) continue;
    for (std::size_t j = 0; j < n; ++j) {
      follow(connection.input, j) = connection.factor * whole.C(connection.output, j);
    }
  }
  DelayedLoop loop{Matrix(n, n), Matrix(n, wires.size()), Matrix(wires.size(), n), Matrix(wires.size(), wires.size())};
  const auto closed = [&](const Matrix& direct, const Matrix& by_input, std::size_t row, std::size_t col) {
    double sum = direct(row, col);
    for (std::size_t i = 0; i < graph.inputs(); ++i) sum += by_input(row, i) * follow(i, col);
    return sum;
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) loop.A(i, j) = closed(whole.A, whole.B, i, j);
    for (std::size_t w = 0; w < wires.size(); ++w) loop.B(i, w) = whole.B(i, wires[w].connection.input);
  }
  for (std::size_t w = 0; w < wires.size(); ++w) {
    const Connection& connection = wires[w].connection;
    for (std::size_t j = 0; j < n; ++j) {
      loop.C(w, j) = connection.factor * closed(whole.C, whole.D, connection.output, j);
    }
    for (std::size_t v = 0; v < wires.size(); ++v) {
      loop.D(w, v) = connection.factor * whole.D(connection.output, wires[v].connection.input);
    }
  }
  return loop;
}

/// Why there can be no estimate; empty = there can.
std::string obstacle(const CoupledSystem& system, std::span<const LearnedWire> wires) {
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& can = system.capabilities(SubsystemId{s});
    if (!can.states || !can.linearization) {
      return fmt::format("'{}' tells no linearization", system.graph().name(SubsystemId{s}));
    }
    if (can.imposed_step) return "steps of several sizes are not estimated";
  }
  if (std::any_of(wires.begin(), wires.end(), [](const LearnedWire& wire) { return !wire.late; })) {
    return "steps of several sizes are not estimated";
  }
  if (system.states() > kMostStates) return fmt::format("more than {} states", kMostStates);
  if (wires.size() > kMostWires) return fmt::format("more than {} learned connections", kMostWires);
  return {};
}

}  // namespace

ConvergenceEstimate estimate_convergence(RepeatedRun& run, std::span<const LearnedWire> wires,
                                         const LearnOptions& options) {
  ConvergenceEstimate result;
  if (const auto why = obstacle(run.system(), wires); !why.empty()) {
    result.notes.push_back("no estimate of the convergence: " + why);
    return result;
  }
  const auto& settings = run.settings();
  Pilot pilot(run);
  run.run(settings.start + static_cast<double>(kPilotSteps) * settings.step, nullptr, pilot);
  run.initialize();
  const Whole whole = whole_system(run.system(), pilot, settings.step);
  const auto gain =
      learning_gain(opened_at(whole, run.system().graph(), wires), {options.gain, options.cutoff * settings.step});
  result.gamma = gain.largest;
  result.radius = gain.radius;
  result.notes.push_back(fmt::format(
      "gamma = {:.8g}, largest at {:.4g} rad/s, from linearizations at the start and {}; {}", gain.largest,
      gain.angle / settings.step, whole.fitted == run.system().size() ? "the subsystems' own steps" : "exact steps",
      gain.largest < 1.0 && gain.radius < 1.0
          ? "every run is better than the one before, as far as the system is linear"
          : "the error of some runs may grow before it falls"));
  result.notes.push_back(
      fmt::format("without corrections the delayed loop has a spectral radius of {:.8g}", gain.radius));
  return result;
}

}  // namespace entrain
