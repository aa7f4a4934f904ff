#pragma once

#include <memory>

#include "entrain/model.hpp"

namespace entrain {

/// The mechanical pair as a tool would export it: integrated by CVODE at 1e-10 inside its steps, not by a closed form.
std::unique_ptr<Model> make_cvode_left();
std::unique_ptr<Model> make_cvode_right();

}  // namespace entrain
