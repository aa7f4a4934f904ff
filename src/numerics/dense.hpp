#pragma once

// For the .cpp files of numerics/ and analysis/ only: Eigen stays inside.
#include <Eigen/Dense>

#include "entrain/subsystem.hpp"

namespace entrain::numerics {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline Eigen::Index index(std::size_t i) {
  return static_cast<Eigen::Index>(i);
}

inline Eigen::Map<const RowMajor> view(const Matrix& m) {
  return {m.values.data(), index(m.rows), index(m.cols)};
}

template <class Derived>
Matrix to_matrix(const Eigen::MatrixBase<Derived>& m) {
  Matrix result(static_cast<std::size_t>(m.rows()), static_cast<std::size_t>(m.cols()));
  Eigen::Map<RowMajor>(result.values.data(), m.rows(), m.cols()) = m;
  return result;
}

}  // namespace entrain::numerics
