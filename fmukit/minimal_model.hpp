#pragma once

#include <memory>

#include "entrain/model.hpp"

namespace entrain::fmukit {

/// y = 0.5 u + 1 without a state: the cheapest FMU there is, against which the benchmark measures the engine.
std::unique_ptr<Model> make_minimal_model();

}  // namespace entrain::fmukit
