// What an iterative coupling costs and what it buys: evaluations and time per macro step and error on the mechanical
// pair, by solver and kind of trial, beside jacobi; what the first guess saves; and one estimate of a subsystem with
// 1000 states.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "budget.hpp"
#include "description/system_file.hpp"
#include "entrain/entrain.hpp"
#include "entrain/recording.hpp"
#include "reproduce/measure.hpp"
#include "trials/estimator.hpp"

namespace {

using namespace entrain;

const std::string kSignal = "left.x";

struct Run {
  double error = 0.0;  ///< % of the range
  double seconds = 0.0;
  RunSummary summary;
};

SystemDescription pair(const std::string& method, double step, const std::vector<std::string>& options) {
  SystemDescription description = load(std::string(ENTRAIN_EXAMPLES) + "/mechanical");
  description.method = {method, {}};
  description.step = {step, {}};
  for (const auto& option : options) apply_option(description, option);
  return description;
}

Run measured(const SystemDescription& description, const std::vector<double>& exact) {
  Run best;
  best.seconds = 1e9;
  for (int i = 0; i < bench::kRepetitions; ++i) {
    Simulation simulation(description);
    MemoryRecorder recorder({kSignal});
    simulation.observe(recorder);
    const double seconds = bench::seconds_of([&] { simulation.run(); });
    if (seconds >= best.seconds) continue;
    best = {reproducing::percent_error(recorder.column(kSignal), exact), seconds, simulation.summary()};
  }
  return best;
}

std::vector<double> exact_motion(double step) {
  return reproducing::run_system(pair("monolithic", step, {}), {kSignal}).column(kSignal);
}

/// Seconds that jacobi would take for this error, continued from its finest step by its order 1.
double seconds_of_jacobi_for(double error) {
  constexpr double kStep = 1e-5;
  const Run fine = measured(pair("jacobi", kStep, {}), exact_motion(kStep));
  fmt::print("jacobi, step {:g} s: error {:.2e} %, {:.3f} s\n", kStep, fine.error, fine.seconds);
  return fine.seconds * fine.error / error;
}

double evaluations(const Run& run) {
  return static_cast<double>(run.summary.iterations) / static_cast<double>(run.summary.macro_steps);
}

void compare_solvers(bench::Budgets& budgets) {
  constexpr double kStep = 1e-3;
  const auto exact = exact_motion(kStep);
  fmt::print("mechanical pair, step {:g} s, epsilon 1e-8\n", kStep);
  std::map<std::string, Run> anderson;  // with rollback, by predictor
  for (const TrialChoice trials : {TrialChoice::Rollback, TrialChoice::Costarica}) {
    for (const std::string solver : {"anderson", "newton-krylov", "fixed-point"}) {
      for (const std::string predictor : {"hermite", "missiles"}) {
        auto description = pair("ifosmondi", kStep,
                                {"iteration_tolerance=1e-8", fmt::format("solver=\"{}\"", solver),
                                 fmt::format("predictor=\"{}\"", predictor)});
        for (auto& subsystem : description.subsystems) subsystem.trials = {trials, {}};
        const Run run = measured(description, exact);
        fmt::print("  {:<10} {:<14} {:<9} {:5.2f} evaluations, {:6.2f} us per macro step, error {:.2e} %\n",
                   to_word(trials), solver, predictor, evaluations(run),
                   1e6 * run.seconds / static_cast<double>(run.summary.macro_steps), run.error);
        if (trials == TrialChoice::Rollback && solver == "anderson") anderson[predictor] = run;
      }
    }
  }
  const Run& plain = anderson["hermite"];
  budgets.check("ifosmondi, time beside jacobi at equal error", plain.seconds / seconds_of_jacobi_for(plain.error),
                1e-3, "x");
  budgets.check("ifosmondi, evaluations per macro step", evaluations(plain), 6.0, "");
  budgets.check("ifosmondi, predictor missiles, evaluations", evaluations(anderson["missiles"]), 1.1, "");
}

/// Evaluations per macro step from each first guess, where the linearizations change along the run.
void compare_predictors(bench::Budgets& budgets) {
  fmt::print("Lotka-Volterra, step 0.05 s, epsilon 1e-8: evaluations per macro step\n");
  for (const std::string solver : {"anderson", "newton-krylov", "fixed-point"}) {
    std::map<std::string, double> by_predictor;
    for (const std::string predictor : {"hold", "linear", "hermite", "missiles"}) {
      SystemDescription description = load(std::string(ENTRAIN_EXAMPLES) + "/lotka_volterra");
      description.method = {"ifosmondi", {}};
      description.step = {0.05, {}};
      apply_option(description, "iteration_tolerance=1e-8");
      apply_option(description, fmt::format("solver=\"{}\"", solver));
      apply_option(description, fmt::format("predictor=\"{}\"", predictor));
      Simulation simulation(description);
      by_predictor[predictor] = evaluations({0.0, 0.0, simulation.run()});
    }
    fmt::print("  {:<14} hold {:5.2f}, linear {:5.2f}, hermite {:5.2f}, missiles {:5.2f}\n", solver,
               by_predictor["hold"], by_predictor["linear"], by_predictor["hermite"], by_predictor["missiles"]);
    budgets.check(fmt::format("{}: predictor missiles beside hermite", solver),
                  by_predictor["missiles"] / by_predictor["hermite"], 0.8, "x");
  }
}

void estimate_many_states(bench::Budgets& budgets) {
  constexpr std::size_t kStates = 1000;
  trials::Estimator estimator({kStates, 1, 2}, true, {});
  const auto fill = [&] {
    const trials::EstimatorPoint point = estimator.point();
    for (std::size_t i = 0; i < kStates; ++i) point.x[i] = std::sin(static_cast<double>(i));
    estimator.moved();
  };
  double best = 1e9;
  for (int i = 0; i < bench::kRepetitions; ++i) {
    fill();
    Linearization& at = estimator.linearization();
    at.A.resize(kStates, kStates);
    at.B.resize(kStates, 1);
    at.C.resize(2, kStates);
    at.D.resize(2, 1);
    for (std::size_t k = 0; k < kStates; ++k) {
      at.A(k, k) = -5.0 - 0.01 * i;  // norm 10, and never the same twice
      if (k > 0) at.A(k, k - 1) = 2.5;
      if (k + 1 < kStates) at.A(k, k + 1) = 2.5;
    }
    at.B(0, 0) = at.C(0, 0) = at.C(1, kStates - 1) = 1.0;
    best = std::min(best, bench::seconds_of([&] {
                      estimator.linearized();
                      estimator.set_step(1.0);
                    }));
  }
  budgets.check("1000 states, 2 outputs, |A h| = 10: new step", 1e3 * best, 10.0, "ms");
}

}  // namespace

int main() {
  bench::Budgets budgets;
  compare_solvers(budgets);
  compare_predictors(budgets);
  estimate_many_states(budgets);
  return budgets.exit_code();
}
