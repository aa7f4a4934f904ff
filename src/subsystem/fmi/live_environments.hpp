#pragma once

#include <shared_mutex>

#include "subsystem/fmi/fmu_log.hpp"
#include "subsystem/fmi/model_description.hpp"

namespace entrain::subsystem {

/// An address that was given to an FMU as its environment, and what it stands for, as long as this object lives.
class LiveEnvironment {
 public:
  /// Borrows all.
  LiveEnvironment(void* address, FmuLog& log, const FmuDescription& description);
  ~LiveEnvironment();
  LiveEnvironment(const LiveEnvironment&) = delete;
  LiveEnvironment& operator=(const LiveEnvironment&) = delete;

  void* address() const { return address_; }
  FmuLog& log() const { return log_; }
  const FmuDescription& description() const { return description_; }

 private:
  void* address_;
  FmuLog& log_;
  const FmuDescription& description_;
};

/// All of them. FMUs pass addresses back that they never got, so none is followed before it was found here.
class LiveEnvironments {
 public:
  /// What an FMU means by `address`; where that is unknown, the instance that the calling thread is in. It does not end
  /// while this object lives.
  class Use {
   public:
    explicit Use(const void* address);
    explicit operator bool() const { return found_ != nullptr; }
    void* address() const { return found_->address(); }
    FmuLog& log() const { return found_->log(); }
    const FmuDescription& description() const { return found_->description(); }

   private:
    std::shared_lock<std::shared_mutex> lock_;
    const LiveEnvironment* found_ = nullptr;
  };
};

}  // namespace entrain::subsystem
