#include "facade/resolve.hpp"

#include "masters/registry.hpp"

namespace entrain {

SystemDescription resolved(const SystemDescription& description) {
  SystemDescription result = description;
  if (!result.step && result.stop) {
    result.step = {(result.stop->value - result.start.value) / kDefaultSteps, {}};
  }
  if (const auto method = make_method(result.method.value)) {
    auto& written = result.method_options[result.method.value];
    std::vector<Problem> reported_elsewhere;  // prepare() reads the same options and reports
    read_options(*method, written, result.method.value, reported_elsewhere);
    for (auto& [name, value] : options_in_force(*method)) written.insert({name, {std::move(value), {}}});
  }
  return result;
}

}  // namespace entrain
