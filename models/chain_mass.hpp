#pragma once

#include <memory>

#include "entrain/model.hpp"

namespace entrain {

std::unique_ptr<Model> make_chain_mass();

}  // namespace entrain
