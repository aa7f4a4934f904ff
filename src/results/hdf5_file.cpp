// results.h5: a group per subsystem with its own `time`, and a data set per variable with the attributes name, unit and
// description. All are one-dimensional and grow.
#include <cerrno>

#include "results/file_error.hpp"
#include "results/hdf5_support.hpp"
#include "results/results_file.hpp"

namespace entrain {
namespace {

constexpr hsize_t kChunk = 1024;  // numbers; what a short run takes of the disk per variable

constexpr unsigned kInOrder = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;  // links are listed as they were made

class Hdf5File : public ResultsFile {
 public:
  explicit Hdf5File(std::filesystem::path file) : path_(std::move(file)) {
    silence_hdf5();
    errno = 0;
    const Hdf5Object in_order(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_link_creation_order(in_order.id(), kInOrder);
    file_ = {H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, in_order.id(), H5P_DEFAULT), H5Fclose};
    if (!file_.valid()) throw file_error("cannot create", path_, errno == 0 ? EIO : errno);
  }

  void write_header(const RecordedLayout& layout) override {
    const Hdf5Object in_order(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_link_creation_order(in_order.id(), kInOrder);
    for (const auto& name : layout.groups) {
      Group group;
      group.object = {H5Gcreate2(file_.id(), hdf5_link(name).c_str(), H5P_DEFAULT, in_order.id(), H5P_DEFAULT),
                      H5Gclose};
      require(group.object.valid());
      describe(group.object.id(), "name", name);
      group.time = data_set(group.object.id(), kHdf5Time);
      describe(group.time.id(), "unit", "s");
      groups_.push_back(std::move(group));
    }
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      const auto& column = layout.columns[i];
      auto& group = groups_[column.group];
      const auto variable = column.name.substr(column.name.find('.') + 1);
      auto set = data_set(group.object.id(), hdf5_link(variable).c_str());
      describe(set.id(), "name", column.name);
      describe(set.id(), "unit", column.unit);
      describe(set.id(), "description", column.description);
      group.columns.push_back({i, std::move(set)});
    }
    require(H5Fflush(file_.id(), H5F_SCOPE_LOCAL) >= 0);
  }

  void write(const RowBlock& block) override {
    silence_hdf5();
    for (std::size_t g = 0; g < groups_.size(); ++g) write_group(block, g);
    require(H5Fflush(file_.id(), H5F_SCOPE_LOCAL) >= 0);
  }

 private:
  struct Column {
    std::size_t index;
    Hdf5Object set;
  };
  struct Group {
    Hdf5Object object;
    Hdf5Object time;
    std::vector<Column> columns;
    hsize_t rows = 0;
  };

  void require(bool good) const {
    if (!good) throw file_error("cannot write", path_, errno == 0 ? EIO : errno);
  }

  Hdf5Object data_set(hid_t group, const char* name) const {
    const hsize_t none = 0;
    const hsize_t unlimited = H5S_UNLIMITED;
    const Hdf5Object space(H5Screate_simple(1, &none, &unlimited), H5Sclose);
    const Hdf5Object properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(properties.id(), 1, &kChunk);
    Hdf5Object set(H5Dcreate2(group, name, H5T_IEEE_F64LE, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                   H5Dclose);
    require(set.valid());
    return set;
  }

  void describe(hid_t object, const char* name, const std::string& text) const {
    const auto type = hdf5_text();
    const char* characters = text.c_str();
    const Hdf5Object space(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Object attribute(H5Acreate2(object, name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    require(attribute.valid() && H5Awrite(attribute.id(), type.id(), &characters) >= 0);
  }

  /// Only the rows in which the subsystem communicated: each has its own time axis.
  void write_group(const RowBlock& block, std::size_t g) {
    auto& group = groups_[g];
    rows_.clear();
    for (std::size_t row = 0; row < block.rows(); ++row) {
      if (block.known(row, g)) rows_.push_back(row);
    }
    if (rows_.empty()) return;
    numbers_.resize(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) numbers_[i] = block.time(rows_[i]);
    // The times last: a reader of a killed run never finds a time without its values.
    const auto times = numbers_;
    for (const auto& column : group.columns) {
      for (std::size_t i = 0; i < rows_.size(); ++i) numbers_[i] = block.value(rows_[i], column.index);
      append(column.set, group.rows, numbers_);
    }
    append(group.time, group.rows, times);
    group.rows += rows_.size();
  }

  void append(const Hdf5Object& set, hsize_t before, const std::vector<double>& numbers) const {
    const hsize_t count = numbers.size();
    const hsize_t size = before + count;
    errno = 0;
    require(H5Dset_extent(set.id(), &size) >= 0);
    const Hdf5Object file_space(H5Dget_space(set.id()), H5Sclose);
    const Hdf5Object memory_space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, &before, nullptr, &count, nullptr);
    require(H5Dwrite(set.id(), H5T_NATIVE_DOUBLE, memory_space.id(), file_space.id(), H5P_DEFAULT, numbers.data()) >=
            0);
  }

  std::filesystem::path path_;
  Hdf5Object file_;
  std::vector<Group> groups_;
  std::vector<std::size_t> rows_;
  std::vector<double> numbers_;
};

}  // namespace

Hdf5Object hdf5_text() {
  Hdf5Object type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), H5T_VARIABLE);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

std::string hdf5_link(std::string_view name) {
  if (name == kHdf5Time) return "%74ime";
  if (name == ".") return "%2E";
  std::string link;
  for (const char c : name) {
    if (c == '/') {
      link += "%2F";
    } else if (c == '%') {
      link += "%25";
    } else {
      link += c;
    }
  }
  return link;
}

std::unique_ptr<ResultsFile> hdf5_file(const std::filesystem::path& file) {
  return std::make_unique<Hdf5File>(file);
}

}  // namespace entrain
