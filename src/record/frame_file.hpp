#pragma once

#include <filesystem>
#include <memory>

#include "entrain/simulation.hpp"
#include "record/append_file.hpp"

namespace entrain::recording {

/// frames.csv: the bytes that passed between subsystems at events, a row per bus operation (FMI-LS-BUS 1.0), or one for
/// bytes of another kind. The file is there once there is a frame.
class FrameFile : public Observer {
 public:
  explicit FrameFile(std::filesystem::path file) : path_(std::move(file)) {}

  void communicated(const Sample& sample, const RunSummary& summary) override;
  std::vector<std::byte> memory() const override;
  void resume(const Sample& sample, const RunSummary& summary, std::span<const std::byte> memory) override;

 private:
  std::filesystem::path path_;
  std::unique_ptr<AppendFile> file_;
};

}  // namespace entrain::recording
