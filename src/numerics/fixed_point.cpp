#include "numerics/fixed_point.hpp"

#include <kinsol/kinsol.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_spgmr.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <vector>

namespace entrain::numerics {
namespace {

constexpr std::size_t kAndersonHistory = 5;
constexpr std::size_t kKrylovVectors = 30;
constexpr double kKrylovTolerance = 1e-2;  // of the linear solve, relative: g is costlier than one more Newton step
constexpr int kStop = -1;                  // makes KINSOL return
constexpr int kNoValue = 1;

}  // namespace

/// KINSOL works on z / scale. It proposes, the rule in `judge` decides: when it holds, KINSOL is made to leave.
struct FixedPointSolver::Impl {
  Impl(std::size_t unknowns, FixedPointMethod chosen) : n(unknowns), method(chosen), step(unknowns, 0.0) {
    if (n > 0 && method == FixedPointMethod::QuasiNewton) {
      columns.emplace(n);
      scaled_residual.resize(n);
      scaled_image.resize(n);
      scaled_next.resize(n);
      return;
    }
    if (n == 0 || method == FixedPointMethod::Plain) return;
    const auto length = static_cast<sunindextype>(n);
    SUNContext_Create(nullptr, &context);
    scaled = N_VNew_Serial(length, context);
    ones = N_VNew_Serial(length, context);
    N_VConst(1.0, ones);
    memory = KINCreate(context);
    KINSetErrHandlerFn(
        memory, [](int, const char*, const char*, char*, void*) {}, nullptr);
    KINSetInfoHandlerFn(
        memory, [](const char*, const char*, char*, void*) {}, nullptr);
    KINSetUserData(memory, this);
    if (method == FixedPointMethod::Anderson) {
      KINSetMAA(memory, static_cast<long>(std::min(n, kAndersonHistory)));
      KINInit(memory, &Impl::on_map, scaled);
    } else {
      KINInit(memory, &Impl::on_residual, scaled);
      linear_solver = SUNLinSol_SPGMR(scaled, SUN_PREC_NONE, static_cast<int>(std::min(n, kKrylovVectors)), context);
      KINSetLinearSolver(memory, linear_solver, nullptr);
      KINSetJacTimesVecFn(memory, &Impl::on_product);
      base.resize(n);
      base_residual.resize(n);
      KINSetEtaForm(memory, KIN_ETACONSTANT);
      KINSetEtaConstValue(memory, kKrylovTolerance);
      KINSetMaxNewtonStep(memory, 1e6 * std::sqrt(static_cast<double>(n)));
    }
    KINSetNumMaxIters(memory, 1'000'000);  // evaluations are limited instead
    KINSetFuncNormTol(memory, 1e-300);
    KINSetScaledStepTol(memory, 1e-300);
  }
  ~Impl() {
    if (memory == nullptr) return;
    KINFree(&memory);
    if (linear_solver != nullptr) SUNLinSolFree(linear_solver);
    N_VDestroy(scaled);
    N_VDestroy(ones);
    SUNContext_Free(&context);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// One evaluation, at what lies in z.
  bool evaluate() {
    if (result.evaluations >= settings->max_evaluations) return false;
    ++result.evaluations;
    const bool has_value =
        (*map)(z, image) && std::all_of(image.begin(), image.end(), [](double v) { return std::isfinite(v); });
    if (has_value && settings->correction != nullptr) {
      for (std::size_t i = 0; i < n; ++i) step[i] = image[i] - z[i];
      (*settings->correction)(step);
    }
    return has_value;
  }
  /// Where the iteration without acceleration goes from z.
  double next(std::size_t i) const { return settings->correction != nullptr ? z[i] + step[i] : image[i]; }
  bool may_be_converged() const { return result.evaluations >= settings->least_evaluations && within_tolerance(); }

  bool within_tolerance() const {
    for (std::size_t i = 0; i < n; ++i) {
      if (!(std::abs(z[i] - image[i]) <= settings->tolerance * (std::abs(image[i]) + 1.0))) return false;
    }
    return true;
  }

  /// Evaluates at a scaled point; returns the code for KINSOL, 0 on success.
  int evaluate_at(const double* point) {
    if (result.evaluations >= settings->max_evaluations) return kStop;  // z stays what image belongs to
    for (std::size_t i = 0; i < n; ++i) z[i] = point[i] * settings->scale[i];
    try {
      return evaluate() ? 0 : kNoValue;
    } catch (...) {
      thrown = std::current_exception();
      return kStop;
    }
  }

  /// Evaluates an iterate and decides whether it is the solution.
  int judge(N_Vector at) {
    if (const int trouble = evaluate_at(N_VGetArrayPointer(at)); trouble != 0) return trouble;
    result.converged = may_be_converged();
    return result.converged ? kStop : 0;
  }

  static int on_map(N_Vector at, N_Vector value, void* self) {
    auto& impl = *static_cast<Impl*>(self);
    const int verdict = impl.judge(at);
    if (verdict == kNoValue) return kStop;  // KINSOL would mix what is no value into its next iterate
    double* values = N_VGetArrayPointer(value);
    for (std::size_t i = 0; i < impl.n; ++i) values[i] = impl.next(i) / impl.settings->scale[i];
    return verdict;
  }
  static int on_residual(N_Vector at, N_Vector value, void* self) {
    auto& impl = *static_cast<Impl*>(self);
    const int verdict = impl.judge(at);
    impl.write_residual(N_VGetArrayPointer(value));
    impl.write_residual(impl.base_residual.data());
    std::copy_n(N_VGetArrayPointer(at), impl.n, impl.base.begin());
    return verdict;
  }

  /// J v by a difference of residuals. Ours, because a point beside an iterate must never be taken for the solution
  /// (KINSetJacTimesVecSysFn of SUNDIALS 6.4, made for this, looks at a null pointer).
  static int on_product(N_Vector direction, N_Vector product, N_Vector at, booleantype*, void* self) {
    auto& impl = *static_cast<Impl*>(self);
    const double* point = N_VGetArrayPointer(at);
    const bool known = std::equal(impl.base.begin(), impl.base.end(), point);
    if (!known) {
      if (const int trouble = impl.evaluate_at(point); trouble != 0) return trouble;
      impl.write_residual(impl.base_residual.data());
    }
    const double* v = N_VGetArrayPointer(direction);
    const double length = std::sqrt(N_VDotProd(direction, direction));
    const double delta = std::sqrt(SUN_UNIT_ROUNDOFF) * (1.0 + std::sqrt(N_VDotProd(at, at))) / length;
    for (std::size_t i = 0; i < impl.n; ++i) impl.base[i] = point[i] + delta * v[i];
    const int trouble = impl.evaluate_at(impl.base.data());
    std::copy_n(point, impl.n, impl.base.begin());
    double* quotient = N_VGetArrayPointer(product);
    impl.write_residual(quotient);
    for (std::size_t i = 0; i < impl.n; ++i) quotient[i] = (quotient[i] - impl.base_residual[i]) / delta;
    return trouble;
  }
  /// Of the last evaluation, scaled.
  void write_residual(double* residual) const {
    for (std::size_t i = 0; i < n; ++i) residual[i] = (z[i] - next(i)) / settings->scale[i];
  }

  void iterate_plainly() {
    while (evaluate()) {
      result.converged = may_be_converged();
      if (result.converged) return;
      for (std::size_t i = 0; i < n; ++i) z[i] = next(i);
    }
  }

  void iterate_by_columns() {
    columns->begin();
    while (evaluate()) {
      result.converged = may_be_converged();
      for (std::size_t i = 0; i < n; ++i) {
        scaled_image[i] = next(i) / settings->scale[i];
        scaled_residual[i] = scaled_image[i] - z[i] / settings->scale[i];
      }
      columns->evaluated(scaled_residual, scaled_image, scaled_next);
      if (result.converged) return;
      if (!std::all_of(scaled_next.begin(), scaled_next.end(), [](double v) { return std::isfinite(v); })) {
        columns->clear();
        scaled_next = scaled_image;
      }
      if (result.evaluations >= settings->max_evaluations) return;  // z stays what image belongs to
      for (std::size_t i = 0; i < n; ++i) z[i] = scaled_next[i] * settings->scale[i];
    }
  }

  void iterate_with_kinsol() {
    double* values = N_VGetArrayPointer(scaled);
    for (std::size_t i = 0; i < n; ++i) values[i] = z[i] / settings->scale[i];
    KINSol(memory, scaled, method == FixedPointMethod::Anderson ? KIN_FP : KIN_LINESEARCH, ones, ones);
    if (thrown) std::rethrow_exception(std::exchange(thrown, nullptr));
  }

  std::size_t n;
  FixedPointMethod method;
  std::vector<double> step;  // the corrected difference of the last evaluation
  std::optional<InterfaceColumns> columns;
  std::vector<double> scaled_residual, scaled_image, scaled_next;
  SUNContext context = nullptr;
  N_Vector scaled = nullptr;
  N_Vector ones = nullptr;
  SUNLinearSolver linear_solver = nullptr;
  void* memory = nullptr;

  // Of the solve under way.
  const Settings* settings = nullptr;
  const Map* map = nullptr;
  std::span<double> z, image;
  Result result;
  std::exception_ptr thrown;
  std::vector<double> base, base_residual;  // of the last iterate, scaled
};

FixedPointSolver::FixedPointSolver(std::size_t unknowns, FixedPointMethod method)
    : impl_(std::make_unique<Impl>(unknowns, method)) {}
FixedPointSolver::~FixedPointSolver() = default;
FixedPointSolver::FixedPointSolver(FixedPointSolver&&) noexcept = default;
FixedPointSolver& FixedPointSolver::operator=(FixedPointSolver&&) noexcept = default;

FixedPointSolver::Result FixedPointSolver::solve(std::span<double> z, std::span<double> image, const Settings& settings,
                                                 Map map) {
  Impl& impl = *impl_;
  impl.settings = &settings;
  impl.map = &map;
  impl.z = z;
  impl.image = image;
  impl.result = {};
  if (impl.columns) {
    impl.iterate_by_columns();
  } else if (impl.memory == nullptr) {
    impl.iterate_plainly();
  } else {
    impl.iterate_with_kinsol();
    // KINSOL returns when the residual is exactly zero, or when it makes no progress; the residual shows
    // which.
    if (!impl.result.converged && impl.result.evaluations < settings.max_evaluations && impl.evaluate()) {
      impl.result.converged = impl.within_tolerance();
    }
  }
  return impl.result;
}

void FixedPointSolver::forget() {
  if (impl_->columns) impl_->columns->clear();
}

FixedPointSolver::Memory FixedPointSolver::memory() const {
  return impl_->columns ? impl_->columns->memory() : Memory{};
}

void FixedPointSolver::restore(const Memory& memory) {
  if (impl_->columns) impl_->columns->restore(memory);
}

}  // namespace entrain::numerics
