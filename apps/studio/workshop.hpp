#pragma once

#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <string>

#include "studio/events.hpp"
#include "studio/folder.hpp"
#include "studio/jobs.hpp"

namespace entrain::studio {

/// A request that is not done, with the status and what the page gets.
struct Refusal {
  int status = 400;
  nlohmann::ordered_json answer;
};

/// A file on its way to the folder: it gets its name when it is whole.
class Upload {
 public:
  Upload(std::filesystem::path folder, std::string name);
  ~Upload();
  Upload(Upload&& other) noexcept;
  Upload& operator=(Upload&&) = delete;

  /// False when it cannot be written.
  bool add(const char* bytes, std::size_t size);
  /// The name that it got: another one where the folder has another file of this name. Throws Refusal.
  std::string finish();

 private:
  std::filesystem::path folder_;
  std::string name_;
  std::string temporary_;
  int descriptor_ = -1;
};

struct WorkshopOptions {
  std::filesystem::path program;
  bool sandbox = false;
  std::string system;  ///< opened first
};

/// What the page can look at and do, each by its name: the files of the folder, edits, commands.
class Workshop {
 public:
  Workshop(const Folder& folder, WorkshopOptions options, Jobs& jobs, PageEvents& events);

  /// Answers are JSON. Both throw Refusal, and exceptions of JSON for requests that are not what the page sends.
  std::string look(const std::string& what, const nlohmann::ordered_json& words);
  std::string act(const std::string& what, const nlohmann::ordered_json& request);
  Upload upload(const std::string& name) const;

  /// Changes when a file in the folder does.
  std::string fingerprint() const;

 private:
  using Json = nlohmann::ordered_json;
  std::filesystem::path place_of(const Json& request, const char* key) const;
  std::filesystem::path run_folder(const Json& request, const char* key = "run") const;
  Json state(const Json& words) const;
  Json runs() const;
  std::string sketched(const Json& request);
  Json edited(const Json& request) const;
  Json saved(const Json& request);
  Json started(const Json& request);
  Json converted(const Json& request);
  Json controlled(const Json& request);
  void remove_run(const Json& request);
  std::string free_run(const std::string& system, const std::string& parent = "runs") const;
  std::string page_json(const Json& words) const;

  const Folder& folder_;
  WorkshopOptions options_;
  Jobs& jobs_;
  PageEvents& events_;
  std::mutex saving_;
  std::counting_semaphore<4> children_{2};  ///< processes that look at a text
};

}  // namespace entrain::studio
