#include "entrain/coupled_system.hpp"

#include "coupling/coupled_parts.hpp"

namespace entrain {

CoupledSystem::CoupledSystem(std::vector<std::unique_ptr<Subsystem>> subsystems, Graph graph,
                             std::vector<double> start_inputs, int threads)
    : parts_(std::make_unique<Parts>(std::move(subsystems), std::move(graph), std::move(start_inputs), threads)),
      graph_(&parts_->graph()),
      outputs_(parts_->outputs()),
      signals_(parts_->signals()),
      inputs_(parts_->inputs()) {}
CoupledSystem::~CoupledSystem() = default;

const Capabilities& CoupledSystem::capabilities(SubsystemId s) const {
  return parts_->capabilities(s);
}
const VariableTable& CoupledSystem::variables(SubsystemId s) const {
  return parts_->variables(s);
}
Facets CoupledSystem::facets(SubsystemId s) {
  return parts_->facets(s);
}
Time CoupledSystem::time_of(SubsystemId s) const {
  return parts_->time_of(s);
}
bool CoupledSystem::all_at(Time t) const {
  return parts_->all_at(t);
}
double CoupledSystem::incoming(InputId input) const {
  return parts_->incoming(input);
}
std::span<double> CoupledSystem::coefficients(SubsystemId s, int degree, int p) {
  return parts_->coefficients(s, degree, p);
}
void CoupledSystem::hold_all_inputs() {
  parts_->hold_all_inputs();
}
void CoupledSystem::set_corrections(std::span<const double> by_input) {
  parts_->set_corrections(by_input);
}
void CoupledSystem::replace_output(OutputId output, double value) {
  parts_->replace_output(output, value);
}
void CoupledSystem::commit_all(std::span<const StepTask> tasks) {
  parts_->commit_all(tasks);
}
void CoupledSystem::commit_everyone(const CommonStep& common) {
  parts_->commit_everyone(common);
}
void CoupledSystem::evaluate_all(std::span<const SubsystemId> batch, std::span<const double> all_inputs,
                                 std::span<double> all_outputs) {
  parts_->evaluate_all(batch, all_inputs, all_outputs);
}
void CoupledSystem::linearize_all(std::span<const SubsystemId> batch, std::span<Linearization> results) {
  parts_->linearize_all(batch, results);
}
void CoupledSystem::refresh_signals(Time t) {
  parts_->refresh_signals(t);
}
void CoupledSystem::solve_loops(Time t) {
  parts_->solve_loops(t);
}
Time CoupledSystem::next_event(SubsystemId s, Time t) {
  return parts_->next_event(s, t);
}
void CoupledSystem::publish(Time t, std::span<const double> all_inputs, std::span<const double> all_outputs) {
  parts_->publish(t, all_inputs, all_outputs);
}
void CoupledSystem::request_stop(SubsystemId s) {
  parts_->request_stop(s);
}
void CoupledSystem::read_states(std::span<double> all) {
  parts_->read_states(all);
}
void CoupledSystem::read_state_derivatives(std::span<double> all) {
  parts_->read_state_derivatives(all);
}
void CoupledSystem::read_output_slopes(std::span<double> all) {
  parts_->read_output_slopes(all);
}
std::size_t CoupledSystem::states() const {
  return parts_->states();
}
IdRange<std::size_t> CoupledSystem::states_of(SubsystemId s) const {
  return parts_->states_of(s);
}
CoupledSystem::Counters CoupledSystem::counters(SubsystemId s) const {
  return parts_->counters(s);
}
CoupledSystem::Saved CoupledSystem::save() {
  return parts_->save();
}
void CoupledSystem::save(std::span<const SubsystemId> some, Saved& saved) {
  parts_->save(some, saved);
}
void CoupledSystem::restore(const Saved& saved) {
  parts_->restore(saved);
}
void CoupledSystem::release(const Saved& saved) {
  parts_->release(saved);
}
std::vector<std::byte> CoupledSystem::serialize(const Saved& saved) {
  return parts_->serialize(saved);
}
void CoupledSystem::resume(std::span<const std::byte> bytes) {
  parts_->resume(bytes);
}
const TransferPlan& CoupledSystem::transfer() const {
  return parts_->transfer();
}
const Subsystem& CoupledSystem::subsystem(SubsystemId s) const {
  return parts_->subsystem(s);
}
std::vector<Fact> CoupledSystem::warnings(SubsystemId s) const {
  return parts_->warnings(s);
}
void CoupledSystem::initialize(Time start, Time stop) {
  parts_->initialize(start, stop);
}
void CoupledSystem::set_start(SubsystemId s, VariableTable::Place place, const Value& value) {
  parts_->set_start(s, place, value);
}
void CoupledSystem::set_constant(InputId input, double value) {
  parts_->set_constant(input, value);
}
void CoupledSystem::refresh_outputs(SubsystemId s) {
  parts_->refresh_outputs(s);
}
void CoupledSystem::reset() {
  parts_->reset();
}
const std::vector<double>& CoupledSystem::loop_residuals() const {
  return parts_->loop_residuals();
}
std::optional<SubsystemId> CoupledSystem::stop_request() const {
  return parts_->stop_request();
}
const std::vector<TrialKind>& CoupledSystem::trial_kinds() const {
  return parts_->trial_kinds();
}
void CoupledSystem::set_trial_kinds(std::vector<TrialKind> kinds) {
  parts_->set_trial_kinds(std::move(kinds));
}
const std::vector<PowerBond>& CoupledSystem::bonds() const {
  return parts_->bonds();
}
void CoupledSystem::set_bonds(std::vector<PowerBond> bonds) {
  parts_->set_bonds(std::move(bonds));
}
void CoupledSystem::connect_discrete(const std::vector<DiscreteConnection>& connections) {
  parts_->connect_discrete(connections);
}
DiscreteSignals* CoupledSystem::discrete() {
  return parts_->discrete();
}
bool CoupledSystem::exchange_discrete(Time now, bool read_all) {
  return parts_->exchange_discrete(now, read_all);
}

}  // namespace entrain
