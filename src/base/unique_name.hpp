#pragma once

#include <set>
#include <string>

namespace entrain::base {

/// `wanted`, or with a number behind it when that is taken: "mass", "mass_2". It is taken from now on.
inline std::string unique_name(const std::string& wanted, std::set<std::string>& taken) {
  std::string name = wanted;
  for (int n = 2; !taken.insert(name).second; ++n) name = wanted + "_" + std::to_string(n);
  return name;
}

}  // namespace entrain::base
