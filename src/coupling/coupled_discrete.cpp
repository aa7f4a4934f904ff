// The part of the coupled system that passes on values that are no real numbers.
#include "coupling/coupled_parts.hpp"

namespace entrain {

void CoupledSystem::Parts::connect_discrete(const std::vector<DiscreteConnection>& connections) {
  std::vector<Subsystem*> subsystems;
  for (auto& participant : participants_) subsystems.push_back(participant.subsystem.get());
  discrete_ = std::make_unique<DiscreteSignals>(subsystems, connections);
}

/// At the start values run through all subsystems that one after the other depend on them; a ring of them settles, or
/// is left where it is after as many rounds as there are subsystems, which the summary tells.
void CoupledSystem::Parts::settle_discrete(Time start) {
  discrete_->forget();
  for (std::size_t round = 0; round <= size(); ++round) {
    discrete_->read(false);
    const bool written = discrete_->write(start, times_);
    if (!exchange_reals() && !written) return;
    evaluation_.all(start, input_end_, signals_, [this](SubsystemId s, std::span<const double> u, std::span<double> y) {
      participants_[s].subsystem->evaluate(u, y);
    });
  }
  discrete_->note_unsettled();
}

/// A real input that is fed by an integer or a boolean is a constant to everybody else.
bool CoupledSystem::Parts::exchange_reals() {
  bool changed = false;
  discrete_->write_reals([&](const DiscreteConnection& connection, double value) {
    set_constant(InputId{graph_.inputs_of(connection.to).first + connection.input}, value);
    changed = true;
  });
  return changed;
}

bool CoupledSystem::Parts::exchange_discrete(Time now, bool read_all) {
  discrete_->read(read_all);
  spread_common_steps();
  discrete_->write(now, times_);
  return exchange_reals();
}

}  // namespace entrain
