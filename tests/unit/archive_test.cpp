#include "base/archive.hpp"

#include <gtest/gtest.h>
#include <sys/file.h>

#include "entrain/error.hpp"
#include "support/archives.hpp"
#include "support/facts.hpp"
#include "support/temporary_folder.hpp"
#include "support/zip_bytes.hpp"

namespace entrain {
namespace archive_test {

namespace fs = std::filesystem;
using test::ArchiveEntry;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

class Archive : public testing::Test {
 protected:
  void SetUp() override { ::setenv("TMPDIR", folder_.path().c_str(), 1); }
  void TearDown() override { ::unsetenv("TMPDIR"); }

  fs::path write(const std::vector<ArchiveEntry>& entries) const {
    test::write_archive(file_, entries);
    return file_;
  }
  /// The outline of why it was refused, with the archive as the first subject; nothing may be left behind.
  std::string refusal(const fs::path& archive, const base::ArchiveLimits& limits = {}) const {
    try {
      const base::UnpackedArchive unpacked(archive, limits);
    } catch (const Error& error) {
      EXPECT_EQ(folders_left(), 0);
      EXPECT_EQ(error.fact().subjects.front(), archive.string());
      Fact about_entry = error.fact();
      about_entry.subjects.erase(about_entry.subjects.begin());
      return test::outline(about_entry);
    }
    return "unpacked";
  }
  int folders_left() const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path())) count += entry.is_directory() ? 1 : 0;
    return count;
  }

  test::TemporaryFolder folder_;
  fs::path file_ = folder_ / "part.fmu";
};

TEST_F(Archive, is_unpacked_into_a_folder_of_its_own_that_goes_with_it) {
  const std::string unicode = "resources/\xc3\xa4 \xe6\x97\xa5 b.txt";
  write({{"modelDescription.xml", "<x/>"},
         {"resources/", ""},
         {unicode, "hello"},
         {"empty", ""},
         {"run.sh", "#!", S_IFREG | 0755}});
  fs::path inside;
  {
    const base::UnpackedArchive archive(file_);
    inside = archive.folder();
    EXPECT_EQ(test::text_of(inside / "modelDescription.xml"), "<x/>");
    EXPECT_EQ(test::text_of(inside / unicode), "hello");
    EXPECT_TRUE(fs::exists(inside / "empty"));
    EXPECT_EQ(fs::status(inside).permissions(), fs::perms::owner_all);
    EXPECT_EQ(fs::status(inside / "run.sh").permissions(), fs::perms::owner_all);
    EXPECT_EQ(fs::status(inside / "empty").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  }
  EXPECT_FALSE(fs::exists(inside));
  EXPECT_EQ(folders_left(), 0);
}

TEST_F(Archive, that_writes_outside_its_folder_is_refused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"../evil", "../evil (fault = '..' leads out of the archive)"},
      {"a/../../evil", "a/../../evil (fault = '..' leads out of the archive)"},
      {"a/..", "a/.. (fault = '..' leads out of the archive)"},
      {"/evil", "/evil (fault = absolute path)"},
      {"..\\evil", "../evil (fault = '..' leads out of the archive)"},
      {"a\\..\\..\\evil", "a/../../evil (fault = '..' leads out of the archive)"},
      {"\\evil", "/evil (fault = absolute path)"},
      {"\\\\host\\evil", "//host/evil (fault = absolute path)"},
      {"C:\\evil", "C:/evil (fault = drive letter)"},
      {"C:evil", "C:evil (fault = drive letter)"},
      {"line\nbreak", "line\\x0abreak (fault = control character)"},
      {"bell\a", "bell\\x07 (fault = control character)"},
      {"latin\xe4", "latin\\xe4 (fault = not UTF-8)"},
      {"cut\xe6\x97", "cut\\xe6\\x97 (fault = not UTF-8)"},
  };
  for (const auto& [name, why] : cases) {
    EXPECT_EQ(refusal(write({{name, "x"}})), "entry-name " + why);
  }
  EXPECT_FALSE(fs::exists(folder_ / "evil"));
}

TEST_F(Archive, with_backslashes_in_paths_is_unpacked_as_if_they_were_slashes) {
  write({{"modelDescription.xml", "<x/>"}, {"binaries\\win64\\", ""}, {"binaries\\win64\\m.dll", "code"}});
  {
    const base::UnpackedArchive archive(file_);
    EXPECT_EQ(test::text_of(archive.folder() / "binaries/win64/m.dll"), "code");
    EXPECT_TRUE(fs::is_directory(archive.folder() / "binaries/win64"));
  }
  EXPECT_EQ(refusal(write({{"a/b", "1"}, {"a\\b", "2"}})), "entry-twice a/b");
}

TEST_F(Archive, with_names_that_no_file_can_have_is_refused_for_that) {
  EXPECT_EQ(refusal(write({{".", "x"}})), "entry-name . (fault = no file)");
  EXPECT_EQ(refusal(write({{"a/.", "x"}})), "entry-name a/. (fault = no file)");
  EXPECT_EQ(refusal(write({{std::string(256, 'n'), "x"}})),
            "entry-name " + std::string(256, 'n') + " (fault = name too long)");
  std::string deep;
  for (int i = 0; i < 1001; ++i) deep += "d/";
  EXPECT_EQ(refusal(write({{deep + "f", "x"}})), "entry-name " + deep + "f (fault = path too long)");
  EXPECT_EQ(refusal(write({{std::string(255, 'n'), "x"}, {"./b", "x"}})), "unpacked");
}

TEST_F(Archive, with_links_devices_or_secrets_is_refused) {
  EXPECT_EQ(refusal(write({{"link", "/etc/passwd", S_IFLNK | 0777}})), "entry-kind link (kind = a symbolic link)");
  EXPECT_EQ(refusal(write({{"pipe", "", S_IFIFO | 0600}})), "entry-kind pipe (kind = neither a file nor a folder)");
  EXPECT_EQ(refusal(write({{"safe", "x", S_IFREG, true}})), "entry-kind safe (kind = encrypted)");
}

TEST_F(Archive, with_a_name_twice_is_refused) {
  write({{"aa.txt", "1"}, {"ab.txt", "2"}});
  test::write_text(file_, replaced(test::text_of(file_), "ab.txt", "aa.txt"));
  EXPECT_EQ(refusal(file_), "entry-twice aa.txt");
  EXPECT_EQ(refusal(write({{"a", "1"}, {"./a", "2"}})), "entry-twice ./a");
}

TEST_F(Archive, with_the_same_folder_or_file_twice_is_unpacked) {
  write({{"extra/", ""}, {"extrb/", ""}, {"extra/a", "1"}});
  test::write_text(file_, replaced(test::text_of(file_), "extrb/", "extra/"));
  EXPECT_EQ(refusal(file_), "unpacked");
  EXPECT_EQ(refusal(write({{"extra/", ""}, {"extra", "1"}})), "entry-twice extra");
  EXPECT_EQ(refusal(write({{"a", "1"}, {"./a", "1"}})), "unpacked");
}

TEST_F(Archive, that_hides_a_bomb_is_refused) {
  const std::string zeros(std::size_t{3} << 20U, '\0');
  EXPECT_EQ(refusal(write({{"zeros", zeros}})), "entry-ratio zeros (ratio = 1000)");
  base::ArchiveLimits limits;
  limits.bytes = 1000;
  EXPECT_EQ(refusal(write({{"a", std::string(600, 'a')}, {"b", std::string(600, 'b')}}), limits),
            "archive-too-large b (limit = 1000)");
  limits.entries = 1;
  EXPECT_EQ(refusal(file_, limits), "archive-too-many-entries (entries = 2, limit = 1)");
}

TEST_F(Archive, whose_entries_together_unpack_to_far_more_than_it_has_is_refused) {
  base::ArchiveLimits limits;
  limits.total_free_bytes = 1000;
  const std::string text(5000, 'a');  // each may be packed so well, being small
  EXPECT_EQ(refusal(write({{"a", text}, {"b", text}, {"c", text}, {"d", text}}), limits), "unpacked");
  limits.total_ratio = 20;
  EXPECT_EQ(refusal(file_, limits), "archive-ratio (bytes = 20000, ratio = 20)");
}

TEST_F(Archive, whose_entries_share_bytes_is_refused_before_anything_is_unpacked) {
  test::ZipBytes zip;
  zip.add({"0000000", std::string(1000, 'a')});
  zip.add_aliases(3);
  test::write_text(file_, zip.finished());
  const auto why = refusal(file_);
  EXPECT_TRUE(why.starts_with("archive-overlap 000000")) << why;
}

TEST_F(Archive, that_takes_too_long_is_refused) {
  base::ArchiveLimits limits;
  limits.seconds = 0.0;
  EXPECT_EQ(refusal(write({{"a", "1"}}), limits), "archive-too-slow (seconds = 0 s)");
}

TEST_F(Archive, that_is_broken_is_refused) {
  test::write_text(file_, "this is no zip");
  EXPECT_EQ(refusal(file_), "archive-no-zip");
  write({{"a", std::string(5000, 'x')}});
  std::string bytes = test::text_of(file_);
  test::write_text(file_, bytes.substr(0, bytes.size() / 2));
  EXPECT_EQ(refusal(file_), "archive-no-zip");
  bytes[40] = static_cast<char>(bytes[40] ^ 0x55);  // in the packed data of the first entry
  test::write_text(file_, bytes);
  EXPECT_TRUE(refusal(file_).starts_with("entry-damaged a ")) << refusal(file_);
  EXPECT_EQ(refusal(folder_ / "none.fmu"), "no-such-file");
}

TEST_F(Archive, folders_of_a_crashed_run_are_removed_and_those_in_use_are_not) {
  const fs::path abandoned = folder_ / "entrain-fmu-crash1";
  const fs::path foreign = folder_ / "entrain-fmu-notours";
  fs::create_directories(abandoned / "content");
  fs::create_directories(foreign);
  test::write_text(abandoned / "lock", "");
  write({{"a", "x"}});
  const base::UnpackedArchive living(file_);
  base::remove_abandoned_folders(folder_.path());
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(foreign));  // no lock: being made
  EXPECT_TRUE(fs::exists(living.folder() / "a"));
}

TEST_F(Archive, folder_whose_maker_was_killed_before_it_had_a_lock_is_removed_later) {
  const fs::path unlocked = folder_ / "entrain-fmu-nolock";
  fs::create_directories(unlocked / "content");
  fs::last_write_time(unlocked, fs::file_time_type::clock::now() - std::chrono::hours(2));
  base::remove_abandoned_folders(folder_.path());
  EXPECT_FALSE(fs::exists(unlocked));
}

TEST_F(Archive, all_folders_of_a_process_that_must_end_are_removed_at_once) {
  write({{"a", "x"}});
  const base::UnpackedArchive first(file_);
  const base::UnpackedArchive second(file_);
  EXPECT_EQ(folders_left(), 2);
  base::remove_private_folders();
  EXPECT_EQ(folders_left(), 0);
}

}  // namespace archive_test
}  // namespace entrain
