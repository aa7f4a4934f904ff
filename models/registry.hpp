#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/model.hpp"

namespace entrain::models {

struct ModelEntry {
  std::string name;  ///< "pair.part"; stays stable
  std::string description;
  std::unique_ptr<Model> (*make)();
};

const std::vector<ModelEntry>& built_in_models();

/// nullptr when there is no model of this name.
std::unique_ptr<Model> make_built_in_model(std::string_view name);

}  // namespace entrain::models
