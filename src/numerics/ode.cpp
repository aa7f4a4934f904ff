#include "numerics/ode.hpp"

#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <fmt/format.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "numerics/ode_impl.hpp"

namespace entrain::numerics {
namespace {

void free_context(_SUNContext* context) {
  SUNContext_Free(&context);
}
void free_nonlinear_solver(SUNNonlinearSolver solver) {
  SUNNonlinSolFree(solver);
}
void free_erk(void* memory) {
  ERKStepFree(&memory);
}
void free_cvode(void* memory) {
  CVodeFree(&memory);
}

SUNContext make_context() {
  SUNContext context = nullptr;
  if (SUNContext_Create(nullptr, &context) != 0)
    throw Error(ErrorCode::SolverFailed, {FactCode::IntegratorNotSetUp, {}, {{"why", "no context"}}});
  return context;
}

class DenseSolver final : public OdeLinearSolver {
 public:
  DenseSolver(const OdeLinearSetup& setup, SUNMatrix matrix)
      : OdeLinearSolver(matrix, SUNLinSol_Dense(setup.states, matrix, setup.context)), pattern_(setup.pattern) {}

  void put_column(SUNMatrix matrix, std::size_t column, std::span<const double> values) const override {
    double* entries_of_column = SUNDenseMatrix_Column(matrix, static_cast<sunindextype>(column));
    for (const std::size_t row : pattern_->rows_of_column[column]) entries_of_column[row] = values[row];
  }

 private:
  const SparsityPattern* pattern_;
};

/// Rejected attempts in a row that are no failure: from a smooth stretch into a sharp corner the step falls by a factor
/// of 0.3 each. The usual 7 are not enough for a corner of 1e-5 of the step before.
constexpr int kMostRejections = 40;

using ButcherTable = std::unique_ptr<ARKodeButcherTableMem, void (*)(ARKodeButcherTable)>;

/// Fehlberg 13-7-8 after a stage that is not used. Because the last stage lies at the end of the step, SUNDIALS 6.4
/// takes its derivative for that of the solution there and starts the next step with it, although the two differ in
/// this method; so the method begins with a derivative of its own. (With SUNDIALS' own table the relaxation
/// x' = (w - x) / T takes twice the steps and fails once in a hundred.)
ButcherTable fehlberg_8() {
  const ButcherTable given(ARKodeButcherTable_LoadERK(ARKODE_FEHLBERG_13_7_8), ARKodeButcherTable_Free);
  if (!given)
    throw Error(ErrorCode::SolverFailed,
                {FactCode::IntegratorNotSetUp, {}, {{"why", "the method Fehlberg 13-7-8 is missing"}}});
  const auto stages = static_cast<std::size_t>(given->stages) + 1;
  std::vector<double> c(stages), a(stages * stages), b(stages), d(stages);
  for (std::size_t i = 1; i < stages; ++i) {
    c[i] = given->c[i - 1];
    b[i] = given->b[i - 1];
    d[i] = given->d[i - 1];
    for (std::size_t j = 1; j < i; ++j) a[i * stages + j] = given->A[i - 1][j - 1];
  }
  return {
      ARKodeButcherTable_Create(static_cast<int>(stages), given->q, given->p, c.data(), a.data(), b.data(), d.data()),
      ARKodeButcherTable_Free};
}

/// Nothing that `call` throws passes through SUNDIALS; `exception` keeps it, to be thrown again afterwards.
template <class Call>
int guarded(std::exception_ptr& exception, Call&& call) {
  try {
    return call();
  } catch (...) {
    exception = std::current_exception();
    return -1;
  }
}

}  // namespace

std::unique_ptr<OdeLinearSolver> dense_linear_solver(const OdeLinearSetup& setup) {
  const auto size = N_VGetLength(setup.states);
  return std::make_unique<DenseSolver>(setup, SUNDenseMatrix(size, size, setup.context));
}

OdeSolver::Impl::Impl(std::size_t states, OdeOptions given)
    : options(std::move(given)),
      context(make_context(), free_context),
      x(N_VNew_Serial(static_cast<sunindextype>(states), context.get()), N_VDestroy),
      tolerances(N_VClone(x.get()), N_VDestroy),
      fixed_point(nullptr, free_nonlinear_solver),
      memory(nullptr, free_erk) {
  N_VConst(0.0, x.get());
  N_VConst(options.absolute_tolerance, tolerances.get());
  std::copy(options.absolute_tolerances.begin(), options.absolute_tolerances.end(), entries(tolerances.get()).begin());
  if (watching()) {
    directions.assign(options.indicators, 0);
    z.assign(options.indicators, 0.0);
    slopes.assign(states, 0.0);
    x_of_step.assign(states, 0.0);
  }
  if (multistep()) {
    set_up_multistep();
  } else {
    set_up_runge_kutta();
  }
}

void OdeSolver::Impl::set_up_runge_kutta() {
  memory = {ERKStepCreate(&Impl::derivatives, 0.0, x.get(), context.get()), free_erk};
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

void OdeSolver::Impl::set_up_multistep() {
  const bool adams = options.method == OdeMethod::Adams;
  memory = {CVodeCreate(adams ? CV_ADAMS : CV_BDF, context.get()), free_cvode};
  require(memory == nullptr ? -1 : 0);
  require(CVodeSetErrHandlerFn(memory.get(), &Impl::note_message, this));
  require(CVodeSetUserData(memory.get(), this));
  require(CVodeInit(memory.get(), &Impl::derivatives, 0.0, x.get()));
  require(CVodeSVtolerances(memory.get(), options.relative_tolerance, tolerances.get()));
  require(CVodeSetMaxErrTestFails(memory.get(), kMostRejections));
  require(CVodeSetMaxNumSteps(memory.get(), options.max_steps));
  if (adams) {
    fixed_point = {SUNNonlinSol_FixedPoint(x.get(), 0, context.get()), free_nonlinear_solver};
    require(fixed_point == nullptr ? -1 : CVodeSetNonlinearSolver(memory.get(), fixed_point.get()));
  } else {
    set_up_newton();
  }
  if (options.indicators == 0) return;
  require(CVodeRootInit(memory.get(), static_cast<int>(options.indicators), &Impl::indicators));
  require(CVodeSetNoInactiveRootWarn(memory.get()));
}

void OdeSolver::Impl::set_up_newton() {
  const OdeLinearSetup setup{x.get(), context.get(), options.jacobian ? &*options.jacobian : nullptr};
  linear_solver = options.linear_solver(setup);
  require(CVodeSetLinearSolver(memory.get(), linear_solver->solver(), linear_solver->matrix()));
  if (options.jacobian) {
    const std::size_t states = entries(x.get()).size();
    groups = independent_columns(*options.jacobian, states);
    seed.assign(states, 0.0);
    product.assign(states, 0.0);
    require(CVodeSetJacFn(memory.get(), &Impl::fill_jacobian));
  }
}

void OdeSolver::Impl::start(Time from, Time to) {
  require(multistep() ? CVodeReInit(memory.get(), from, x.get())
                      : ERKStepReInit(memory.get(), &Impl::derivatives, from, x.get()));
  stop_at(to);
}

/// Keeps the solver from evaluating beyond `to`, where the inputs are not meant to be known.
void OdeSolver::Impl::stop_at(Time to) {
  require(multistep() ? CVodeSetStopTime(memory.get(), to) : ERKStepSetStopTime(memory.get(), to));
}

long OdeSolver::Impl::count_steps() const {
  long count = 0;
  require(multistep() ? CVodeGetNumSteps(memory.get(), &count) : ERKStepGetNumSteps(memory.get(), &count));
  return count;
}

int OdeSolver::Impl::evolve(Time to, bool one_step, Time& reached) {
  if (multistep()) return CVode(memory.get(), to, x.get(), &reached, one_step ? CV_ONE_STEP : CV_NORMAL);
  return ERKStepEvolve(memory.get(), to, x.get(), &reached, one_step ? ARK_ONE_STEP : ARK_NORMAL);
}

// Both integrators number their reports alike.
static_assert(CV_TSTOP_RETURN == ARK_TSTOP_RETURN && CV_ROOT_RETURN == ARK_ROOT_RETURN);

OdeReached OdeSolver::Impl::run(Time from, Time to) {
  const bool notified = problem->step_completed.has_value();
  const bool one_step = notified || watching();
  Time reached = from;
  for (long steps = 0;; ++steps) {
    if (watching()) keep_start_of_step(reached);
    const int flag = evolve(to, one_step, reached);
    if (flag < 0) return given_up(from, reached);
    if (flag == CV_ROOT_RETURN) reached = settle_on_root(reached, to);
    const bool stopped = notified && (*problem->step_completed)(reached, entries(x.get()));
    if (flag == CV_ROOT_RETURN) return {reached, OdeReached::Cause::Indicator};
    if (stopped) return {reached, OdeReached::Cause::Stopped};
    if (!one_step || flag == CV_TSTOP_RETURN) return {to, OdeReached::Cause::End};
    if (steps + 1 < options.max_steps) continue;
    message = fmt::format("more than {} steps", options.max_steps);
    return given_up(from, reached);
  }
}

/// The state is that of the last step that was made.
OdeReached OdeSolver::Impl::given_up(Time from, Time reached) const {
  if (options.may_give_up && !exception) return {reached, OdeReached::Cause::GaveUp};
  give_up(from, reached);
}

/// The times count from the start of the integration: only its caller knows whether they are local ones.
void OdeSolver::Impl::give_up(Time from, Time reached) const {
  if (exception) std::rethrow_exception(exception);
  if (time_not_finite) {
    throw Error(ErrorCode::SolverFailed,
                {FactCode::DerivativeNotFinite, {}, {{"after", *time_not_finite - from, "s"}, {"why", message}}},
                {"", "", std::nullopt, "Check the start values and the inputs"});
  }
  throw Error(ErrorCode::SolverFailed,
              {FactCode::IntegratorFailed, {}, {{"after", reached - from, "s"}, {"why", message}}},
              {"", "", std::nullopt, "Use a smaller step, or the stiff integrator if the model is stiff"});
}

/// Not for the integration itself, which has its own report.
void OdeSolver::Impl::require(int flag) const {
  if (flag < 0) throw Error(ErrorCode::SolverFailed, {FactCode::IntegratorNotSetUp, {}, {{"why", message}}});
}

int OdeSolver::Impl::derivatives(double t, N_Vector x, N_Vector dx, void* user_data) {
  auto& self = *static_cast<Impl*>(user_data);
  return guarded(self.exception, [&] {
    const auto result = entries(dx);
    self.problem->derivatives(t, entries(x), result);
    if (std::all_of(result.begin(), result.end(), [](double value) { return std::isfinite(value); })) return 0;
    self.time_not_finite = t;
    return 1;  // CVODE may try a smaller step
  });
}

int OdeSolver::Impl::indicators(double t, N_Vector x, double* z, void* user_data) {
  auto& self = *static_cast<Impl*>(user_data);
  return guarded(self.exception, [&] {
    if (self.blind) {
      std::fill(z, z + self.options.indicators, 1.0);
    } else {
      (*self.problem->indicators)(t, entries(x), {z, self.options.indicators});
    }
    return 0;
  });
}

int OdeSolver::Impl::fill_jacobian(double t, N_Vector x, N_Vector, SUNMatrix matrix, void* user_data, N_Vector,
                                   N_Vector, N_Vector) {
  auto& self = *static_cast<Impl*>(user_data);
  return guarded(self.exception, [&] {
    self.linear_solver->clear(matrix);
    for (const auto& group : self.groups) {
      for (const std::size_t column : group) self.seed[column] = 1.0;
      (*self.problem->jacobian_product)(t, entries(x), self.seed, self.product);
      for (const std::size_t column : group) {
        self.seed[column] = 0.0;
        self.linear_solver->put_column(matrix, column, self.product);
      }
    }
    return 0;
  });
}

void OdeSolver::Impl::note_message(int, const char*, const char*, char* text, void* user_data) {
  static_cast<Impl*>(user_data)->message = text;
}

OdeSolver::OdeSolver(std::size_t states, OdeOptions options)
    : impl_(std::make_unique<Impl>(states, std::move(options))) {}
OdeSolver::~OdeSolver() = default;
OdeSolver::OdeSolver(OdeSolver&&) noexcept = default;
OdeSolver& OdeSolver::operator=(OdeSolver&&) noexcept = default;

void OdeSolver::integrate(Time from, Time to, std::span<double> x, OdeProblem::RightHandSide function) {
  static_cast<void>(advance(from, to, x, {.derivatives = function}));
}

OdeReached OdeSolver::advance(Time from, Time to, std::span<double> x, const OdeProblem& problem) {
  return impl_->advance(from, to, x, problem, true);
}

OdeReached OdeSolver::go_on(Time from, Time to, std::span<double> x, const OdeProblem& problem) {
  const auto state = entries(impl_->x.get());
  const bool goes_on = impl_->ended == from && std::equal(x.begin(), x.end(), state.begin(), state.end());
  return impl_->advance(from, to, x, problem, !goes_on);
}

long OdeSolver::steps() const {
  return impl_->count_steps() - impl_->steps_before;
}

OdeReached OdeSolver::Impl::advance(Time from, Time to, std::span<double> values, const OdeProblem& given,
                                    bool afresh) {
  problem = &given;
  exception = nullptr;
  time_not_finite.reset();
  message.clear();
  ended.reset();
  const auto state = entries(x.get());
  if (afresh) {
    std::copy(values.begin(), values.end(), state.begin());
    start(from, to);
    steps_before = 0;
  } else {
    stop_at(to);
    steps_before = count_steps();
  }
  const OdeReached reached = run(from, to);
  std::copy(state.begin(), state.end(), values.begin());
  if (reached.cause == OdeReached::Cause::End) ended = to;
  return reached;
}

}  // namespace entrain::numerics
