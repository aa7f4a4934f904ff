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

std::span<double> entries(N_Vector vector) {
  return {N_VGetArrayPointer(vector), static_cast<std::size_t>(N_VGetLength(vector))};
}

}  // namespace

struct OdeSolver::Impl {
  Impl(std::size_t states, OdeOptions given)
      : options(given), context(make_context()), x(N_VNew_Serial(static_cast<sunindextype>(states), context.get())) {
    N_VConst(0.0, x.get());
    if (options.method == OdeMethod::Bdf) {
      set_up_bdf();
    } else {
      set_up_runge_kutta();
    }
  }

  void set_up_runge_kutta() {
    memory = Memory(ERKStepCreate(&Impl::derivatives, 0.0, x.get(), context.get()), free_erk);
    require(memory == nullptr ? -1 : 0);
    require(ERKStepSetErrHandlerFn(memory.get(), &Impl::note_message, this));
    require(ERKStepSetUserData(memory.get(), this));
    require(ERKStepSStolerances(memory.get(), options.relative_tolerance, options.absolute_tolerance));
    require(ERKStepSetTableNum(memory.get(), ARKODE_FEHLBERG_13_7_8));
    require(ERKStepSetMaxNumSteps(memory.get(), options.max_steps));
  }

  void set_up_bdf() {
    memory = Memory(CVodeCreate(CV_BDF, context.get()), free_cvode);
    require(memory == nullptr ? -1 : 0);
    require(CVodeSetErrHandlerFn(memory.get(), &Impl::note_message, this));
    require(CVodeSetUserData(memory.get(), this));
    require(CVodeInit(memory.get(), &Impl::derivatives, 0.0, x.get()));
    require(CVodeSStolerances(memory.get(), options.relative_tolerance, options.absolute_tolerance));
    require(CVodeSetMaxNumSteps(memory.get(), options.max_steps));
    const auto size = N_VGetLength(x.get());
    jacobian.reset(SUNDenseMatrix(size, size, context.get()));
    linear_solver.reset(SUNLinSol_Dense(x.get(), jacobian.get(), context.get()));
    require(CVodeSetLinearSolver(memory.get(), linear_solver.get(), jacobian.get()));
  }

  // The stop time keeps the solver from evaluating beyond `to`, where the inputs are not meant to be known.
  int evolve(Time from, Time to, Time& reached) {
    if (options.method == OdeMethod::Bdf) {
      require(CVodeReInit(memory.get(), from, x.get()));
      require(CVodeSetStopTime(memory.get(), to));
      return CVode(memory.get(), to, x.get(), &reached, CV_NORMAL);
    }
    require(ERKStepReInit(memory.get(), &Impl::derivatives, from, x.get()));
    require(ERKStepSetStopTime(memory.get(), to));
    return ERKStepEvolve(memory.get(), to, x.get(), &reached, ARK_NORMAL);
  }

  /// Not for the integration itself, which has its own report.
  void require(int flag) const {
    if (flag < 0) throw Error(ErrorCode::SolverFailed, fmt::format("SUNDIALS cannot be set up: {}", message));
  }

  static int derivatives(double t, N_Vector x, N_Vector dx, void* user_data) {
    auto& self = *static_cast<Impl*>(user_data);
    try {
      const auto result = entries(dx);
      (*self.function)(t, entries(x), result);
      if (std::all_of(result.begin(), result.end(), [](double value) { return std::isfinite(value); })) return 0;
      self.time_not_finite = t;
      return 1;  // CVODE may try a smaller step
    } catch (...) {
      self.exception = std::current_exception();
      return -1;
    }
  }

  static void note_message(int, const char*, const char*, char* text, void* user_data) {
    static_cast<Impl*>(user_data)->message = text;
  }

  OdeOptions options;
  // Released in reverse order: the integrator first, the context last.
  Context context;
  Vector x;
  DenseMatrix jacobian;
  LinearSolver linear_solver;
  Memory memory{nullptr, free_erk};

  const RightHandSide* function = nullptr;
  std::exception_ptr exception;
  std::optional<Time> time_not_finite;
  std::string message;
};

OdeSolver::OdeSolver(std::size_t states, OdeOptions options) : impl_(std::make_unique<Impl>(states, options)) {}
OdeSolver::~OdeSolver() = default;
OdeSolver::OdeSolver(OdeSolver&&) noexcept = default;
OdeSolver& OdeSolver::operator=(OdeSolver&&) noexcept = default;

void OdeSolver::integrate(Time from, Time to, std::span<double> x, RightHandSide function) {
  auto& impl = *impl_;
  impl.function = &function;
  impl.exception = nullptr;
  impl.time_not_finite.reset();
  impl.message.clear();
  std::copy(x.begin(), x.end(), entries(impl.x.get()).begin());

  Time reached = from;
  const int flag = impl.evolve(from, to, reached);
  if (impl.exception) std::rethrow_exception(impl.exception);
  if (flag < 0) {
    if (impl.time_not_finite) {
      throw Error(ErrorCode::SolverFailed,
                  fmt::format("a derivative is not finite (the solver says: {})", impl.message),
                  {"", "", impl.time_not_finite, "Check the start values and the inputs"});
    }
    throw Error(ErrorCode::SolverFailed, fmt::format("the integrator gave up: {}", impl.message),
                {"", "", reached, "Use a smaller step, or the stiff integrator if the model is stiff"});
  }
  const auto result = entries(impl.x.get());
  std::copy(result.begin(), result.end(), x.begin());
}

}  // namespace entrain
