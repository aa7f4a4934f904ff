#include "models/mass_pair.hpp"

#include "models/spring_mass.hpp"

namespace entrain::models {

// MISSILES, table 3.
std::unique_ptr<Model> make_mechanical_left() {
  return make_motion_side({.mass = {"m1", 5.0},
                           .spring = {"c1", 1e4},
                           .damper = {"d1", 10.0},
                           .position = {"x", 1.0},
                           .velocity = {"v", 0.0},
                           .velocity_first = true});
}

std::unique_ptr<Model> make_mechanical_right() {
  return make_force_side({.mass = {.mass = {"m2", 80.0},
                                   .spring = {"c3", 1e5},
                                   .damper = {"d3", 40.0},
                                   .position = {"x2", 3.0},
                                   .velocity = {"v2", 0.0},
                                   .velocity_first = true},
                          .coupling_spring = {"c2", 1e4},
                          .coupling_damper = {"d2", 10.0}});
}

// COSTARICA (91), (92), which measure the force from right to left. The springs and dampers are those that fit the
// errors printed in F3ORNITS, whose figure is lost.
std::unique_ptr<Model> make_two_mass_left() {
  return make_motion_side({.mass = {"m1", 1e4},
                           .spring = {"c1", 200.0},
                           .damper = {"d1", 1000.0},
                           .position = {"x", -10.0},
                           .velocity = {"v", 0.0},
                           .velocity_first = true,
                           .force_sign = -1.0});
}

std::unique_ptr<Model> make_two_mass_right() {
  return make_changing_force_side({.mass = {.mass = {"m2", 1e4},
                                            .spring = {"c3", 200.0},
                                            .damper = {"d3", 1000.0},
                                            .position = {"x2", -3.0},
                                            .velocity = {"v2", 0.0},
                                            .velocity_first = true,
                                            .force_sign = -1.0},
                                   .coupling_spring = {"c2", 1000.0},
                                   .coupling_damper = {"d2", 100.0}});
}

// Quality measures of a sequential master, (41). The starts are those of the learning control example.
std::unique_ptr<Model> make_oscillator_force_side() {
  return make_force_side({.mass = {.mass = {"m1", 10.0},
                                   .spring = {"c1", 1.0},
                                   .damper = {"d1", 1.0},
                                   .position = {"x1", 0.0},
                                   .velocity = {"v1", 100.0},
                                   .choose_integrator = true},
                          .coupling_spring = {"c_k", 1.0},
                          .coupling_damper = {"d_k", 2.0}});
}

std::unique_ptr<Model> make_oscillator_motion_side() {
  return make_motion_side({.mass = {"m2", 10.0},
                           .spring = {"c2", 1.0},
                           .damper = {"d2", 2.0},
                           .position = {"x", 0.0},
                           .velocity = {"v", -100.0},
                           .choose_integrator = true});
}

}  // namespace entrain::models
