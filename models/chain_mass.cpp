#include "models/chain_mass.hpp"

#include "subsystem/native/linear_model.hpp"
#include "subsystem/native/model_support.hpp"

namespace entrain::models {
namespace {

VariableTable chain_variables() {
  VariableTable table;
  // The starts let the ends stay unconnected: a wall at the left, nothing at the right.
  table.inputs = {subsystem::real("left_x", "m", "position of the left neighbour", 0.0),
                  subsystem::real("left_v", "m/s", "velocity of the left neighbour", 0.0),
                  subsystem::real("right_F", "N", "force of the right neighbour's spring on this mass", 0.0)};
  table.outputs = {subsystem::real("x", "m", "position"), subsystem::real("v", "m/s", "velocity"),
                   subsystem::real("F_left", "N", "force of this mass's left spring on the left neighbour")};
  table.states = {subsystem::real("x", "m", "position", 0.0), subsystem::real("v", "m/s", "velocity", 0.0)};
  table.parameters = {subsystem::real("m", "kg", "mass", 1.0),
                      subsystem::real("c", "N/m", "spring to the left neighbour", 10.0),
                      subsystem::real("d", "N.s/m", "damper to the left neighbour", 0.1),
                      subsystem::real("c_0", "N/m", "spring to the ground", 0.1),
                      subsystem::real("d_0", "N.s/m", "damper to the ground", 0.01)};
  return table;
}

/// m x'' = right_F - F_left - c_0 x - d_0 v, F_left = c (x - left_x) + d (v - left_v). Newton's third law holds when
/// x, v go to the right neighbour's left_x, left_v, and F_left to the left neighbour's right_F.
class ChainMass final : public subsystem::LinearModel {
 public:
  ChainMass() : LinearModel(chain_variables()) {}

  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables(), parameters);
    const double m = given.positive("m");
    const double c = given.number("c");
    const double d = given.number("d");
    Linearization result;
    result.A = {2, 2};
    result.A(0, 1) = 1.0;
    result.A(1, 0) = -(c + given.number("c_0")) / m;
    result.A(1, 1) = -(d + given.number("d_0")) / m;
    result.B = {2, 3};
    result.B(1, 0) = c / m;
    result.B(1, 1) = d / m;
    result.B(1, 2) = 1.0 / m;
    result.C = {3, 2};
    result.C(0, 0) = 1.0;
    result.C(1, 1) = 1.0;
    result.C(2, 0) = c;
    result.C(2, 1) = d;
    result.D = {3, 3};
    result.D(2, 0) = -c;
    result.D(2, 1) = -d;
    set_matrices(std::move(result));
  }
};

}  // namespace

std::unique_ptr<Model> make_chain_mass() {
  return std::make_unique<ChainMass>();
}

}  // namespace entrain::models
