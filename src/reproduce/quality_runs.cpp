// Glumac, Kovacic, "Relative Consistency and Robust Stability Measures for Sequential Co-simulation" (2019): the
// figures that compare with runs, 2, 3 and 5. Verified values: docs/theory/quality.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "analysis/measures.hpp"
#include "analysis/stable_ranges.hpp"
#include "reproduce/curves.hpp"
#include "reproduce/entry.hpp"
#include "reproduce/measure.hpp"
#include "reproduce/quality_masters.hpp"

namespace entrain::reproducing {
namespace {

constexpr std::array kMasters{Master::Seidel12, Master::Seidel21, Master::Control12, Master::Control21};
/// The responses of the figure are those of the step matrix: x2 = 1 m at the start, everything else at rest.
std::vector<ReproduceRow> fig2(const Examples& examples) {
  const LinearNetwork network = oscillator_network(examples);
  const analysis::ExactCoupling exact = analysis::exact_coupling(network);
  std::vector<ReproduceRow> rows;
  for (const Master master : kMasters) {
    const auto of = choice(master, 1.0);
    const auto steps = analysis::subsystem_steps(network, 1.0, 0);
    const analysis::StepProgram program(network, steps, of);
    std::vector<double> z(program.size(), 0.0);
    constexpr std::size_t kPosition = 2;  // x1, v1, x2, v2
    z[kPosition] = 1.0;
    for (std::size_t y = 0; y < 3; ++y) z[program.outputs_at() + y] = exact.outputs(y, kPosition);
    z[program.samples_at()] = 1.0;
    z[program.samples_at() + 2] = exact.outputs(0, kPosition);
    const auto run = run_master(examples, {.master = master, .step = 1.0, .stop = 40.0});
    const auto& position = run.column("motion_side.x");
    double worst = 0.0;
    std::vector<double> scratch;
    for (std::size_t k = 1; k < position.size(); ++k) {
      program.apply(z, 1, scratch);
      worst = std::max(worst, std::abs(z[program.outputs_at() + 1] - position[k]));
    }
    rows.push_back(compared(
        fmt::format("{}: run against powers of the matrix, m", name(master)), std::nullopt, 1e-10, worst,
        {0.0, "at most rounding, and the tolerance of an FMU's solver", Better::Smaller, ReproduceReference::Bound}));
  }
  return rows;
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (std::size_t r = 0; r < order.size(); ++r) result[order[r]] = static_cast<double>(r);
  return result;
}

/// Spearman's, for values without ties.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto first = ranks(a);
  const auto second = ranks(b);
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (first[i] - second[i]) * (first[i] - second[i]);
  const auto n = static_cast<double>(a.size());
  return 1.0 - 6.0 * sum / (n * (n * n - 1.0));
}

std::vector<ReproduceRow> fig3(const Examples& examples) {
  const LinearNetwork network = oscillator_network(examples);
  constexpr Time kStop = 40.0;
  std::vector<double> consistencies;
  std::vector<std::vector<double>> errors(kOscillatorSignals.size());
  for (const int steps : {4000, 2000, 1000, 500, 250, 125, 80, 40, 20, 10}) {
    const Duration step = kStop / steps;
    auto reference = load_example(examples / "oscillator", "monolithic", step);
    reference.stop = {kStop, {}};
    const auto exact = run_system(std::move(reference), kOscillatorSignals);
    for (const Master master : kMasters) {
      consistencies.push_back(quality(network, choice(master, step)).consistency);
      const auto run = run_master(examples, {.master = master, .step = step, .stop = kStop});
      for (std::size_t i = 0; i < kOscillatorSignals.size(); ++i) {
        errors[i].push_back(percent_error(run.column(kOscillatorSignals[i]), exact.column(kOscillatorSignals[i])));
      }
    }
  }
  std::vector<ReproduceRow> rows;
  for (std::size_t i = 0; i < kOscillatorSignals.size(); ++i) {
    rows.push_back(compared(fmt::format("1 - rank correlation of consistency and error of {}", kOscillatorSignals[i]),
                            std::nullopt, 0.1, 1.0 - rank_correlation(consistencies, errors[i]),
                            bound("four masters, ten steps: the error follows the consistency")));
  }
  return rows;
}

/// The step at which real runs begin to grow, by bisection.
Duration longest_bounded_step(const Examples& examples, MasterRun of, Duration near) {
  Duration bounded = 0.97 * near;
  Duration growing = 1.03 * near;
  const auto grows = [&](Duration step) {
    constexpr int kSteps = 4000;
    of.step = step;
    of.stop = step * kSteps;
    const auto run = run_master(examples, of);
    const auto& force = run.column("force_side.F");
    const auto largest = [&](std::size_t from, std::size_t to) {
      double worst = 0.0;
      for (std::size_t k = from; k < to; ++k) worst = std::max(worst, std::abs(force[k]));
      return worst;
    };
    return largest(force.size() * 3 / 4, force.size()) > largest(force.size() / 4, force.size() / 2);
  };
  while (growing - bounded > 1e-3 * near) {
    const Duration middle = 0.5 * (bounded + growing);
    (grows(middle) ? growing : bounded) = middle;
  }
  return bounded;
}

std::vector<ReproduceRow> fig5(const Examples& examples) {
  const LinearNetwork network = oscillator_network(examples);
  std::vector<ReproduceRow> rows;
  for (const auto& of : {MasterRun{Master::Seidel12, 0}, MasterRun{Master::Seidel21, 0}, MasterRun{Master::Seidel12, 1},
                         MasterRun{Master::Seidel12, 2}, MasterRun{Master::Jacobi, 1}, MasterRun{Master::Jacobi, 2},
                         MasterRun{Master::Control12, 2}, MasterRun{Master::Control21, 2}}) {
    const Duration limit = analysis::first_limit({1e-2, 100.0, 300}, [&](double step) {
      return analysis::StabilityAt{radius(network, choice(of.master, step, of.degree))};
    });
    rows.push_back(compared(
        fmt::format("{} of degree {}: step in s at which runs begin to grow", name(of.master), of.degree), std::nullopt,
        limit, longest_bounded_step(examples, of, limit), {0.01, "the predicted limit, within 1 %"}));
  }
  return rows;
}

std::vector<ReproduceFigure> fig2_figures(const Examples& examples) {
  std::vector<ReproduceFigure> figures;
  auto description = load_example(examples / "oscillator", "monolithic", 1.0);
  description.stop = {40.0, {}};
  const auto exact = run_system(std::move(description), kOscillatorSignals);
  for (const auto& signal : kOscillatorSignals) {
    ReproduceFigure figure{fmt::format("figure 2: {}, step 1 s", signal), {"time in s"}, {signal}, {}};
    figure.curves.push_back(course("monolithic", exact, signal));
    for (const Master master : kMasters) {
      const auto run = run_master(examples, {.master = master, .step = 1.0, .stop = 40.0});
      figure.curves.push_back(course(std::string(name(master)), run, signal));
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

/// A quantity of each master over the step.
ReproduceFigure over_steps(const std::string& title, const std::string& quantity, const std::vector<double>& steps,
                           const std::function<double(Master, Duration)>& value) {
  ReproduceFigure figure{title, {"step in s", true}, {quantity, true}, {}};
  for (const Master master : kMasters) {
    figure.curves.push_back(
        curve_of(std::string(name(master)), steps, [&](double step) { return value(master, step); }));
  }
  return figure;
}

std::vector<ReproduceFigure> fig3_figures(const Examples& examples) {
  const LinearNetwork network = oscillator_network(examples);
  constexpr Time kStop = 40.0;
  std::vector<double> steps;
  for (const int count : {4000, 2000, 1000, 500, 250, 125, 80, 40, 20, 10}) steps.push_back(kStop / count);
  const auto consistency = [&](Master master, Duration step) {
    return quality(network, choice(master, step)).consistency;
  };
  std::vector<ReproduceFigure> figures{
      over_steps("figure 3: relative consistency", "relative consistency", steps, consistency)};
  for (const auto& signal : kOscillatorSignals) {
    const auto error = [&](Master master, Duration step) {
      auto reference = load_example(examples / "oscillator", "monolithic", step);
      reference.stop = {kStop, {}};
      const auto exact = run_system(std::move(reference), {signal});
      const auto run = run_master(examples, {.master = master, .step = step, .stop = kStop});
      return percent_error(run.column(signal), exact.column(signal));
    };
    figures.push_back(over_steps("figure 3: error of " + signal, "error in %", steps, error));
  }
  return figures;
}

std::vector<ReproduceFigure> fig5_figures(const Examples& examples) {
  const LinearNetwork network = oscillator_network(examples);
  const auto steps = logspace(-3, 1, 120);
  auto radii = over_steps("figure 5: spectral radius over the step", "radius", steps,
                          [&](Master master, Duration step) { return radius(network, choice(master, step)); });
  radii.curves.push_back(printed_points("printed: (70), (71)", {9.11, 8.9}, {0.45, 0.41}));
  auto consistencies =
      over_steps("figure 5: relative consistency over the step", "consistency", steps,
                 [&](Master master, Duration step) { return quality(network, choice(master, step)).consistency; });
  consistencies.curves.push_back(printed_points("printed: (70), (71)", {9.11, 8.9}, {0.78, 1.1}));
  return {radii, consistencies};
}

}  // namespace

std::vector<ReproduceEntry> quality_run_entries() {
  return {{"quality.fig2", "two-mass oscillator: four masters at a step of 1 s", &fig2, &fig2_figures},
          {"quality.fig3", "relative consistency predicts the global error", &fig3, &fig3_figures},
          {"quality.fig5", "the limit of the step, predicted and in real runs", &fig5, &fig5_figures}};
}

}  // namespace entrain::reproducing
