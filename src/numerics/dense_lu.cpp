#include "numerics/dense_lu.hpp"

#include "numerics/dense.hpp"

namespace entrain::numerics {

struct DenseLu::Factors {
  Eigen::PartialPivLU<Eigen::MatrixXd> lu;
};

DenseLu::DenseLu(const Matrix& matrix)
    : factors_(std::make_unique<Factors>(Factors{Eigen::PartialPivLU<Eigen::MatrixXd>(view(matrix))})) {}
DenseLu::~DenseLu() = default;
DenseLu::DenseLu(DenseLu&&) noexcept = default;
DenseLu& DenseLu::operator=(DenseLu&&) noexcept = default;

void DenseLu::solve(std::span<double> right_side) const {
  Eigen::Map<Eigen::VectorXd> values(right_side.data(), index(right_side.size()));
  values = factors_->lu.solve(values).eval();
}

}  // namespace entrain::numerics
