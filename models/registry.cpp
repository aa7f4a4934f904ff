#include "models/registry.hpp"

#include <algorithm>

#include "models/ball.hpp"
#include "models/car.hpp"
#include "models/chain_mass.hpp"
#include "models/cubic_pair.hpp"
#include "models/drivetrain/drivetrain.hpp"
#include "models/lotka_volterra.hpp"
#include "models/mass_pair.hpp"
#include "models/tough.hpp"

namespace entrain::models {

const std::vector<ModelEntry>& built_in_models() {
  static const std::vector<ModelEntry> table = {
      {"mechanical.left", "left body of the linear mechanical pair (MISSILES, table 3)", make_mechanical_left},
      {"mechanical.right", "right body and coupling spring of the linear mechanical pair", make_mechanical_right},
      {"two_mass.left", "left mass of the two-mass model (F3ORNITS)", make_two_mass_left},
      {"two_mass.right", "right mass of the two-mass model, whose output force changes suddenly", make_two_mass_right},
      {"oscillator.force_side", "mass and coupling spring of the two-mass oscillator; outputs a force",
       make_oscillator_force_side},
      {"oscillator.motion_side", "mass of the two-mass oscillator; outputs its motion", make_oscillator_motion_side},
      {"lotka_volterra.prey", "prey of the Lotka-Volterra model", make_prey},
      {"lotka_volterra.predator", "predator of the Lotka-Volterra model", make_predator},
      {"lotka_volterra.modulated_prey", "prey that is hunted by the time of the day (COSTARICA)", make_modulated_prey},
      {"car.body", "car pushed by a force and by wind", make_car_body},
      {"car.controller", "speed controller that differentiates the position (F3ORNITS)", make_car_controller},
      {"chain.mass", "one mass of a chain or ring of springs", make_chain_mass},
      {"ball.bounce", "ball that bounces and comes to rest: state events", make_bouncing_ball},
      {"cubic.force_side", "mass and coupling spring of the oscillator with hardening springs; outputs a force",
       make_cubic_force_side},
      {"cubic.motion_side", "mass of the oscillator with hardening springs; outputs its motion",
       make_cubic_motion_side},
      {"drivetrain.driver", "driver that follows the urban driving cycle", make_drivetrain_driver},
      {"drivetrain.controller", "supervisory controller: pedal to torque and brake", make_drivetrain_controller},
      {"drivetrain.motor", "inverter and motor: draws power, turns a rotor", make_drivetrain_motor},
      {"drivetrain.battery", "battery with inner resistance", make_drivetrain_battery},
      {"drivetrain.gearbox", "reduction with elastic shafts", make_drivetrain_gearbox},
      {"drivetrain.vehicle", "vehicle with drag, rolling resistance and brakes", make_drivetrain_vehicle},
      {"drivetrain.cooling", "cooling circuit with a thermostat: state events", make_drivetrain_cooling},
      {"tough", "terms that depend on the time alone, invisible to a linearization (COSTARICA)", make_tough},
  };
  return table;
}

std::unique_ptr<Model> make_built_in_model(std::string_view name) {
  const auto& table = built_in_models();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const ModelEntry& entry) { return entry.name == name; });
  return found == table.end() ? nullptr : found->make();
}

}  // namespace entrain::models
