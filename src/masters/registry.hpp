#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "masters/method.hpp"

namespace entrain {

struct MethodEntry {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Method> (*make)();
};

const std::vector<MethodEntry>& methods();
/// nullptr for an unknown name.
std::unique_ptr<Method> make_method(std::string_view name);

}  // namespace entrain
