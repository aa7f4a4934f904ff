#include "numerics/newton.hpp"

#include <kinsol/kinsol.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "entrain/error.hpp"

namespace entrain::numerics {
namespace {

constexpr std::size_t kDenseLimit = 200;  // beyond, n + 1 residuals per Jacobian cost more than Krylov iterations

/// The common reasons of KINSOL in plain text.
std::string explanation(int flag, const std::string& message) {
  switch (flag) {
    case KIN_LSETUP_FAIL:
    case KIN_LSOLVE_FAIL: return "its equations are singular: they have no solution, or many";
    case KIN_MAXITER_REACHED: return "too many iterations";
    case KIN_LINESEARCH_NONCONV:
    case KIN_STEP_LT_STPTOL: return "no step brings it nearer to a solution";
    case KIN_FIRST_SYSFUNC_ERR: return "its values are not finite at the first guess";
    default: return message.empty() ? "KINSOL code " + std::to_string(flag) : message;
  }
}

}  // namespace

struct NewtonSolver::Impl {
  explicit Impl(std::size_t unknowns) : n(unknowns) {
    SUNContext_Create(nullptr, &context);
    const auto length = static_cast<sunindextype>(n);
    x = N_VNew_Serial(length, context);
    x_scale = N_VNew_Serial(length, context);
    memory = KINCreate(context);
    KINSetErrHandlerFn(memory, &Impl::on_message, this);
    KINSetInfoHandlerFn(
        memory, [](const char*, const char*, char*, void*) {}, nullptr);
    KINSetUserData(memory, this);
    KINInit(memory, &Impl::on_residual, x);
    if (n <= kDenseLimit) {
      matrix = SUNDenseMatrix(length, length, context);
      linear_solver = SUNLinSol_Dense(x, matrix, context);
    } else {
      linear_solver = SUNLinSol_SPGMR(x, SUN_PREC_NONE, 50, context);
    }
    KINSetLinearSolver(memory, linear_solver, matrix);
    KINSetMaxSetupCalls(memory, 1);  // a fresh Jacobian at every iteration: loops are small and must converge
    KINSetNumMaxIters(memory, 100);
  }
  ~Impl() {
    KINFree(&memory);
    SUNLinSolFree(linear_solver);
    if (matrix != nullptr) SUNMatDestroy(matrix);
    N_VDestroy(x);
    N_VDestroy(x_scale);
    SUNContext_Free(&context);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  static void on_message(int, const char*, const char*, char* text, void* self) {
    static_cast<Impl*>(self)->message = text;
  }
  static int on_residual(N_Vector at, N_Vector result, void* self) {
    auto& impl = *static_cast<Impl*>(self);
    try {
      (*impl.residual)({N_VGetArrayPointer(at), impl.n}, {N_VGetArrayPointer(result), impl.n});
    } catch (...) {
      impl.thrown = std::current_exception();
      return -1;
    }
    const double* values = N_VGetArrayPointer(result);
    return std::all_of(values, values + impl.n, [](double v) { return std::isfinite(v); }) ? 0 : 1;
  }

  std::size_t n;
  SUNContext context = nullptr;
  N_Vector x = nullptr;
  N_Vector x_scale = nullptr;
  SUNMatrix matrix = nullptr;
  SUNLinearSolver linear_solver = nullptr;
  void* memory = nullptr;
  const Residual* residual = nullptr;
  std::string message;
  std::exception_ptr thrown;
};

NewtonSolver::NewtonSolver(std::size_t unknowns) : impl_(std::make_unique<Impl>(unknowns)) {}
NewtonSolver::~NewtonSolver() = default;
NewtonSolver::NewtonSolver(NewtonSolver&&) noexcept = default;
NewtonSolver& NewtonSolver::operator=(NewtonSolver&&) noexcept = default;

NewtonSolver::Result NewtonSolver::solve(std::span<double> x, double tolerance, Residual residual) {
  Impl& impl = *impl_;
  impl.residual = &residual;
  impl.message.clear();
  impl.thrown = nullptr;
  double* unknowns = N_VGetArrayPointer(impl.x);
  double* scale = N_VGetArrayPointer(impl.x_scale);
  for (std::size_t i = 0; i < impl.n; ++i) {
    unknowns[i] = x[i];
    scale[i] = 1.0 / (1.0 + std::abs(x[i]));
  }
  // KINSOL stops a decade below what is asked, so that the check below decides and not the last rounding.
  KINSetFuncNormTol(impl.memory, 0.1 * tolerance);
  KINSetScaledStepTol(impl.memory, 1e-16);
  // KINSOL derives its largest step from the first guess; zeros are a common guess and must not limit the steps of the
  // solver.
  KINSetMaxNewtonStep(impl.memory, 1e6 * std::sqrt(static_cast<double>(impl.n)));
  const int flag = KINSol(impl.memory, impl.x, KIN_LINESEARCH, impl.x_scale, impl.x_scale);
  if (impl.thrown) std::rethrow_exception(impl.thrown);

  Result result;
  long iterations = 0;
  KINGetNumNonlinSolvIters(impl.memory, &iterations);
  result.iterations = static_cast<int>(iterations);
  std::copy(unknowns, unknowns + impl.n, x.begin());
  // Whatever KINSOL calls it (small step, line search at its end): the residual itself shows whether it is a solution.
  residual(x, {scale, impl.n});
  result.converged = true;
  for (std::size_t i = 0; i < impl.n; ++i) {
    if (!(std::abs(scale[i]) <= tolerance * (1.0 + std::abs(x[i])))) result.converged = false;
  }
  if (!result.converged) result.message = explanation(flag, impl.message);
  return result;
}

}  // namespace entrain::numerics
