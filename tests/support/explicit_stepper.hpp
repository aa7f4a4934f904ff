#pragma once

#include <stdexcept>

#include "methods/explicit/gauss_seidel.hpp"
#include "methods/explicit/jacobi.hpp"
#include "methods/explicit/nepce.hpp"

namespace entrain::test {

/// The part of an explicit method that keeps the histories of inputs.
inline method::ExplicitStepper& stepper_of(Method& method) {
  if (auto* jacobi = dynamic_cast<method::Jacobi*>(&method)) return jacobi->stepper();
  if (auto* gauss_seidel = dynamic_cast<method::GaussSeidel*>(&method)) return gauss_seidel->stepper();
  if (auto* nepce = dynamic_cast<method::Nepce*>(&method)) return nepce->stepper();
  throw std::invalid_argument(method.name() + " is no explicit method");
}

}  // namespace entrain::test
