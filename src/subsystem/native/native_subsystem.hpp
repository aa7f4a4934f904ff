#pragma once

#include <memory>
#include <string>

#include "entrain/model.hpp"

namespace entrain::subsystem {

/// A subsystem with every capability made of a model written in C++.
std::unique_ptr<Subsystem> make_native_subsystem(std::string name, std::unique_ptr<Model> model);

}  // namespace entrain::subsystem
