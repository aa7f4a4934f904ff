#pragma once

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "studio/events.hpp"
#include "studio/folder.hpp"

namespace entrain::studio {

/// Which signals of which run a page shows.
struct Watched {
  std::string run;
  std::vector<std::string> signals;
};

/// Commands of the program that the studio started, and runs that go on, also those that others started. A thread looks
/// after each: the samples of a run, thinned to what the pages show, and the end of a command become events.
class Jobs {
 public:
  Jobs(const Folder& folder, std::filesystem::path program, PageEvents& events);
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  /// What a command leaves besides its exit code.
  struct Product {
    std::string run = {};             ///< name of the folder of its run; empty = it makes none
    std::filesystem::path page = {};  ///< the report that it writes; empty = none
  };
  /// Starts "entrain WORDS...". Returns the number of the job. Throws std::runtime_error when too many go on,
  /// std::system_error when it cannot be started.
  int start(const std::vector<std::string>& words, const Product& product);
  /// Where a command can write a page that goes with the server.
  std::filesystem::path temporary_page();
  /// Of a job that has ended; empty = there is none.
  std::filesystem::path page_of(int number) const;
  /// What goes on and what ended lately, as JSON.
  std::string list() const;
  /// Ends a job as Ctrl-C does.
  bool interrupt(int number);
  /// Sends samples of these signals to the page from now on.
  void watch(const std::string& page, Watched watched);

 private:
  struct Job {
    int number = 0;
    std::vector<std::string> words;
    Product product;
    pid_t process = -1;
    std::filesystem::path log;
    bool ended = false;
    int code = 0;
    std::thread thread;
  };

  void attend(Job& job);
  void follow(const std::string& run);
  std::vector<std::string> signals_of(const std::string& run) const;
  std::string text_of(const Job& job) const;

  const Folder& folder_;
  std::filesystem::path program_;
  PageEvents& events_;
  std::filesystem::path logs_;
  mutable std::mutex mutex_;
  std::list<Job> jobs_;
  std::map<std::string, Watched> watched_;  ///< by page
  std::set<std::string> followed_;
  struct Follower {
    std::thread thread;
    std::atomic<bool> ended{false};
  };
  std::list<Follower> followers_;
  int last_ = 0;
  int pages_ = 0;
  std::atomic<bool> ending_{false};
};

}  // namespace entrain::studio
