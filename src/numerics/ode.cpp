#include "numerics/ode.hpp"

#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <fmt/format.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "entrain/error.hpp"

namespace entrain {
namespace {

template <class Handle, auto release>
struct Releaser {
  void operator()(Handle* handle) const { release(handle); }
};

void free_context(_SUNContext* context) {
  SUNContext_Free(&context);
}
void free_linear_solver(_generic_SUNLinearSolver* solver) {
  SUNLinSolFree(solver);
}
void free_erk(void* memory) {
  ERKStepFree(&memory);
}
void free_cvode(void* memory) {
  CVodeFree(&memory);
}

using Context = std::unique_ptr<_SUNContext, Releaser<_SUNContext, free_context>>;
using Vector = std::unique_ptr<_generic_N_Vector, Releaser<_generic_N_Vector, N_VDestroy>>;
using DenseMatrix = std::unique_ptr<_generic_SUNMatrix, Releaser<_generic_SUNMatrix, SUNMatDestroy>>;
using LinearSolver = std::unique_ptr<_generic_SUNLinearSolver, Releaser<_generic_SUNLinearSolver, free_linear_solver>>;
using Memory = std::unique_ptr<void, void (*)(void*)>;

Context make_context() {
  SUNContext context = nullptr;
  if (SUNContext_Create(nullptr, &context) != 0) throw Error(ErrorCode::SolverFailed, "SUNDIALS cannot be started");
  return Context(context);
}

/// Rejected attempts in a row that are no failure: from a smooth stretch into a sharp corner the step falls by a factor
/// of 0.3 each. The usual 7 are not enough for a corner of 1e-5 of the step before.
constexpr int kMostRejections = 40;

using ButcherTable = std::unique_ptr<ARKodeButcherTableMem, Releaser<ARKodeButcherTableMem, ARKodeButcherTable_Free>>;

/// Fehlberg 13-7-8 behind a stage that nobody uses. Because the last stage lies at the end of the step, SUNDIALS 6.4
/// takes its derivative for that of the solution there and starts the next step with it, although the two differ in
/// this method; so the method begins with a derivative of its own. (With SUNDIALS' own table the relaxation
/// x' = (w - x) / T takes twice the steps and fails once in a hundred.)
ButcherTable fehlberg_8() {
  const ButcherTable given(ARKodeButcherTable_LoadERK(ARKODE_FEHLBERG_13_7_8));
  if (!given) throw Error(ErrorCode::SolverFailed, "SUNDIALS does not know the method Fehlberg 13-7-8");
  const auto stages = static_cast<std::size_t>(given->stages) + 1;
  std::vector<double> c(stages), a(stages * stages), b(stages), d(stages);
  for (std::size_t i = 1; i < stages; ++i) {
    c[i] = given->c[i - 1];
    b[i] = given->b[i - 1];
    d[i] = given->d[i - 1];
    for (std::size_t j = 1; j < i; ++j) a[i * stages + j] = given->A[i - 1][j - 1];
  }
  return ButcherTable(
      ARKodeButcherTable_Create(static_cast<int>(stages), given->q, given->p, c.data(), a.data(), b.data(), d.data()));
}

std::span<double> entries(N_Vector vector) {
  return {N_VGetArrayPointer(vector), static_cast<std::size_t>(N_VGetLength(vector))};
}

}  // namespace

struct OdeSolver::Impl {
  Impl(std::size_t states, OdeOptions given)
      : options(std::move(given)),
        context(make_context()),
        x(N_VNew_Serial(static_cast<sunindextype>(states), context.get())),
        tolerances(N_VClone(x.get())) {
    N_VConst(0.0, x.get());
    N_VConst(options.absolute_tolerance, tolerances.get());
    std::copy(options.absolute_tolerances.begin(), options.absolute_tolerances.end(),
              entries(tolerances.get()).begin());
    if (watching()) {
      directions.assign(options.indicators, 0);
      z.assign(options.indicators, 0.0);
      slopes.assign(states, 0.0);
      x_of_step.assign(states, 0.0);
    }
    if (bdf()) {
      set_up_bdf();
    } else {
      set_up_runge_kutta();
    }
  }

  bool bdf() const { return options.method == OdeMethod::Bdf; }

  void set_up_runge_kutta() {
    memory = Memory(ERKStepCreate(&Impl::derivatives, 0.0, x.get(), context.get()), free_erk);
    require(memory == nullptr ? -1 : 0);
    require(ERKStepSetErrHandlerFn(memory.get(), &Impl::note_message, this));
    require(ERKStepSetUserData(memory.get(), this));
    require(ERKStepSVtolerances(memory.get(), options.relative_tolerance, tolerances.get()));
    require(ERKStepSetTable(memory.get(), fehlberg_8().get()));
    require(ERKStepSetMaxErrTestFails(memory.get(), kMostRejections));
    require(ERKStepSetMaxNumSteps(memory.get(), options.max_steps));
    if (options.indicators == 0) return;
    require(ERKStepRootInit(memory.get(), static_cast<int>(options.indicators), &Impl::indicators));
    require(ERKStepSetNoInactiveRootWarn(memory.get()));
  }

  void set_up_bdf() {
    memory = Memory(CVodeCreate(CV_BDF, context.get()), free_cvode);
    require(memory == nullptr ? -1 : 0);
    require(CVodeSetErrHandlerFn(memory.get(), &Impl::note_message, this));
    require(CVodeSetUserData(memory.get(), this));
    require(CVodeInit(memory.get(), &Impl::derivatives, 0.0, x.get()));
    require(CVodeSVtolerances(memory.get(), options.relative_tolerance, tolerances.get()));
    require(CVodeSetMaxErrTestFails(memory.get(), kMostRejections));
    require(CVodeSetMaxNumSteps(memory.get(), options.max_steps));
    const auto size = N_VGetLength(x.get());
    jacobian.reset(SUNDenseMatrix(size, size, context.get()));
    linear_solver.reset(SUNLinSol_Dense(x.get(), jacobian.get(), context.get()));
    require(CVodeSetLinearSolver(memory.get(), linear_solver.get(), jacobian.get()));
    if (options.jacobian) {
      const auto states = static_cast<std::size_t>(size);
      groups = independent_columns(*options.jacobian, states);
      seed.assign(states, 0.0);
      product.assign(states, 0.0);
      require(CVodeSetJacFn(memory.get(), &Impl::fill_jacobian));
    }
    if (options.indicators == 0) return;
    require(CVodeRootInit(memory.get(), static_cast<int>(options.indicators), &Impl::indicators));
    require(CVodeSetNoInactiveRootWarn(memory.get()));
  }

  // The stop time keeps the solver from evaluating beyond `to`, where the inputs are not meant to be known.
  void start(Time from, Time to) {
    if (bdf()) {
      require(CVodeReInit(memory.get(), from, x.get()));
      require(CVodeSetStopTime(memory.get(), to));
    } else {
      require(ERKStepReInit(memory.get(), &Impl::derivatives, from, x.get()));
      require(ERKStepSetStopTime(memory.get(), to));
    }
  }

  int evolve(Time to, bool one_step, Time& reached) {
    if (bdf()) return CVode(memory.get(), to, x.get(), &reached, one_step ? CV_ONE_STEP : CV_NORMAL);
    return ERKStepEvolve(memory.get(), to, x.get(), &reached, one_step ? ARK_ONE_STEP : ARK_NORMAL);
  }

  /// Both integrators number their reports alike.
  static_assert(CV_TSTOP_RETURN == ARK_TSTOP_RETURN && CV_ROOT_RETURN == ARK_ROOT_RETURN);

  OdeReached run(Time from, Time to) {
    start(from, to);
    const bool told = problem->step_completed.has_value();
    const bool one_step = told || watching();
    Time reached = from;
    for (long steps = 0;; ++steps) {
      if (watching()) keep_start_of_step(reached);
      const int flag = evolve(to, one_step, reached);
      if (flag < 0) return given_up(from, reached);
      if (flag == CV_ROOT_RETURN) reached = settle_on_root(reached, to);
      const bool stopped = told && (*problem->step_completed)(reached, entries(x.get()));
      if (flag == CV_ROOT_RETURN) return {reached, OdeReached::Cause::Indicator};
      if (stopped) return {reached, OdeReached::Cause::Stopped};
      if (!one_step || flag == CV_TSTOP_RETURN) return {to, OdeReached::Cause::End};
      if (steps + 1 < options.max_steps) continue;
      message = fmt::format("more than {} steps", options.max_steps);
      return given_up(from, reached);
    }
  }

  bool watching() const { return options.indicators > 0; }

  void keep_start_of_step(Time t) {
    step_start = t;
    std::copy(entries(x.get()).begin(), entries(x.get()).end(), x_of_step.begin());
  }

  // Roots. The integrators look for them on an interpolant of the last step. That of ARKODE has degree 5, far less than
  // its method of order 8: there the root is found again on the solution itself.
  Time settle_on_root(Time root, Time to) {
    const int flag =
        bdf() ? CVodeGetRootInfo(memory.get(), directions.data()) : ERKStepGetRootInfo(memory.get(), directions.data());
    require(flag);
    if (!bdf()) root = refined_root(root, to);
    return past_the_root(root, to);
  }

  /// The indicator that changed its sign first in the list.
  std::size_t culprit() const {
    const auto first = std::find_if(directions.begin(), directions.end(), [](int direction) { return direction != 0; });
    return first == directions.end() ? 0 : static_cast<std::size_t>(first - directions.begin());
  }

  void indicate_here(Time t) { (*problem->indicators)(t, entries(x.get()), z); }

  void differentiate_here(Time t) { problem->derivatives(t, entries(x.get()), slopes); }

  /// The state moved along its slope, for times so short that nothing else can be seen.
  void shift(Duration by) {
    const auto state = entries(x.get());
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += by * slopes[i];
  }

  /// Newton's method on the solution: from the start of the internal step to the root, and a correction of the root.
  Time refined_root(Time root, Time to) {
    constexpr int kMostCorrections = 4;
    const std::size_t which = culprit();
    for (int k = 0;; ++k) {
      integrate_from_start_of_step(root);
      indicate_here(root);
      const double value = z[which];
      const Duration probe = 1e-6 * (root - step_start);
      differentiate_here(root);
      shift(-probe);
      indicate_here(root - probe);
      shift(probe);
      const double rate = (value - z[which]) / probe;
      const Time corrected = root - value / rate;
      const bool sane = std::isfinite(corrected) && corrected > step_start && corrected <= to;
      if (!sane || k == kMostCorrections || std::abs(corrected - root) <= resolution(root)) return root;
      root = corrected;
    }
  }

  /// Too near for a step of its own, the interpolant serves.
  void integrate_from_start_of_step(Time to) {
    if (to - step_start <= 64.0 * resolution(to)) return;
    std::copy(x_of_step.begin(), x_of_step.end(), entries(x.get()).begin());
    blind = true;
    start(step_start, to);
    Time reached = step_start;
    const int flag = evolve(to, false, reached);
    blind = false;
    if (flag < 0) give_up(step_start, reached);
  }

  static Duration resolution(Time t) {
    return 4.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(t), std::numeric_limits<double>::min());
  }

  /// To where the indicators that changed really have their new signs, so that whoever handles the event sees it, and
  /// the next integration does not find it again. Where one only touches zero nothing is moved.
  Time past_the_root(Time root, Time to) {
    constexpr int kMostDoublings = 24;
    if (changed(root)) return root;
    differentiate_here(root);
    Duration moved = 0.0;
    for (int k = 0; k < kMostDoublings; ++k) {
      const Duration wanted = std::ldexp(resolution(root), k);
      if (root + wanted > to) break;
      shift(wanted - moved);
      moved = wanted;
      if (changed(root + moved)) return root + moved;
    }
    shift(-moved);
    return root;
  }

  bool changed(Time t) {
    indicate_here(t);
    for (std::size_t i = 0; i < directions.size(); ++i) {
      if (directions[i] != 0 && !(directions[i] * z[i] > 0.0)) return false;
    }
    return true;
  }

  /// The state is that of the last step that was made.
  OdeReached given_up(Time from, Time reached) const {
    if (options.may_give_up && !exception) return {reached, OdeReached::Cause::GaveUp};
    give_up(from, reached);
  }

  /// The times are told from the start of the integration: only its caller knows whether they are local ones.
  [[noreturn]] void give_up(Time from, Time reached) const {
    if (exception) std::rethrow_exception(exception);
    if (time_not_finite) {
      throw Error(ErrorCode::SolverFailed,
                  fmt::format("a derivative is not finite {:.3g} s into the integration (the solver says: {})",
                              *time_not_finite - from, message),
                  {"", "", std::nullopt, "Check the start values and the inputs"});
    }
    throw Error(ErrorCode::SolverFailed,
                fmt::format("the integrator gave up {:.3g} s into the integration: {}", reached - from, message),
                {"", "", std::nullopt, "Use a smaller step, or the stiff integrator if the model is stiff"});
  }

  /// Not for the integration itself, which has its own report.
  void require(int flag) const {
    if (flag < 0) throw Error(ErrorCode::SolverFailed, fmt::format("SUNDIALS cannot be set up: {}", message));
  }

  /// Nothing that `call` throws passes through SUNDIALS; it is thrown again afterwards.
  template <class Call>
  int guarded(Call&& call) {
    try {
      return call();
    } catch (...) {
      exception = std::current_exception();
      return -1;
    }
  }

  static int derivatives(double t, N_Vector x, N_Vector dx, void* user_data) {
    auto& self = *static_cast<Impl*>(user_data);
    return self.guarded([&] {
      const auto result = entries(dx);
      self.problem->derivatives(t, entries(x), result);
      if (std::all_of(result.begin(), result.end(), [](double value) { return std::isfinite(value); })) return 0;
      self.time_not_finite = t;
      return 1;  // CVODE may try a smaller step
    });
  }

  static int indicators(double t, N_Vector x, double* z, void* user_data) {
    auto& self = *static_cast<Impl*>(user_data);
    return self.guarded([&] {
      if (self.blind) {
        std::fill(z, z + self.options.indicators, 1.0);
      } else {
        (*self.problem->indicators)(t, entries(x), {z, self.options.indicators});
      }
      return 0;
    });
  }

  static int fill_jacobian(double t, N_Vector x, N_Vector, SUNMatrix matrix, void* user_data, N_Vector, N_Vector,
                           N_Vector) {
    auto& self = *static_cast<Impl*>(user_data);
    return self.guarded([&] {
      for (const auto& group : self.groups) {
        for (const std::size_t column : group) self.seed[column] = 1.0;
        (*self.problem->jacobian_product)(t, entries(x), self.seed, self.product);
        for (const std::size_t column : group) {
          self.seed[column] = 0.0;
          double* entries_of_column = SUNDenseMatrix_Column(matrix, static_cast<sunindextype>(column));
          for (const std::size_t row : self.options.jacobian->rows_of_column[column]) {
            entries_of_column[row] = self.product[row];
          }
        }
      }
      return 0;
    });
  }

  static void note_message(int, const char*, const char*, char* text, void* user_data) {
    static_cast<Impl*>(user_data)->message = text;
  }

  OdeOptions options;
  // Released in reverse order: the integrator first, the context last.
  Context context;
  Vector x;
  Vector tolerances;
  DenseMatrix jacobian;
  LinearSolver linear_solver;
  Memory memory{nullptr, free_erk};
  std::vector<std::vector<std::size_t>> groups;  ///< columns of the Jacobian that one product tells
  std::vector<double> seed, product;

  std::vector<int> directions;  ///< of the indicators at a root: 1 rising, -1 falling, 0 no root
  std::vector<double> z;
  std::vector<double> slopes;
  std::vector<double> x_of_step;  ///< at the start of the internal step under way ...
  Time step_start = 0.0;          ///< ... and when that is
  bool blind = false;             ///< roots are not looked for

  const OdeProblem* problem = nullptr;
  std::exception_ptr exception;
  std::optional<Time> time_not_finite;
  std::string message;
};

OdeSolver::OdeSolver(std::size_t states, OdeOptions options)
    : impl_(std::make_unique<Impl>(states, std::move(options))) {}
OdeSolver::~OdeSolver() = default;
OdeSolver::OdeSolver(OdeSolver&&) noexcept = default;
OdeSolver& OdeSolver::operator=(OdeSolver&&) noexcept = default;

void OdeSolver::integrate(Time from, Time to, std::span<double> x, OdeProblem::RightHandSide function) {
  static_cast<void>(advance(from, to, x, {.derivatives = function}));
}

OdeReached OdeSolver::advance(Time from, Time to, std::span<double> x, const OdeProblem& problem) {
  auto& impl = *impl_;
  impl.problem = &problem;
  impl.exception = nullptr;
  impl.time_not_finite.reset();
  impl.message.clear();
  std::copy(x.begin(), x.end(), entries(impl.x.get()).begin());
  const OdeReached reached = impl.run(from, to);
  const auto result = entries(impl.x.get());
  std::copy(result.begin(), result.end(), x.begin());
  return reached;
}

}  // namespace entrain
