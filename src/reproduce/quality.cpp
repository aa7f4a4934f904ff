// Glumac, Kovacic, "Relative Consistency and Robust Stability Measures for Sequential Co-simulation" (2019): numbers
// and figures 4 to 7. Verified values: docs/theory/quality.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "analysis/measures.hpp"
#include "analysis/stable_ranges.hpp"
#include "base/looking.hpp"
#include "reproduce/curves.hpp"
#include "reproduce/entry.hpp"
#include "reproduce/quality_masters.hpp"

namespace entrain::reproducing {
namespace {

const Tolerance kPrinted{1e-5, "the verified value is printed with five or six digits"};
const Tolerance kTenDigits{2e-7, "the verified value is printed with seven to ten digits"};
const Tolerance kCounted{0.0, "a count"};

/// The coupling of the oscillator, as in (41) of the paper by default.
struct CouplingSpring {
  double stiffness = 1.0;  // c_k
  double damping = 2.0;    // d_k
};

/// How far the stiffness or the damping of the coupling can grow, at the step of the figures.
class SpringSweep {
 public:
  SpringSweep(const Examples& examples, Master master, double CouplingSpring::*parameter)
      : nominal_(oscillator_network(examples)), master_(master), parameter_(parameter) {}

  double radius_at(double value) const {
    CouplingSpring spring;
    spring.*parameter_ = value;
    return radius(changed(spring), choice(master_, kStep));
  }
  /// Of the paper's grid; NaN if there is none.
  double first_grid_point() const {
    for (const double value : logspace(-5, 5, 100)) {
      if (radius_at(value) < 1.0) return value;
    }
    return std::numeric_limits<double>::quiet_NaN();
  }
  /// The last point of the paper's grid up to which all are stable.
  double last_grid_point() const {
    double last = 0.0;
    for (const double value : logspace(-5, 5, 100)) {
      if (!(radius_at(value) < 1.0)) break;
      last = value;
    }
    return last;
  }
  std::vector<StableRange> ranges() const {
    return analysis::stable_ranges({1e-5, 1e5, 100},
                                   [&](double value) { return analysis::StabilityAt{radius_at(value)}; })
        .ranges;
  }

 private:
  static constexpr Duration kStep = 8.9;

  /// Only the force side knows the coupling spring; its matrices are affine in both numbers.
  LinearNetwork changed(const CouplingSpring& spring) const {
    constexpr double kMass = 10.0;
    const CouplingSpring paper;
    const double stiffer = spring.stiffness - paper.stiffness;
    const double damped = spring.damping - paper.damping;
    LinearNetwork network = nominal_;
    auto& [a, b, c, d] = network.subsystems[0].matrices;
    a(1, 0) -= stiffer / kMass;
    a(1, 1) -= damped / kMass;
    b(1, 0) += stiffer / kMass;
    b(1, 1) += damped / kMass;
    c(0, 0) += stiffer;
    c(0, 1) += damped;
    d(0, 0) -= stiffer;
    d(0, 1) -= damped;
    return network;
  }

  LinearNetwork nominal_;
  Master master_;
  double CouplingSpring::*parameter_;
};

std::vector<ReproduceRow> numbers(const Examples& examples) {
  const LinearNetwork network = oscillator_network(examples);
  const auto control21 = quality(network, choice(Master::Control21, 9.11));
  const auto control12 = quality(network, choice(Master::Control12, 8.9));
  std::vector<ReproduceRow> rows;
  rows.push_back(compared("radius, Control21, alpha 0.6, step 9.11 s", {0.45, "(70), radius"}, 0.450382,
                          control21.radius, kPrinted));
  rows.push_back(
      compared("consistency, the same", {0.78, "(70), consistency"}, 0.782533, control21.consistency, kPrinted));
  rows.push_back(compared("radius, Control12, alpha 0.59, 0.36, step 8.9 s", {0.41, "(71), radius"}, 0.412533,
                          control12.radius, kPrinted));
  rows.push_back(
      compared("consistency, the same", {1.1, "(71), consistency"}, 1.103074, control12.consistency, kPrinted));
  struct Limit {
    Master master;
    double CouplingSpring::*parameter;
    double paper, grid;
    std::optional<double> limit;
  };
  for (const auto& of : {Limit{Master::Seidel12, &CouplingSpring::stiffness, 0.89, 0.89022, 1.1230369},
                         Limit{Master::Seidel21, &CouplingSpring::stiffness, 0.89, 0.89022, 1.1230369},
                         Limit{Master::Seidel12, &CouplingSpring::damping, 2.26, 2.25702, 2.6844177},
                         Limit{Master::Seidel21, &CouplingSpring::damping, 2.26, 2.25702, 2.6844177},
                         Limit{Master::Control12, &CouplingSpring::stiffness, 3.59, 3.59381, 3.7614539},
                         Limit{Master::Control21, &CouplingSpring::stiffness, 3.59, 3.59381, 4.4173392},
                         Limit{Master::Control12, &CouplingSpring::damping, 1e5, 1e5, std::nullopt},
                         Limit{Master::Control21, &CouplingSpring::damping, 1e5, 1e5, std::nullopt}}) {
    const SpringSweep sweep(examples, of.master, of.parameter);
    const auto what =
        fmt::format("{}, {}", name(of.master), of.parameter == &CouplingSpring::stiffness ? "c_k" : "d_k");
    const bool stiffness = of.parameter == &CouplingSpring::stiffness;
    const auto where = fmt::format("{}, {}, ", stiffness ? "(63)" : "(64)", name(of.master));
    rows.push_back(compared(what + ": first stable point of the paper's grid", {1e-5, where + "from"}, 1e-5,
                            sweep.first_grid_point(), kPrinted));
    rows.push_back(compared(what + ": last stable point of the paper's grid", {of.paper, where + "to"}, of.grid,
                            sweep.last_grid_point(), kPrinted));
    if (!of.limit) continue;
    rows.push_back(
        compared(what + ": true limit", std::nullopt, *of.limit, sweep.ranges().front().high, {1e-7, "eight digits"}));
  }
  return rows;
}

/// Past the paper: parallel masters, inputs of higher degree, structured radius.
std::vector<ReproduceRow> beyond(const Examples& examples) {
  const LinearNetwork network = oscillator_network(examples);
  std::vector<ReproduceRow> rows;
  const auto add = [&](const std::string& what, double reference, double ours) {
    rows.push_back(compared(what, std::nullopt, reference, ours, kTenDigits));
  };
  const auto seidel12 = quality(network, choice(Master::Seidel12, 1.0));
  const auto jacobi = quality(network, choice(Master::Jacobi, 1.0));
  add("radius, Seidel12, step 1 s", 0.9372460454, seidel12.radius);
  add("radius, Jacobi, step 1 s", 0.9400786082, jacobi.radius);
  add("consistency, Seidel12, step 1 s", 0.6607818053, seidel12.consistency);
  add("consistency, Seidel21, step 1 s", 1.0205840700, quality(network, choice(Master::Seidel21, 1.0)).consistency);
  add("consistency, Jacobi, step 1 s", 1.2901771860, jacobi.consistency);
  add("radius, Seidel12 of degree 1, step 1 s", 0.92589587, radius(network, choice(Master::Seidel12, 1.0, 1)));
  const std::vector<double> limits{9.10130403, 5.08005601, 2.09020059};
  for (int degree = 0; degree < 3; ++degree) {
    const double limit = analysis::first_limit({1e-2, 20.0, 200}, [&](double step) {
      return analysis::StabilityAt{radius(network, choice(Master::Seidel12, step, degree))};
    });
    add(fmt::format("longest stable step in s, Seidel12 of degree {}", degree),
        limits[static_cast<std::size_t>(degree)], limit);
  }
  const auto steps = analysis::subsystem_steps(network, 1.0, 0);
  add("structured radius of the force side, Seidel12, step 1 s", 0.04402072,
      analysis::structured_radius(analysis::StepProgram(network, steps, choice(Master::Seidel12, 1.0)), 0));
  return rows;
}

/// Stability is not an interval: beyond their limits both Controls are stable again, twice.
std::vector<ReproduceRow> fig4(const Examples& examples) {
  std::vector<ReproduceRow> rows;
  for (const Master master : {Master::Control12, Master::Control21}) {
    const SpringSweep sweep(examples, master, &CouplingSpring::stiffness);
    for (const double value : {7.220809, 9.111628}) {  // points of logspace(-5, 5, 100)
      rows.push_back(compared(fmt::format("{}: radius at c_k = {:.3g} below 1", name(master), value), std::nullopt, 1.0,
                              sweep.radius_at(value), {0.0, "stable on an island", Better::Smaller}));
    }
  }
  return rows;
}

struct ParetoFront {
  std::vector<CouplingChoice> choices;
  std::vector<Quality> qualities;
  std::vector<std::size_t> members;
};

ParetoFront front_of(const LinearNetwork& network, std::vector<CouplingChoice> choices) {
  ParetoFront front{std::move(choices), {}, {}};
  front.qualities = analysis::evaluate_all({&network, 1}, front.choices, base::processors());
  std::vector<std::vector<double>> objectives;
  for (const auto& of : front.qualities) objectives.push_back({of.radius, of.consistency});
  front.members = analysis::pareto_front(objectives);
  return front;
}

std::size_t without_gains(const ParetoFront& front) {
  return static_cast<std::size_t>(std::count_if(front.members.begin(), front.members.end(), [&](std::size_t member) {
    const auto& gains = front.choices[member].gains;
    return std::all_of(gains.begin(), gains.end(), [](double gain) { return gain == 0.0; });
  }));
}

ParetoFront front_of_control21(const Examples& examples) {
  std::vector<CouplingChoice> choices;
  for (const double step : logspace(-3, 1, 100)) {
    for (const double alpha : linspace(0, 1.1, 100)) {
      if (alpha < 1.0) choices.push_back(choice(Master::Control21, step, 0, {0.0, 0.0, alpha}));
    }
  }
  return front_of(oscillator_network(examples), std::move(choices));
}

std::vector<ReproduceRow> fig6(const Examples& examples) {
  const ParetoFront front = front_of_control21(examples);
  const auto best = *std::min_element(front.members.begin(), front.members.end(), [&](std::size_t a, std::size_t b) {
    return front.qualities[a].radius < front.qualities[b].radius;
  });
  double shortest = 1e9;
  for (const std::size_t member : front.members) {
    if (front.choices[member].gains[2] > 0.0) shortest = std::min(shortest, front.choices[member].step);
  }
  std::vector<ReproduceRow> rows;
  rows.push_back(
      compared("points on the front", std::nullopt, 70, static_cast<double>(front.members.size()), kCounted));
  rows.push_back(
      compared("of these Seidel21 (alpha = 0)", std::nullopt, 60, static_cast<double>(without_gains(front)), kCounted));
  rows.push_back(compared("shortest step with alpha > 0 on it, s", std::nullopt, 9.11163, shortest, kPrinted));
  const Tolerance digits{5e-3, "printed with two digits"};
  rows.push_back(
      compared("alpha of the least radius", {0.6, "figure 6, alpha"}, 0.6, front.choices[best].gains[2], digits));
  rows.push_back(
      compared("step of the least radius, s", {9.11, "figure 6, step"}, 9.11, front.choices[best].step, digits));
  return rows;
}

ParetoFront front_of_control12(const Examples& examples) {
  std::vector<CouplingChoice> choices;
  const auto alphas = linspace(0, 1, 40);
  for (const double step : logspace(-3, 1, 80)) {
    for (const double position : alphas) {
      for (const double velocity : alphas) {
        if (position < 1.0 && velocity < 1.0) {
          choices.push_back(choice(Master::Control12, step, 0, {position, velocity, 0.0}));
        }
      }
    }
  }
  return front_of(oscillator_network(examples), std::move(choices));
}

std::vector<ReproduceRow> fig7(const Examples& examples) {
  const ParetoFront front = front_of_control12(examples);
  std::vector<ReproduceRow> rows;
  rows.push_back(
      compared("points on the front", std::nullopt, 366, static_cast<double>(front.members.size()), kCounted));
  rows.push_back(
      compared("of these Seidel12 (no gains)", std::nullopt, 65, static_cast<double>(without_gains(front)), kCounted));
  const auto near = std::find_if(front.members.begin(), front.members.end(), [&](std::size_t member) {
    const auto& of = front.choices[member];
    return std::abs(of.gains[0] - 0.59) < 0.005 && std::abs(of.gains[1] - 0.36) < 0.005 &&
           std::abs(of.step - 8.9) < 0.05;
  });
  const bool found = near != front.members.end();
  const Tolerance digits{0.02, "printed with two digits"};
  const CouplingChoice& point = front.choices[found ? *near : front.members.front()];
  rows.push_back(
      compared("alpha_1 of the highlighted point", {0.59, "figure 7, alpha_1"}, 0.59, point.gains[0], digits));
  rows.push_back(
      compared("alpha_2 of the highlighted point", {0.36, "figure 7, alpha_2"}, 0.36, point.gains[1], digits));
  rows.push_back(compared("step of the highlighted point, s", {8.9, "figure 7, step"}, 8.9, point.step, digits));
  rows.push_back(compared("radius of the highlighted point", {0.41, "(71), radius"}, 0.412533,
                          found ? front.qualities[*near].radius : 0.0, digits));
  rows.push_back(compared("consistency of the highlighted point", {1.1, "(71), consistency"}, 1.103074,
                          found ? front.qualities[*near].consistency : 0.0, digits));
  return rows;
}

constexpr std::array kSequential{Master::Seidel12, Master::Seidel21, Master::Control12, Master::Control21};

/// Figure 4: the radius over each number of the coupling spring, with the printed limits on the line where it is 1.
std::vector<ReproduceFigure> numbers_figures(const Examples& examples) {
  std::vector<ReproduceFigure> figures;
  const auto add = [&](double CouplingSpring::*parameter, const std::string& name_of,
                       const std::vector<double>& limits) {
    ReproduceFigure figure{
        fmt::format("figure 4: spectral radius over {}", name_of), {name_of, true}, {"radius", true}, {}};
    for (const Master master : kSequential) {
      const SpringSweep sweep(examples, master, parameter);
      figure.curves.push_back(curve_of(std::string(name(master)), logspace(-5, 5, 200),
                                       [&](double value) { return sweep.radius_at(value); }));
    }
    figure.curves.push_back(guide("radius 1", {1e-5, 1e5}, {1.0, 1.0}));
    figure.curves.push_back(printed_points("printed: stable up to", limits, std::vector<double>(limits.size(), 1.0)));
    figures.push_back(std::move(figure));
  };
  add(&CouplingSpring::stiffness, "c_k", {0.89, 3.59});
  add(&CouplingSpring::damping, "d_k", {2.26, 1e5});
  return figures;
}

/// The members of a front as points, those without gains apart.
std::vector<ReproduceCurve> front_points(const ParetoFront& front, const std::string& without,
                                         const std::function<std::pair<double, double>(std::size_t)>& place) {
  ReproduceCurve seidel{without, ReproduceMark::Points, {}, {}};
  ReproduceCurve control{"with gains", ReproduceMark::Points, {}, {}};
  for (const std::size_t member : front.members) {
    const auto& gains = front.choices[member].gains;
    const bool none = std::all_of(gains.begin(), gains.end(), [](double gain) { return gain == 0.0; });
    auto& curve = none ? seidel : control;
    const auto [x, y] = place(member);
    curve.x.push_back(x);
    curve.y.push_back(y);
  }
  return {seidel, control};
}

std::vector<ReproduceFigure> fig6_figures(const Examples& examples) {
  const ParetoFront front = front_of_control21(examples);
  ReproduceFigure figure{"figure 6: Pareto front of Control21", {"alpha"}, {"step in s", true}, {}};
  figure.curves = front_points(front, "Seidel21", [&](std::size_t member) {
    return std::pair{front.choices[member].gains[2], front.choices[member].step};
  });
  figure.curves.push_back(printed_points("printed: highlighted point", {0.6}, {9.11}));
  return {figure};
}

std::vector<ReproduceFigure> fig7_figures(const Examples& examples) {
  const ParetoFront front = front_of_control12(examples);
  ReproduceFigure figure{"figure 7: Pareto front of Control12", {"radius"}, {"consistency"}, {}};
  figure.curves = front_points(front, "Seidel12", [&](std::size_t member) {
    return std::pair{front.qualities[member].radius, front.qualities[member].consistency};
  });
  figure.curves.push_back(printed_points("printed: highlighted point", {0.41}, {1.1}));
  return {figure};
}

}  // namespace

std::vector<ReproduceEntry> quality_entries() {
  return {{"quality.numbers", "sequential masters: radius, consistency, limits in the coupling spring", &numbers,
           &numbers_figures},
          {"quality.beyond", "parallel masters, higher degrees, true limits, structured radius", &beyond},
          {"quality.fig4", "stable islands in the stiffness of the coupling", &fig4},
          {"quality.fig6", "Pareto front of Control21 over gain and step", &fig6, &fig6_figures},
          {"quality.fig7", "Pareto front of Control12 over two gains and step", &fig7, &fig7_figures}};
}

}  // namespace entrain::reproducing
