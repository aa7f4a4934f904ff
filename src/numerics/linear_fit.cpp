#include "numerics/linear_fit.hpp"

#include "numerics/dense.hpp"

namespace entrain::numerics {

std::optional<Matrix> linear_fit(const Matrix& samples, const Matrix& targets, double tolerance) {
  if (samples.rows < samples.cols || samples.cols == 0) return std::nullopt;
  const RowMajor x = view(samples);
  const RowMajor y = view(targets);
  // Columns of one size each, so that the rank is judged by directions and not by units.
  Eigen::VectorXd scale = x.colwise().norm().transpose();
  for (double& s : scale) s = s > 0.0 ? 1.0 / s : 1.0;
  const Eigen::MatrixXd scaled = x * scale.asDiagonal();
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
  qr.setThreshold(1e-10);
  qr.compute(scaled);
  if (qr.rank() < scaled.cols()) return std::nullopt;
  const Eigen::MatrixXd fit = scale.asDiagonal() * qr.solve(Eigen::MatrixXd(y));
  const Eigen::MatrixXd missed = (x * fit - y).cwiseAbs();
  for (Eigen::Index column = 0; column < y.cols(); ++column) {
    const double size = y.col(column).cwiseAbs().maxCoeff();
    if (!(missed.col(column).maxCoeff() <= tolerance * size)) return std::nullopt;
  }
  return to_matrix(fit);
}

}  // namespace entrain::numerics
