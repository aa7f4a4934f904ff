#include "worker/line.hpp"

#include <algorithm>
#include <tuple>

#include "entrain/fact_codes.hpp"

namespace entrain::worker {
namespace {

constexpr std::size_t kCallsBetweenSnapshots = 1024;
constexpr std::size_t kMostCalls = 1'000'000;  // that are kept for a restart

/// Of a call that leaves the subsystem as it was, nothing need be repeated.
bool changes_any(Operation operation) {
  switch (operation) {
    case Operation::SetStart:
    case Operation::Abilities:
    case Operation::Initialize:
    case Operation::FinishInitialization:
    case Operation::NoteUsedBefore:
    case Operation::Evaluate:
    case Operation::Step:
    case Operation::Save:
    case Operation::Deserialize:
    case Operation::Reset:
    case Operation::SetParameter:
    case Operation::WriteDiscrete:
    case Operation::ShareEvents:
    case Operation::EnterEvents:
    case Operation::LeaveEvents:
    case Operation::UpdateEvents:
    case Operation::SetEventInputs:
    case Operation::ReadEventOutputs:
    case Operation::ActivateClocks:
    case Operation::ReadActiveClocks:
    case Operation::ReadClockInterval:
    case Operation::HandleEvent:
    case Operation::CompleteStep:
    case Operation::MoveTo: return true;
    default: return false;
  }
}

bool takes_bytes(Operation operation) {
  switch (operation) {
    case Operation::SetStart:
    case Operation::Deserialize:
    case Operation::SetParameter:
    case Operation::WriteDiscrete:
    case Operation::ReadDiscrete:
    case Operation::ActivateClocks:
    case Operation::ReadActiveClocks:
    case Operation::ReadClockInterval: return true;
    default: return false;
  }
}

bool is_part_of_run(Operation operation) {
  return operation == Operation::Step || operation == Operation::MoveTo || operation == Operation::HandleEvent;
}

}  // namespace

Line::Line(std::shared_ptr<WorkerProcess> process, const WorkerProcess::Made& made, Setup setup)
    : setup_(std::move(setup)), process_(std::move(process)) {
  bind(made);
}

void Line::bind(const WorkerProcess::Made& made) {
  number_ = made.number;
  box_ = reinterpret_cast<Mailbox*>(made.memory);
  numbers_ = Numbers(reinterpret_cast<double*>(made.memory + kMailboxSize), dimensions_of(made.subsystem.variables));
  parcel_.emplace(process_->parcel(*box_));
}

/// Where events are shared reading counts: an interval is new once, a partition runs when its results are asked for.
bool Line::changes_state(Operation operation) const {
  return changes_any(operation) || (shares_events_ && operation == Operation::ReadDiscrete);
}

void Line::post(Operation operation) {
  if (restarts_allowed()) {
    if (operation == Operation::Step && !restored_ && serializes_ && since_.size() >= kCallsBetweenSnapshots) {
      take_snapshot();
    }
    shares_events_ = shares_events_ || operation == Operation::ShareEvents;
    current_ = request_of(operation);
  }
  send(operation);
}

/// With what was left for this call.
void Line::send(Operation operation) {
  box_->restores = restored_.has_value();
  if (restored_) box_->restored = theirs_[*restored_];
  box_->releases = static_cast<std::uint32_t>(released_.size());
  for (std::size_t i = 0; i < released_.size(); ++i) {
    box_->released[i] = theirs_[released_[i]];
    held_[released_[i]] = false;
  }
  restored_.reset();
  released_.clear();
  process_->post(*box_, operation);
}

void Line::wait() {
  std::optional<Error> ended;
  for (;;) {
    try {
      if (ended) {
        restart(*ended);
        make_again(current_);
      } else {
        process_->wait(*box_, number_);
      }
      break;
    } catch (const Error& error) {
      const bool by_itself = process_->has_reported_end() && error.fact().code == FactCode::CodeFault;
      if (!by_itself || restarts_.size() >= static_cast<std::size_t>(setup_.restarts)) throw;
      ended = error;
    }
  }
  if (restarts_allowed()) remember();
}

void Line::remember() {
  if (!changes_state(current_.operation) && !current_.restored && current_.released.empty()) return;
  if (current_.operation == Operation::Reset) {
    snapshot_.reset();
    since_.clear();
    std::erase_if(beginning_, [](const Request& request) {
      return request.operation != Operation::SetStart && request.operation != Operation::Abilities;
    });
    return;
  }
  const bool running = !since_.empty() || snapshot_ || is_part_of_run(current_.operation);
  (running ? since_ : beginning_).push_back(std::move(current_));
  if (since_.size() <= kMostCalls) return;
  setup_.restarts = 0;  // it cannot serialize, and there is no end to its calls
  since_.clear();
}

Line::Request Line::request_of(Operation operation) {
  const std::int32_t degree = std::clamp<std::int32_t>(box_->degree, 0, kMaxInputDegree);
  Request request{operation, box_->from, box_->size, degree, restored_, released_, made_id_};
  const auto inputs =
      operation == Operation::Step
          ? numbers_.inputs.first(numbers_.inputs.size() / (kMaxInputDegree + 1) * static_cast<std::size_t>(degree + 1))
          : numbers_.inputs;
  if (changes_state(operation)) request.inputs.assign(inputs.begin(), inputs.end());
  if (operation >= Operation::EquationState) request.x.assign(numbers_.x.begin(), numbers_.x.end());
  if (operation == Operation::FinishInitialization)
    request.outputs.assign(numbers_.outputs.begin(), numbers_.outputs.end());
  if (takes_bytes(operation)) {
    guarded([&] {
      const auto content = parcel_->content();
      request.bytes.assign(content.begin(), content.end());
    });
  }
  return request;
}

void Line::fill(const Request& request) {
  box_->from = request.from;
  box_->size = request.size;
  box_->degree = request.degree;
  box_->readings = {};
  std::copy(request.inputs.begin(), request.inputs.end(), numbers_.inputs.begin());
  std::copy(request.x.begin(), request.x.end(), numbers_.x.begin());
  std::copy(request.outputs.begin(), request.outputs.end(), numbers_.outputs.begin());
  if (takes_bytes(request.operation)) guarded([&] { parcel_->put(request.bytes); });
  restored_ = request.restored;
  released_ = request.released;
}

void Line::make_again(const Request& request) {
  fill(request);
  make(request.operation);
  if (request.operation == Operation::Save || request.operation == Operation::Deserialize) {
    theirs_[request.id] = box_->state;
    held_[request.id] = true;  // an earlier one of this number was let go
  }
}

void Line::restart(const Error& error) {
  restarts_.push_back({FactCode::WorkerRestarted,
                       {setup_.caller.subsystem},
                       {{"restart", restarts_.size() + 1}, {"allowed", setup_.restarts}, {"why", error.what()}}});
  process_ = std::make_shared<WorkerProcess>(setup_.confinement);
  const auto made = process_->make(setup_.request, setup_.caller);
  if (made.memory == nullptr) throw error;
  bind(made);
  for (const auto& request : beginning_) make_again(request);
  return_to_snapshot();
  for (const auto& request : since_) make_again(request);
}

void Line::take_snapshot() {
  const auto arguments = std::tuple(box_->from, box_->size, box_->degree, box_->readings);
  const std::vector<double> inputs(numbers_.inputs.begin(), numbers_.inputs.end());
  Snapshot taken;
  const auto bytes_of = [&](std::uint32_t theirs) {
    box_->state = theirs;
    make(Operation::Serialize);
    base::Bytes bytes;
    read(bytes);
    return bytes;
  };
  make(Operation::Save);
  const std::uint32_t now = new_id();
  theirs_[now] = box_->state;
  taken.now = bytes_of(theirs_[now]);
  for (std::uint32_t id = 0; id < held_.size(); ++id) {
    if (held_[id] && id != now) taken.saved.emplace_back(id, bytes_of(theirs_[id]));
  }
  let_go(now, false);
  snapshot_ = std::move(taken);
  since_.clear();
  std::tie(box_->from, box_->size, box_->degree, box_->readings) = arguments;
  std::copy(inputs.begin(), inputs.end(), numbers_.inputs.begin());
}

void Line::return_to_snapshot() {
  if (!snapshot_) return;
  const auto made_of = [&](const base::Bytes& bytes) {
    guarded([&] { parcel_->write(bytes); });
    make(Operation::Deserialize);
    return box_->state;
  };
  std::fill(held_.begin(), held_.end(), false);
  for (const auto& [id, bytes] : snapshot_->saved) {
    theirs_[id] = made_of(bytes);
    held_[id] = true;
  }
  const std::uint32_t now = new_id();
  theirs_[now] = made_of(snapshot_->now);
  let_go(now, true);
}

/// A state of our own.
void Line::let_go(std::uint32_t id, bool restored) {
  if (restored) restored_ = id;
  released_ = {id};
  make(Operation::Refusal);
}

/// A call that is part of another one.
void Line::make(Operation operation) {
  send(operation);
  process_->wait(*box_, number_);
}

std::uint32_t Line::new_id() {
  const auto unused = std::find(held_.begin(), held_.end(), false);
  const auto id = static_cast<std::uint32_t>(unused - held_.begin());
  if (unused == held_.end()) {
    held_.push_back(true);
    theirs_.push_back(0);
  }
  held_[id] = true;
  return id;
}

std::uint32_t Line::save() {
  made_id_ = new_id();
  call(Operation::Save);
  theirs_[made_id_] = box_->state;
  return made_id_;
}

void Line::release(std::uint32_t id) {
  released_.push_back(id);
  if (released_.size() == kMostReleased) call(Operation::Refusal);
}

base::Bytes Line::serialize(std::uint32_t id) {
  box_->state = theirs_[id];
  call(Operation::Serialize);
  base::Bytes bytes;
  read(bytes);
  return bytes;
}

std::uint32_t Line::deserialize(const base::Bytes& bytes) {
  made_id_ = new_id();
  call_with(Operation::Deserialize, bytes);
  theirs_[made_id_] = box_->state;
  return made_id_;
}

}  // namespace entrain::worker
