#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "hdf5/plugin.hpp"
#include "hdf5/support.hpp"

namespace entrain::hdf5 {
namespace {

class Hdf5Source final : public recording::ColumnSource {
 public:
  explicit Hdf5Source(const std::filesystem::path& file) : path_(file) {
    silence_hdf5();
    file_ = {H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
    if (!file_.valid()) throw unreadable("it is missing or no HDF5 file");
    for_each_group([&](hid_t group) {
      rows_ = std::max(rows_, samples_in(opened(group, kHdf5Time)));
      for (const auto& link : links_of(group)) {
        if (link != kHdf5Time) names_.push_back(text(group, link, "name"));
      }
    });
  }

  Results read(const std::vector<bool>& chosen) override {
    silence_hdf5();  // of this thread
    Results results;
    std::size_t next = 0;
    for_each_group([&](hid_t group) { read_group(group, chosen, next, results); });
    return results;
  }

 private:
  Error unreadable(const std::string& why) const {
    return Error(ErrorCode::FileFailed, {FactCode::FileFailed, {path_.string()}, {{"what", "read"}, {"why", why}}});
  }

  static std::vector<std::string> links_of(hid_t group) {
    H5G_info_t info{};
    H5Gget_info(group, &info);
    std::vector<std::string> links;
    for (hsize_t i = 0; i < info.nlinks; ++i) {
      const auto name = [&](char* to, std::size_t size) {
        return H5Lget_name_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, to, size, H5P_DEFAULT);
      };
      std::string link(static_cast<std::size_t>(std::max<ssize_t>(0, name(nullptr, 0))), '\0');
      name(link.data(), link.size() + 1);
      links.push_back(std::move(link));
    }
    return links;
  }

  template <class Work>
  void for_each_group(Work&& work) const {
    for (const auto& link : links_of(file_.id())) {
      const Hdf5Object group(H5Gopen2(file_.id(), link.c_str(), H5P_DEFAULT), H5Gclose);
      if (!group.valid()) throw unreadable(fmt::format("'{}' is no group", link));
      work(group.id());
    }
  }

  Hdf5Object opened(hid_t group, const std::string& link) const {
    Hdf5Object set(H5Dopen2(group, link.c_str(), H5P_DEFAULT), H5Dclose);
    if (!set.valid()) throw unreadable(fmt::format("no data set '{}'", link));
    return set;
  }

  static std::size_t samples_in(const Hdf5Object& set) {
    const Hdf5Object space(H5Dget_space(set.id()), H5Sclose);
    return static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space.id())));
  }

  struct Numbers {
    std::vector<double> values;
    bool text = false;
  };

  /// Of data sets of other types the nearest numbers.
  Numbers numbers(const Hdf5Object& set, const std::string& link) const {
    std::vector<double> values(samples_in(set), std::numeric_limits<double>::quiet_NaN());
    const Hdf5Object type(H5Dget_type(set.id()), H5Tclose);
    if (H5Tget_class(type.id()) == H5T_STRING) return {std::move(values), true};  // texts are no numbers
    if (H5Dread(set.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
      throw unreadable(fmt::format("data set '{}' is damaged", link));
    }
    return {std::move(values)};
  }

  static std::string text(hid_t group, const std::string& link, const char* name) {
    const Hdf5Object attribute(H5Aopen_by_name(group, link.c_str(), name, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (!attribute.valid()) return {};
    const auto type = hdf5_text();
    char* characters = nullptr;
    if (H5Aread(attribute.id(), type.id(), &characters) < 0 || characters == nullptr) return {};
    std::string value(characters);
    H5free_memory(characters);
    return value;
  }

  /// `next`: of the file, the column that comes next. A group of which nothing is chosen has no axis, but for all.
  void read_group(hid_t group, const std::vector<bool>& chosen, std::size_t& next, Results& results) const {
    const std::size_t axis = results.axes.size();
    const auto time = opened(group, kHdf5Time);
    std::size_t rows = samples_in(time);
    const std::size_t first = results.columns.size();
    for (const auto& link : links_of(group)) {
      if (link == kHdf5Time) continue;
      const auto set = opened(group, link);
      // Of a run that was killed between a column and its times.
      results.cut = results.cut || samples_in(set) != rows;
      rows = std::min(rows, samples_in(set));
      if (!is_chosen(chosen, next++)) continue;
      auto [values, is_text] = numbers(set, link);
      results.columns.push_back({text(group, link, "name"), text(group, link, "unit"), text(group, link, "description"),
                                 axis, std::move(values), is_text});
    }
    if (results.columns.size() == first && !chosen.empty()) return;
    results.axes.push_back(numbers(time, kHdf5Time).values);
    results.axes[axis].resize(rows);
    for (std::size_t c = first; c < results.columns.size(); ++c) results.columns[c].values.resize(rows);
  }

  std::filesystem::path path_;
  Hdf5Object file_;
};

}  // namespace

std::unique_ptr<recording::ColumnSource> open_file(const std::filesystem::path& file) {
  return std::make_unique<Hdf5Source>(file);
}

}  // namespace entrain::hdf5
