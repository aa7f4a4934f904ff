#pragma once

#include <charconv>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "entrain/simulation.hpp"
#include "subsystem/native/linear_model.hpp"
#include "subsystem/native/model_support.hpp"

namespace entrain::test {

/// A linear system whose ports are u0, u1, .., y0, y1, .. in m, and states x0, x1, ..
class AnyLinearModel final : public subsystem::LinearModel {
 public:
  AnyLinearModel(Linearization matrices, const std::vector<double>& start, const std::vector<std::string>& input_units)
      : LinearModel(table(matrices, start, input_units)), given_(std::move(matrices)) {}
  void configure(std::span<const Value>) override { set_matrices(given_); }

 private:
  static VariableTable table(const Linearization& matrices, const std::vector<double>& start,
                             const std::vector<std::string>& input_units) {
    VariableTable result;
    for (std::size_t i = 0; i < matrices.B.cols; ++i) {
      result.inputs.push_back(
          subsystem::real("u" + std::to_string(i), i < input_units.size() ? input_units[i] : "m", "", 0.0));
    }
    for (std::size_t i = 0; i < matrices.C.rows; ++i)
      result.outputs.push_back(subsystem::real("y" + std::to_string(i), "m", ""));
    for (std::size_t i = 0; i < start.size(); ++i) {
      result.states.push_back(subsystem::real("x" + std::to_string(i), "", "", start[i]));
    }
    return result;
  }
  Linearization given_;
};

/// Linear subsystems s0, s1, .. with their links, and what they take.
struct LinearSystem {
  struct Part {
    Linearization matrices;
    std::vector<double> start;
    std::vector<std::pair<std::size_t, std::size_t>> sources;  ///< by input: subsystem, its output
    std::vector<std::string> input_units = {};                 ///< left out = m
    int input_degree = 3;
    int substeps = 1;
    double imposed_step = 0.0;  ///< 0 = none
  };
  std::vector<Part> parts;

  ModelFactory models() const {
    return [copy = parts](std::string_view name) -> std::unique_ptr<Model> {
      std::size_t index = 0;
      std::from_chars(name.data(), name.data() + name.size(), index);
      return std::make_unique<AnyLinearModel>(copy[index].matrices, copy[index].start, copy[index].input_units);
    };
  }
  SystemDescription description(const std::string& method, double step, double stop) const {
    SystemDescription result;
    result.name = "linear";
    result.method = {method, {}};
    result.step = {step, {}};
    result.stop = {stop, {}};
    for (std::size_t s = 0; s < parts.size(); ++s) {
      auto& subsystem = result.subsystems.emplace_back();
      subsystem.name = "s" + std::to_string(s);
      subsystem.model = std::to_string(s);
      subsystem.input_degree = Written<std::int64_t>{parts[s].input_degree, {}};
      if (parts[s].substeps > 1) subsystem.substeps = Written<std::int64_t>{parts[s].substeps, {}};
      if (parts[s].imposed_step > 0.0) subsystem.step = Written<double>{parts[s].imposed_step, {}};
      for (std::size_t i = 0; i < parts[s].sources.size(); ++i) {
        const auto& [from, output] = parts[s].sources[i];
        result.connections.push_back({"s" + std::to_string(from) + ".y" + std::to_string(output),
                                      "s" + std::to_string(s) + ".u" + std::to_string(i),
                                      {}});
      }
    }
    return result;
  }
};

/// 2 to 6 stable subsystems, each with inputs from others, some with feedthrough.
inline LinearSystem random_linear_system(std::mt19937& random) {
  const auto whole = [&](int low, int high) {
    return static_cast<std::size_t>(std::uniform_int_distribution<int>(low, high)(random));
  };
  const auto number = [&] { return std::uniform_real_distribution<double>(-1.0, 1.0)(random); };
  const auto filled = [&](std::size_t rows, std::size_t cols, double scale) {
    Matrix m(rows, cols);
    for (double& value : m.values) value = scale * number();
    return m;
  };
  constexpr std::pair<const char*, double> kUnits[] = {{"m", 1.0}, {"mm", 1e3}, {"km", 1e-3}};
  LinearSystem system;
  const std::size_t count = whole(2, 6);
  for (std::size_t s = 0; s < count; ++s) {
    const std::size_t states = whole(1, 3);
    const std::size_t inputs = whole(1, 2);
    const std::size_t outputs = whole(1, 2);
    auto& part = system.parts.emplace_back();
    part.matrices = {filled(states, states, 1.0), filled(states, inputs, 0.8), filled(outputs, states, 0.8),
                     filled(outputs, inputs, whole(0, 2) == 0 ? 0.3 : 0.0)};
    for (std::size_t i = 0; i < states; ++i) {
      part.matrices.A(i, i) -= 3.0;  // beyond the sum of a row's other entries: stable by Gershgorin
      part.start.push_back(number());
    }
    for (std::size_t i = 0; i < inputs; ++i) {  // the same number of m, in another unit
      const auto& [unit, per_metre] = kUnits[whole(0, 2)];
      part.input_units.emplace_back(unit);
      for (std::size_t x = 0; x < states; ++x) part.matrices.B(x, i) /= per_metre;
      for (std::size_t y = 0; y < outputs; ++y) part.matrices.D(y, i) /= per_metre;
    }
  }
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t i = 0; i < system.parts[s].matrices.B.cols; ++i) {
      const std::size_t from = (s + whole(1, static_cast<int>(count) - 1)) % count;
      system.parts[s].sources.emplace_back(from, whole(0, static_cast<int>(system.parts[from].matrices.C.rows) - 1));
    }
  }
  return system;
}

}  // namespace entrain::test
