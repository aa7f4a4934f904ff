#include "reproduce/rational.hpp"

#include <algorithm>
#include <cmath>

namespace entrain::reproducing {
namespace {

/// A similar matrix that is zero below the first subdiagonal, by elimination with pivots.
void make_hessenberg(Matrix& a) {
  for (std::size_t k = 1; k + 1 < a.rows; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < a.rows; ++i) {
      if (std::abs(a(i, k - 1)) > std::abs(a(pivot, k - 1))) pivot = i;
    }
    if (a(pivot, k - 1) == 0.0) continue;
    for (std::size_t j = 0; j < a.cols; ++j) std::swap(a(pivot, j), a(k, j));
    for (std::size_t i = 0; i < a.rows; ++i) std::swap(a(i, pivot), a(i, k));
    for (std::size_t i = k + 1; i < a.rows; ++i) {
      const double factor = a(i, k - 1) / a(k, k - 1);
      for (std::size_t j = 0; j < a.cols; ++j) a(i, j) -= factor * a(k, j);
      for (std::size_t j = 0; j < a.rows; ++j) a(j, k) += factor * a(j, i);
    }
  }
}

double value_of(const std::vector<double>& coefficients, double s) {
  double value = 0.0;
  for (std::size_t k = coefficients.size(); k-- > 0;) value = value * s + coefficients[k];
  return value;
}

/// Column j of c (sI - A)^-1 is (det(sI - A + e_j c) - det(sI - A)) / det(sI - A).
double by_rational(const Matrix& a, const Matrix& c, std::size_t column, double s) {
  const auto denominator = characteristic_polynomial(a);
  Matrix changed = a;
  for (std::size_t j = 0; j < a.cols; ++j) changed(column, j) -= c(0, j);
  auto numerator = characteristic_polynomial(changed);
  for (std::size_t k = 0; k < numerator.size(); ++k) numerator[k] -= denominator[k];
  return value_of(numerator, s) / value_of(denominator, s);
}

double by_solution(const Matrix& a, const Matrix& c, std::size_t column, double s) {
  const double determinant = (s - a(0, 0)) * (s - a(1, 1)) - a(0, 1) * a(1, 0);
  const double adjugate[2][2] = {{s - a(1, 1), a(0, 1)}, {a(1, 0), s - a(0, 0)}};
  return (c(0, 0) * adjugate[0][column] + c(0, 1) * adjugate[1][column]) / determinant;
}

}  // namespace

/// The determinants p_k of the leading blocks of sI - H follow from each other:
/// p_k = (s - h_kk) p_k-1 - sum over i < k of h_ik (product of h_j+1,j, j = i .. k - 1) p_i-1.
std::vector<double> characteristic_polynomial(Matrix a) {
  make_hessenberg(a);
  std::vector<std::vector<double>> p{{1.0}};
  for (std::size_t k = 0; k < a.rows; ++k) {
    std::vector<double> next(k + 2, 0.0);
    for (std::size_t power = 0; power <= k; ++power) {
      next[power + 1] += p[k][power];
      next[power] -= a(k, k) * p[k][power];
    }
    double product = 1.0;
    for (std::size_t i = k; i-- > 0;) {
      product *= a(i + 1, i);
      for (std::size_t power = 0; power <= i; ++power) next[power] -= a(i, k) * product * p[i][power];
    }
    p.push_back(std::move(next));
  }
  return p.back();
}

double worst_rational_difference(const Matrix& a, const Matrix& c, Duration h) {
  double worst = 0.0;
  for (int node = 1; node <= 14; ++node) {
    const double s = node * std::log(2.0) / h;
    for (std::size_t column = 0; column < 2; ++column) {
      const double expected = by_solution(a, c, column, s);
      worst = std::max(worst, std::abs(by_rational(a, c, column, s) - expected) / std::abs(expected));
    }
  }
  return worst;
}

}  // namespace entrain::reproducing
