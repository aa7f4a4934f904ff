#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "hdf5/plugin.hpp"
#include "hdf5/support.hpp"

namespace entrain::hdf5 {
namespace {

class Hdf5Reader {
 public:
  explicit Hdf5Reader(const std::filesystem::path& file) : path_(file) {
    silence_hdf5();
    file_ = {H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
    if (!file_.valid()) throw unreadable("it is missing or no HDF5 file");
  }

  Results read() {
    Results results;
    for (const auto& link : links_of(file_.id())) {
      const Hdf5Object group(H5Gopen2(file_.id(), link.c_str(), H5P_DEFAULT), H5Gclose);
      if (!group.valid()) throw unreadable(fmt::format("'{}' is no group", link));
      read_group(group.id(), results);
    }
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

  struct Numbers {
    std::vector<double> values;
    bool text = false;
  };

  /// Of data sets of other types the nearest numbers.
  Numbers numbers(hid_t group, const std::string& link) const {
    const Hdf5Object set(H5Dopen2(group, link.c_str(), H5P_DEFAULT), H5Dclose);
    if (!set.valid()) throw unreadable(fmt::format("no data set '{}'", link));
    const Hdf5Object space(H5Dget_space(set.id()), H5Sclose);
    std::vector<double> values(
        static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space.id()))),
        std::numeric_limits<double>::quiet_NaN());
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

  void read_group(hid_t group, Results& results) const {
    const std::size_t axis = results.axes.size();
    results.axes.push_back(numbers(group, kHdf5Time).values);
    for (const auto& link : links_of(group)) {
      if (link == kHdf5Time) continue;
      auto [values, is_text] = numbers(group, link);
      // Of a run that was killed between a column and its times.
      const std::size_t rows = std::min(values.size(), results.axes[axis].size());
      results.cut = results.cut || values.size() != results.axes[axis].size();
      results.axes[axis].resize(rows);
      values.resize(rows);
      results.columns.push_back({text(group, link, "name"), text(group, link, "unit"), text(group, link, "description"),
                                 axis, std::move(values), is_text});
    }
    for (auto& column : results.columns) {
      if (column.axis == axis) column.values.resize(results.axes[axis].size());
    }
  }

  std::filesystem::path path_;
  Hdf5Object file_;
};

}  // namespace

Results read_file(const std::filesystem::path& file) {
  return Hdf5Reader(file).read();
}

}  // namespace entrain::hdf5
