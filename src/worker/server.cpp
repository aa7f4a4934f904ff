#include "worker/server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

#include "base/fault_watch.hpp"
#include "base/looking.hpp"
#include "base/posix_write.hpp"
#include "base/private_folder.hpp"
#include "worker/served_subsystem.hpp"

namespace entrain::worker {
namespace {

constexpr int kNotStartedByParent = 2;
constexpr Duration kLongSleep = 3600.0;

/// Sends what the parent did not ask for.
class Speaker {
 public:
  explicit Speaker(ProcessPage& page) : page_(page) {}

  void say(Speech what, const base::Bytes& content) {
    // A thread that crashed here holds the lock for good; its report matters more than the line that it broke off.
    const bool last = what == Speech::Fault;
    std::unique_lock lock(mutex_, std::defer_lock);
    if (!last) lock.lock();
    const auto size = static_cast<std::uint32_t>(content.size());
    std::string frame(sizeof what + sizeof size, '\0');
    std::memcpy(frame.data(), &what, sizeof what);
    std::memcpy(frame.data() + sizeof what, &size, sizeof size);
    frame.append(reinterpret_cast<const char*>(content.data()), content.size());
    static_cast<void>(base::write_all(kSocket, frame));  // a parent that is gone ends this process
    page_.speaks.fetch_add(1, std::memory_order_release);
  }

 private:
  ProcessPage& page_;
  std::mutex mutex_;
};

class Server {
 public:
  Server(base::SharedMemory& memory, ProcessPage& page, const Maker& make)
      : memory_(memory), page_(page), make_(make), speaker_(page) {}

  [[noreturn]] void run() {
    const base::FaultWatch watch([this](const Error& fault) {
      speaker_.say(Speech::Fault, base::to_bytes(base::ErrorRecord(fault)));
      base::remove_private_folders();
    });
    for (;;) {
      const std::uint32_t rung = page_.bell.load(std::memory_order_acquire);
      bool any = serve_if_asked(0, page_.process);
      for (std::size_t i = 0; i < served_.size(); ++i) {
        if (served_[i]) any = serve_if_asked(i + 1, served_[i]->box()) || any;
      }
      if (any) continue;
      const auto rings = [&] { return page_.bell.load(std::memory_order_acquire) != rung; };
      if (page_.may_look.load(std::memory_order_relaxed) && base::look_until(rings)) continue;
      base::wait_while(page_.bell, rung, kLongSleep);
    }
  }

 private:
  bool serve_if_asked(std::size_t number, Mailbox& box) {
    const std::uint32_t asked = box.posted.load(std::memory_order_acquire);
    if (asked == box.answered.load(std::memory_order_relaxed)) return false;
    if (page_.serves.exchange(static_cast<std::uint32_t>(number)) != number) forget_call();
    if (number > 0) {
      served_[number - 1]->answer();
    } else {
      answer_process();
    }
    box.answered.store(asked, std::memory_order_release);
    base::wake(box.answered);
    return true;
  }

  /// Of another subsystem.
  void forget_call() {
    page_.note.code.front() = page_.note.function.front() = '\0';
    page_.note.time = std::numeric_limits<double>::quiet_NaN();
  }

  void answer_process() {
    Parcel parcel(memory_, page_.end, page_.process);
    if (page_.process.operation == Operation::Close) {
      page_.serves.store(page_.process.state);
      failed_at_end_.reset();
      served_[page_.process.state - 1].reset();
      page_.process.threw = failed_at_end_.has_value();
      if (failed_at_end_) parcel.write(base::ErrorRecord(*failed_at_end_));
      return;
    }
    MakeRequest request;
    parcel.read(request);
    if (request.only_tried) base::silence({STDOUT_FILENO});
    MadeSubsystem result;
    Logging log;
    log.everything = request.logs_everything;
    log.handler = [this](const LogMessage& message) { speaker_.say(Speech::Log, base::to_bytes(message)); };
    log.failed_at_end = [this](const Error& error) { failed_at_end_ = error; };
    auto made = make_(request, log, result.problems);
    if (made) {
      result.made = true;
      result.variables = made->variables();
      result.box = memory_.allocate(page_.end, box_size(dimensions_of(result.variables)));
      served_.push_back(std::make_unique<ServedSubsystem>(memory_, page_, result.box, std::move(made)));
    }
    parcel.write(result);
  }

  base::SharedMemory& memory_;
  ProcessPage& page_;
  const Maker& make_;
  Speaker speaker_;
  std::optional<Error> failed_at_end_;  ///< of the subsystem that is being closed
  std::vector<std::unique_ptr<ServedSubsystem>> served_;
};

bool is_memory(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_size >= static_cast<off_t>(sizeof(ProcessPage));
}

/// Ends this process when the other end of the pipe is closed, whatever it is in then.
void die_with_parent() {
  ::fcntl(kLifeline, F_SETOWN, ::getpid());
  ::fcntl(kLifeline, F_SETSIG, SIGKILL);
  ::fcntl(kLifeline, F_SETFL, ::fcntl(kLifeline, F_GETFL) | O_ASYNC);
  pollfd already{kLifeline, 0, 0};
  if (::poll(&already, 1, 0) > 0) ::_exit(kNotStartedByParent);
}

/// What cannot be done goes where the maker of the sandbox reports.
void confine_or_end(const Confinement& confinement) {
  try {
    confine(confinement);
  } catch (const std::exception& error) {
    static_cast<void>(base::write_all(STDERR_FILENO, error.what()));
    ::_exit(kNotStartedByParent);
  }
  if (!confinement.sandbox) return;
  ::dup2(kErrors, STDOUT_FILENO);
  ::dup2(kErrors, STDERR_FILENO);
  ::close(kErrors);
}

}  // namespace

int serve(const Maker& make) {
  if (!is_memory(kMemory)) return kNotStartedByParent;
  for (const int descriptor : {kSocket, kMemory, kLifeline}) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  // Those of the terminal go to all processes of the run; the parent decides what follows.
  for (const int signal : {SIGINT, SIGQUIT, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  die_with_parent();
  base::SharedMemory memory(kMemory);
  auto& page = *reinterpret_cast<ProcessPage*>(memory.map({0, sizeof(ProcessPage)}));
  if (page.protocol != kProtocol) return kNotStartedByParent;
  confine_or_end(page.confinement);
  page.began.store(true);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // this process is killed when it is no longer needed
  base::ForeignCode::note_calls_in(page.note);
  Server(memory, page, make).run();
}

}  // namespace entrain::worker
