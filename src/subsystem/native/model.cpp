#include "entrain/model.hpp"

namespace entrain {

void Model::output_rates(const Point& at, std::span<double> dy) const {
  // Per thread, because the model is const here and this is called in every macro step: allocated once.
  thread_local Linearization local;
  thread_local std::vector<double> dx;
  linearize(at, local);
  dx.resize(at.x.size());
  derivatives(at, dx);
  for (std::size_t i = 0; i < dy.size(); ++i) {
    dy[i] = 0.0;
    for (std::size_t j = 0; j < dx.size(); ++j) dy[i] += local.C(i, j) * dx[j];
    for (std::size_t j = 0; j < at.du.size(); ++j) dy[i] += local.D(i, j) * at.du[j];
  }
}

}  // namespace entrain
