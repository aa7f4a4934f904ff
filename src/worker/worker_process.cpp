#include "worker/worker_process.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/child_process.hpp"
#include "base/fault_text.hpp"
#include "base/printable.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "worker/served_subsystem.hpp"

namespace entrain::worker {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr Duration kInterval = 0.02;       // s between two looks at a worker that computes
constexpr Duration kAfterInterrupt = 2.0;  // s that a call may still take
constexpr Duration kAfterTimeout = 5.0;    // s for the worker to report its own
constexpr Duration kAfterSilence = 0.5;    // s from the end of the socket to that of the process
constexpr std::size_t kLastWords = 5;
constexpr std::size_t kLongestFrame = 16 << 20;  // bytes; no message is that long

std::string cause_of(base::Fault fault, int status) {
  if (fault == base::Fault::Ended && status >= 0) return fmt::format(": exit code {}", WEXITSTATUS(status));
  if (fault == base::Fault::Killed && WTERMSIG(status) != SIGKILL) {
    return fmt::format(" (signal {})", WTERMSIG(status));
  }
  return base::text_of(fault).cause;
}

/// Of the process in a sandbox, from that of the program around it, which ends with 128 + the number of a signal. A
/// crash is reported by the worker itself: what looks like one and was not is an exit code.
int status_inside(int status) {
  constexpr int kSignals = 128;
  if (!WIFEXITED(status) || WEXITSTATUS(status) <= kSignals) return status;
  const int signal = WEXITSTATUS(status) - kSignals;
  return base::fault_of(signal) == base::Fault::Killed ? signal : status;
}

/// Of shared memory: cut where it does not end.
template <std::size_t N>
std::string text_in(const std::array<char, N>& shared) {
  const std::string copy(shared.data(), shared.size());
  return base::printable(std::string_view(copy.c_str()));
}

std::string arguments_of(const Mailbox& box) {
  if (box.operation != Operation::Step) return {};
  return fmt::format("t = {:.12g} s, step = {:.12g} s", box.from, box.size);
}

Error with_arguments(const Error& error, const Mailbox& box) {
  const auto arguments = arguments_of(box);
  if (arguments.empty() || error.fact().code != FactCode::CodeFault) return error;
  Fact fact = error.fact();
  fact.values.emplace_back("arguments", arguments);
  return {error.code(), fact, error.context()};
}

}  // namespace

/// For one answer.
struct WorkerProcess::Wait {
  const Logging& log;
  std::optional<Clock::time_point> interrupted{};
};

WorkerProcess::WorkerProcess(const Confinement& confinement)
    : confinement_(confinement),
      memory_(base::SharedMemory::new_file(sizeof(ProcessPage))),
      page_(*reinterpret_cast<ProcessPage*>(memory_.map({0, sizeof(ProcessPage)}))),
      callers_(1),
      boxes_(1, &page_.process) {
  page_.protocol = kProtocol;
  constexpr std::size_t kSegments = (sizeof(ProcessPage) + 4095) / 4096 * 4096;
  page_.end.store(kSegments);
  page_.note.time = std::nan("");
  page_.confinement = confinement;
  start();
}

void WorkerProcess::start() {
  if (!confinement_.sandbox) {
    program_ = start_program(memory_.descriptor(), folder_.content());
    return;
  }
  fs::create_directory(folders().own);
  fs::create_directory(folders().scratch);
  program_ = start_sandboxed_program(memory_.descriptor(), folders(), said());
}

/// A sandbox contains no FMU but those that are unpacked for it.
MakeRequest WorkerProcess::as_seen_there(MakeRequest request) {
  if (!confinement_.sandbox || request.description.fmu.empty()) return request;
  const auto folder = folders().own / std::to_string(++unpacked_);
  subsystem::unpack_fmu(request.description.fmu, folder);
  request.fmu_folder = folder.string();
  return request;
}

WorkerProcess::~WorkerProcess() {
  end();
  ::close(program_.socket);
  ::close(program_.lifeline);
}

void WorkerProcess::end() {
  lookers_.set(0);
  if (status_) return;
  ::kill(program_.process, SIGKILL);
  int status = -1;
  while (::waitpid(program_.process, &status, 0) < 0 && errno == EINTR) {
  }
  status_ = status;
}

WorkerProcess::Made WorkerProcess::make(const MakeRequest& request, const Caller& caller) {
  const std::lock_guard making(making_);
  {
    const std::lock_guard lock(mutex_);
    callers_.front() = caller;
  }
  const MakeRequest seen = as_seen_there(request);
  guarded(0, [&] { parcel(page_.process).write(seen); });
  post(page_.process, Operation::Make);
  wait(page_.process, 0);
  Made made;
  guarded(0, [&] {
    parcel(page_.process).read(made.subsystem);
    require_known(made.subsystem.problems);
  });
  if (!made.subsystem.made) return made;
  const base::Segment& box = made.subsystem.box;
  if (box.size < box_size(dimensions_of(made.subsystem.variables))) refuse_answer(0);
  guarded(0, [&] { made.memory = memory_.map(box); });
  const std::lock_guard lock(mutex_);
  made.number = static_cast<std::uint32_t>(callers_.size());
  callers_.push_back(caller);
  boxes_.push_back(reinterpret_cast<Mailbox*>(made.memory));
  return made;
}

void WorkerProcess::close(std::uint32_t number) {
  const std::lock_guard making(making_);
  {
    const std::lock_guard lock(mutex_);
    callers_.front() = callers_[number];
  }
  page_.process.state = number;
  post(page_.process, Operation::Close);
  wait(page_.process, 0);
}

bool WorkerProcess::has_reported_end() {
  const std::lock_guard lock(mutex_);
  return ended_.has_value();
}

void WorkerProcess::post(Mailbox& box, Operation operation) {
  box.operation = operation;
  box.posted.fetch_add(1, std::memory_order_release);
  page_.may_look.store(base::may_look(), std::memory_order_relaxed);
  page_.bell.fetch_add(1, std::memory_order_release);
  base::wake(page_.bell);
}

void WorkerProcess::wait(Mailbox& box, std::uint32_t number) {
  const std::uint32_t wanted = box.posted.load(std::memory_order_relaxed);
  std::optional<Wait> wait;
  if (base::may_look()) base::look_until([&] { return box.answered.load(std::memory_order_acquire) == wanted; });
  for (;;) {
    const std::uint32_t seen = box.answered.load(std::memory_order_acquire);
    if (seen == wanted) break;
    if (base::wait_while(box.answered, seen, kInterval)) continue;
    if (!wait) wait.emplace(Wait{log_of(number)});
    base::LongCalls::report(look(*wait));
  }
  if (page_.speaks.load(std::memory_order_acquire) != heard_) {
    const std::lock_guard lock(mutex_);
    receive();
  }
  if (!box.threw) return;
  base::ErrorRecord record;
  guarded(number, [&] {
    parcel(box).read(record);
    require_known(record.fact);
    require_known(record.problems);
  });
  box.threw = false;
  throw record.error();
}

const Logging& WorkerProcess::log_of(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  return callers_[number].log;
}

/// At the call under way, which is another one than that which is waited for where several threads use the worker. To
/// be reported when no lock is held.
base::LongCall WorkerProcess::look(Wait& wait) {
  const std::lock_guard lock(mutex_);
  if (ended_) throw *ended_;
  receive();
  if (has_ended()) {
    receive();  // what it said at the very end
    fail(end_report());
  }
  const std::size_t number = serving();
  const Caller& caller = callers_[number];
  const Mailbox& box = *boxes_[number];
  if (!wait.interrupted && wait.log.interrupted && wait.log.interrupted()) wait.interrupted = Clock::now();
  if (wait.interrupted && Clock::now() - *wait.interrupted > std::chrono::duration<double>(kAfterInterrupt)) {
    fail({ErrorCode::SubsystemFailed,
          {FactCode::CallInterrupted, {caller.subsystem}, {{"function", function_in(box)}}},
          {.subsystem = {}, .variable = {}, .time = time_in(box), .remedy = {}}});
  }
  const Duration lasted = timer_.look({number, box.posted.load(), page_.note.calls.load()});
  if (caller.timeout && lasted > *caller.timeout + kAfterTimeout) fail(late_report(caller, box));
  if (lasted <= base::kFirstLongCall) return {};
  return {base::long_call(caller.subsystem, function_in(box), lasted, time_in(box), "own"), caller.log.long_call,
          timer_.is_due(lasted)};
}

/// What has come so far; of a worker that never stops, a part.
void WorkerProcess::receive() {
  std::array<std::byte, 65536> part;
  std::size_t came = 0;
  while (!silent_ && came < kLongestFrame) {
    const ssize_t count = ::recv(program_.socket, part.data(), part.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (count <= 0) {
      silent_ = true;
      break;
    }
    received_.insert(received_.end(), part.begin(), part.begin() + count);
    came += static_cast<std::size_t>(count);
    take_frames();
  }
}

void WorkerProcess::take_frames() {
  struct Head {
    Speech what;
    std::uint32_t size;
  };
  std::size_t taken = 0;
  while (received_.size() - taken >= sizeof(Head)) {
    Head head{};
    std::memcpy(&head, received_.data() + taken, sizeof head);
    if (head.size > kLongestFrame) fail(damage_report(serving()));
    if (received_.size() - taken - sizeof head < head.size) break;
    take_frame(head.what, std::span(received_).subspan(taken + sizeof head, head.size));
    taken += sizeof head + head.size;
    ++heard_;
  }
  received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(taken));
}

void WorkerProcess::take_frame(Speech what, std::span<const std::byte> content) {
  base::ErrorRecord record;
  LogMessage message;
  try {
    what == Speech::Fault ? base::from_bytes(content, record) : base::from_bytes(content, message);
    require_known(record.fact);
  } catch (const Error&) {
    fail(damage_report(serving()));
  }
  if (what == Speech::Fault) {
    fault_ = record.error();
    return;
  }
  last_words_.push_back(message.category.empty() ? message.text
                                                 : fmt::format("[{}] {}", message.category, message.text));
  if (last_words_.size() > kLastWords) last_words_.pop_front();
  for (const auto& caller : callers_) {
    if (caller.subsystem != message.subsystem || !caller.log.handler) continue;
    caller.log.handler(message);
    break;
  }
}

/// Its socket ends with it, unless a process that it started holds it; it may end without the process, too.
bool WorkerProcess::has_ended() {
  const auto silent_since = Clock::now();
  for (;;) {
    int status = -1;
    const pid_t ended = ::waitpid(program_.process, &status, WNOHANG);
    if (ended == program_.process) status_ = confinement_.sandbox ? status_inside(status) : status;
    if (ended < 0 && errno == ECHILD) status_ = -1;
    if (status_) return true;
    if (!silent_) return false;
    if (Clock::now() - silent_since > std::chrono::duration<double>(kAfterSilence)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void WorkerProcess::fail(Error error) {
  end();
  ended_ = std::move(error);
  throw *ended_;
}

std::string WorkerProcess::function_in(const Mailbox& box) const {
  const std::string function = text_in(page_.note.function);
  return function.empty() ? name_of(box.operation) : function;
}

std::optional<Time> WorkerProcess::time_in(const Mailbox& box) const {
  if (!std::isnan(page_.note.time)) return page_.note.time;
  return box.operation == Operation::Step ? std::optional(box.from) : std::nullopt;
}

std::size_t WorkerProcess::serving() const {
  const std::uint32_t number = page_.serves.load();
  return number < boxes_.size() ? number : 0;
}

void WorkerProcess::refuse_answer(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  if (ended_) throw *ended_;
  fail(damage_report(number));
}

Error WorkerProcess::damage_report(std::size_t number) const {
  constexpr auto kFault = base::Fault::Damage;
  Fact fact = fault_in(kFault, callers_[number], *boxes_[number]);
  fact.values.emplace_back("cause", base::text_of(kFault).cause);
  return failure(std::move(fact), kFault, callers_[number], *boxes_[number]);
}

/// By what the worker reported, else by how it ended and what it was in.
Error WorkerProcess::end_report() const {
  if (confinement_.sandbox && !page_.began && boxes_.size() == 1) {
    if (auto refused = sandbox_refusal()) return *std::move(refused);
  }
  const std::size_t number = serving();
  if (fault_) {  // which may be that of a thread that no call knows
    ErrorContext where = fault_->context();
    if (where.subsystem.empty()) where.subsystem = callers_[number].subsystem;
    if (!where.time) where.time = time_in(*boxes_[number]);
    where.remedy = remedy_here(where.remedy);
    return with_arguments({fault_->code(), fault_->fact(), where}, *boxes_[number]);
  }
  const base::Fault fault = status_ ? base::fault_of(*status_) : base::Fault::Replaced;
  Fact fact = fault_in(fault, callers_[number], *boxes_[number]);
  fact.values.emplace_back("cause", cause_of(fault, status_.value_or(-1)));
  if (!last_words_.empty()) {
    fact.values.emplace_back("said", fmt::format("; its log: '{}'", fmt::join(last_words_, "', '")));
  }
  return failure(std::move(fact), fault, callers_[number], *boxes_[number]);
}

/// Where bwrap said why: what is killed while it starts says nothing.
std::optional<Error> WorkerProcess::sandbox_refusal() const {
  std::ifstream file(said());
  std::string why;
  std::getline(file, why);
  if (why.empty()) return std::nullopt;
  return Error(
      ErrorCode::FileFailed, {FactCode::SandboxUnavailable, {}, {{"why", base::printable(why)}}},
      {.subsystem = {},
       .variable = {},
       .time = {},
       .remedy = "User namespaces must be allowed (in a container too), or run the FMU with isolate = true alone"});
}

Error WorkerProcess::late_report(const Caller& caller, const Mailbox& box) const {
  Fact fact = fault_in(base::Fault::Timeout, caller, box);
  fact.values.emplace_back("timeout", *caller.timeout, "s");
  return failure(std::move(fact), base::Fault::Timeout, caller, box);
}

Fact WorkerProcess::fault_in(base::Fault fault, const Caller& caller, const Mailbox& box) const {
  const auto& text = base::text_of(fault);
  const std::string code = text_in(page_.note.code);
  return {FactCode::CodeFault,
          {code.empty() ? caller.code : code},
          {{"fault", text.name}, {"action", text.action}, {"function", function_in(box)}}};
}

Error WorkerProcess::failure(Fact fact, base::Fault fault, const Caller& caller, const Mailbox& box) const {
  return with_arguments({ErrorCode::SubsystemFailed,
                         std::move(fact),
                         {caller.subsystem, {}, time_in(box), remedy_here(base::text_of(fault).remedy)}},
                        box);
}

/// An otherwise empty process has no part in a crash: there is one subsystem in it, or the first is being made.
std::string WorkerProcess::remedy_here(const std::string& remedy) const {
  constexpr std::size_t kOneSubsystem = 2;  // the first box is that of what is being made
  return remedy == base::kTryAlone && boxes_.size() <= kOneSubsystem ? base::kReportIt : remedy;
}

}  // namespace entrain::worker
