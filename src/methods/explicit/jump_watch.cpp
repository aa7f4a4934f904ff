#include "methods/explicit/jump_watch.hpp"

#include <algorithm>

#include "entrain/fact_codes.hpp"

namespace entrain::method {
namespace {

// A line misses as the square of the step: a step that is longer than this against the one before misses so much more
// that it shows nothing.
constexpr double kComparable = 3.0;

std::vector<OutputId> connected_outputs(const Graph& graph) {
  std::vector<OutputId> outputs;
  for (const auto& connection : graph.connections()) outputs.push_back(connection.output);
  std::sort(outputs.begin(), outputs.end());
  outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
  return outputs;
}

}  // namespace

void JumpWatch::start(const CoupledSystem& system) {
  const auto outputs = system.outputs();
  here_.assign(outputs.begin(), outputs.end());
  predicted_ = here_;
  memory_ = {.before = here_};
  detector_.start(outputs, connected_outputs(system.graph()));
}

void JumpWatch::begin(const CoupledSystem& system) {
  std::copy(system.outputs().begin(), system.outputs().end(), here_.begin());
}

bool JumpWatch::comparable(Duration size) const {
  return memory_.last_size > 0.0 && size <= kComparable * memory_.last_size;
}

bool JumpWatch::sees_jump(const CoupledSystem& system, Duration size) {
  if (!comparable(size)) return false;
  for (std::size_t y = 0; y < predicted_.size(); ++y)
    predicted_[y] = here_[y] + size / memory_.last_size * (here_[y] - memory_.before[y]);
  return detector_.sees_jump(predicted_, system.outputs());
}

bool JumpWatch::accept(const CoupledSystem& system, Time to, Duration size, bool located) {
  const bool jumped = sees_jump(system, size);
  if (!comparable(size)) {
    detector_.jumped(system.outputs(), system.outputs());
    detector_.forget_past();
  } else if (jumped || to >= memory_.jump_by) {  // what leads up to a jump in short steps misses less than usual
    detector_.jumped(predicted_, system.outputs());
  }
  std::copy(here_.begin(), here_.end(), memory_.before.begin());
  memory_.last_size = jumped ? 0.0 : size;
  if (!jumped) return false;
  if (memory_.found++ == 0) memory_.first = to;
  if (!located) ++memory_.late;
  return true;
}

void JumpWatch::forget_past() {
  memory_.last_size = 0.0;
  detector_.forget_past();
}

std::vector<Fact> JumpWatch::warnings() const {
  if (memory_.found == 0) return {};
  Fact jumps{FactCode::SignalJumps, {}, {{"count", memory_.found}, {"first", memory_.first, "s"}}};
  if (memory_.late > 0) jumps.values.emplace_back("late", memory_.late);
  return {jumps};
}

}  // namespace entrain::method
