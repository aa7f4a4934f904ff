#pragma once

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "numerics/ode.hpp"
#include "numerics/ode_linear_solver.hpp"

namespace entrain::numerics {

inline std::span<double> entries(N_Vector vector) {
  return {N_VGetArrayPointer(vector), static_cast<std::size_t>(N_VGetLength(vector))};
}

/// Behind OdeSolver: one of SUNDIALS' two integrators (ode.cpp), its roots made exact (ode_roots.cpp), and for BDF what
/// solves its linear equations (ode_linear_solver.hpp).
struct OdeSolver::Impl {
  Impl(std::size_t states, OdeOptions given);

  OdeReached advance(Time from, Time to, std::span<double> values, const OdeProblem& given, bool afresh);
  OdeReached run(Time from, Time to);

  bool multistep() const { return options.method != OdeMethod::ExplicitRungeKutta; }
  bool watching() const { return options.indicators > 0; }
  void set_up_runge_kutta();
  void set_up_multistep();
  void set_up_newton();
  void start(Time from, Time to);
  void stop_at(Time to);
  long count_steps() const;
  int evolve(Time to, bool one_step, Time& reached);
  OdeReached given_up(Time from, Time reached) const;
  [[noreturn]] void give_up(Time from, Time reached) const;
  void require(int flag) const;

  // Roots.
  void keep_start_of_step(Time t);
  Time settle_on_root(Time root, Time to);
  std::size_t culprit() const;
  void indicate_here(Time t) { (*problem->indicators)(t, entries(x.get()), z); }
  void differentiate_here(Time t) { problem->derivatives(t, entries(x.get()), slopes); }
  void shift(Duration by);
  Time refined_root(Time root, Time to);
  void integrate_from_start_of_step(Time to);
  Time past_the_root(Time root, Time to);
  bool changed(Time t);

  // What SUNDIALS calls; the last argument is this.
  static int derivatives(double t, N_Vector x, N_Vector dx, void* user_data);
  static int indicators(double t, N_Vector x, double* z, void* user_data);
  static int fill_jacobian(double t, N_Vector x, N_Vector, SUNMatrix matrix, void* user_data, N_Vector, N_Vector,
                           N_Vector);
  static void note_message(int, const char*, const char*, char* text, void* user_data);

  OdeOptions options;
  // Released in reverse order: the integrator first, the context last.
  std::unique_ptr<_SUNContext, void (*)(_SUNContext*)> context;
  std::unique_ptr<_generic_N_Vector, void (*)(N_Vector)> x;
  std::unique_ptr<_generic_N_Vector, void (*)(N_Vector)> tolerances;
  std::unique_ptr<OdeLinearSolver> linear_solver;
  std::unique_ptr<_generic_SUNNonlinearSolver, void (*)(SUNNonlinearSolver)> fixed_point;
  std::unique_ptr<void, void (*)(void*)> memory;
  std::vector<std::vector<std::size_t>> groups;  ///< columns of the Jacobian that one product gives
  std::vector<double> seed, product;

  std::vector<int> directions;  ///< of the indicators at a root: 1 rising, -1 falling, 0 no root
  std::vector<double> z;
  std::vector<double> slopes;
  std::vector<double> x_of_step;  ///< at the start of the internal step under way ...
  Time step_start = 0.0;          ///< ... and when that is
  bool blind = false;             ///< roots are not looked for
  std::optional<Time> ended;      ///< where the last call reached its end: it can go on from there
  long steps_before = 0;          ///< of the integrator, at the start of the call under way

  const OdeProblem* problem = nullptr;
  std::exception_ptr exception;
  std::optional<Time> time_not_finite;
  std::string message;
};

}  // namespace entrain::numerics
