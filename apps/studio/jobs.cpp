#include "studio/jobs.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "entrain/control.hpp"
#include "entrain/error.hpp"
#include "studio/child.hpp"

namespace entrain::studio {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

constexpr std::size_t kMostJobs = 8;          // at once
constexpr std::size_t kMostRemembered = 50;   // ended ones
constexpr std::size_t kMostSignals = 48;      // of one page
constexpr double kSamplePeriod = 1.0 / 30.0;  // s: what a screen shows
constexpr auto kLookPeriod = 100ms;
constexpr std::streamoff kTail = 8000;  // of a log

std::string tail_of(const fs::path& log) {
  std::ifstream stream(log, std::ios::binary | std::ios::ate);
  if (!stream) return {};
  const std::streamoff size = stream.tellg();
  stream.seekg(std::max<std::streamoff>(0, size - kTail));
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Jobs::Jobs(const Folder& folder, fs::path program, PageEvents& events)
    : folder_(folder), program_(std::move(program)), events_(events) {
  std::string pattern = (fs::temp_directory_path() / "entrain-studio-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::system_error(errno, std::generic_category(), pattern);
  logs_ = pattern;
}

Jobs::~Jobs() {
  ending_ = true;
  for (auto& job : jobs_) {
    if (job.thread.joinable()) job.thread.join();
  }
  for (auto& follower : followers_) follower.thread.join();
  std::error_code ignored;
  fs::remove_all(logs_, ignored);
}

fs::path Jobs::temporary_page() {
  const std::lock_guard lock(mutex_);
  return logs_ / fmt::format("page-{}.html", ++pages_);
}

fs::path Jobs::page_of(int number) const {
  const std::lock_guard lock(mutex_);
  for (const auto& job : jobs_) {
    if (job.number == number && job.ended) return job.product.page;
  }
  return {};
}

int Jobs::start(const std::vector<std::string>& words, const Product& product) {
  const std::lock_guard lock(mutex_);
  const auto going_on = std::count_if(jobs_.begin(), jobs_.end(), [](const Job& job) { return !job.ended; });
  if (static_cast<std::size_t>(going_on) >= kMostJobs)
    throw std::runtime_error(fmt::format("{} commands go on already; stop one", kMostJobs));
  while (jobs_.size() >= kMostRemembered) {
    const auto oldest = std::find_if(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.ended; });
    if (oldest == jobs_.end()) break;
    if (oldest->thread.joinable()) oldest->thread.join();
    std::error_code ignored;
    fs::remove(oldest->log, ignored);
    if (oldest->product.page.parent_path() == logs_) fs::remove(oldest->product.page, ignored);
    jobs_.erase(oldest);
  }
  auto& job = jobs_.emplace_back();
  job.number = ++last_;
  job.words = words;
  job.product = product;
  job.log = logs_ / fmt::format("{}.log", job.number);
  try {
    job.process = start_apart({program_, words, folder_.path()}, job.log);
  } catch (...) {
    jobs_.pop_back();
    throw;
  }
  job.thread = std::thread([this, &job] { attend(job); });
  return job.number;
}

std::string Jobs::text_of(const Job& job) const {
  return dumped({{"event", "job"},
                 {"number", job.number},
                 {"words", job.words},
                 {"run", job.product.run},
                 {"page", job.ended && !job.product.page.empty() && fs::exists(job.product.page)},
                 {"ended", job.ended},
                 {"code", job.code},
                 {"log", tail_of(job.log)}});
}

/// Until the process ends, or this one does: then it goes on alone.
void Jobs::attend(Job& job) {
  std::string known;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(job.process, &status, WNOHANG);
    if (ended == job.process || (ended < 0 && errno == ECHILD)) {
      const std::lock_guard lock(mutex_);
      job.ended = true;
      job.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    if (!job.product.run.empty() && !job.ended) follow(job.product.run);
    std::string text;
    {
      const std::lock_guard lock(mutex_);
      text = text_of(job);
    }
    if (text != known) events_.send_all(known = text);
    if (job.ended || ending_) return;
    std::this_thread::sleep_for(kLookPeriod);
  }
}

std::string Jobs::list() const {
  const std::lock_guard lock(mutex_);
  Json list = Json::array();
  for (const auto& job : jobs_) list.push_back(Json::parse(text_of(job)));
  return dumped(list);
}

bool Jobs::interrupt(int number) {
  const std::lock_guard lock(mutex_);
  for (const auto& job : jobs_) {
    if (job.number == number && !job.ended) return ::kill(job.process, SIGINT) == 0;
  }
  return false;
}

void Jobs::watch(const std::string& page, Watched watched) {
  if (watched.signals.size() > kMostSignals) watched.signals.resize(kMostSignals);
  const std::string run = watched.run;
  {
    const std::lock_guard lock(mutex_);
    watched_[page] = std::move(watched);
    std::erase_if(watched_, [&](const auto& known) { return known.first != page && !events_.has(known.first); });
  }
  if (!run.empty()) follow(run);
}

/// The union of what all pages show of it.
std::vector<std::string> Jobs::signals_of(const std::string& run) const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> names;
  for (const auto& [page, watched] : watched_) {
    if (watched.run == run) names.insert(watched.signals.begin(), watched.signals.end());
  }
  return {names.begin(), names.end()};
}

/// Samples of a run that goes on, in a thread of its own until it ends.
void Jobs::follow(const std::string& run) {
  const auto folder = folder_.inside(run);
  if (!folder || !fs::exists(*folder / kControlSocket)) return;
  const std::lock_guard lock(mutex_);
  if (!followed_.insert(run).second) return;
  followers_.remove_if([](Follower& follower) {
    if (follower.ended) follower.thread.join();
    return follower.ended.load();
  });
  auto& follower = followers_.emplace_back();
  follower.thread = std::thread([this, &follower, run, place = *folder] {
    bool goes_on = true;
    while (goes_on && !ending_) {
      try {
        RunControl control(place);
        const auto signals = signals_of(run);
        const auto state = control.status();
        events_.send_all(dumped({{"event", "state"},
                                 {"run", run},
                                 {"state", state.state},
                                 {"time", state.time},
                                 {"stop", state.stop},
                                 {"macro_steps", state.macro_steps}}));
        auto looked = std::chrono::steady_clock::now();
        goes_on = control.subscribe(
            signals, signals.empty() ? 0.25 : kSamplePeriod,
            [&](const ControlledSample& sample) {
              Json values = signals.empty() ? Json::array() : Json(sample.values);
              events_.send_all(dumped({{"event", "sample"},
                                       {"run", run},
                                       {"time", sample.time},
                                       {"names", signals},
                                       {"values", std::move(values)}}));
              if (std::chrono::steady_clock::now() - looked < kLookPeriod) return !ending_.load();
              looked = std::chrono::steady_clock::now();
              return !ending_ && signals_of(run) == signals;
            },
            [&] { return !ending_ && signals_of(run) == signals; });
      } catch (const std::exception&) {  // it has ended, or refuses a signal: it is asked again at the next request
        goes_on = false;
      }
    }
    events_.send_all(dumped({{"event", "ended"}, {"run", run}}));
    const std::lock_guard again(mutex_);
    followed_.erase(run);
    follower.ended = true;
  });
}

}  // namespace entrain::studio
