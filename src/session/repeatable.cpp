#include "session/repeatable.hpp"

#include "description/subsystem_keys.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::session {

void require_repeatable(const SystemDescription& description, std::string_view what) {
  std::vector<std::string> outside;
  for (const auto& subsystem : description.subsystems) {
    if (description::is_outside(subsystem)) outside.push_back(subsystem.name);
  }
  if (outside.empty()) return;
  throw Error(ErrorCode::InvalidSystem, {FactCode::PartOutsideRepeated, outside, {{"what", what}}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Add --stand-in, or leave udp and shm out"});
}

}  // namespace entrain::session
