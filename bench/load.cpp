// Loading: census rows from a CSV file of about 100 MB to encoded rows. References in the same run: a bare libcsv loop
// that only counts fields, and our own scanner alone.
#include <csv.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "parley/base/csv.h"
#include "parley/base/error.h"
#include "parley/data/named/census.h"
#include "parley/data/read/csv_blocks.h"
#include "parley/data/read/csv_scanner.h"
#include "parley/data/read/load_csv.h"
#include "program.h"
#include "rows.h"
#include "stopwatch.h"

namespace parley::bench {
namespace {

constexpr std::size_t rows = 1'000'000, at_once = 50'000;
constexpr int repetitions = 5;

// In a process of its own, whose memory does not count.
void write_census(const std::filesystem::path& path) {
  const pid_t child = ::fork();
  expects(child >= 0, "a child process");
  if (child == 0) {
    std::ofstream file(path);
    for (std::size_t done = 0; done < rows; done += at_once) {
      const data::Table table = data::census_table(at_once, 1 + done / at_once);
      if (done == 0) file << join(table.columns, ",") << '\n';
      std::string text;
      for (const auto& row : table.cells) {
        for (std::size_t c = 0; c < row.size(); ++c) text += (c == 0 ? "" : ",") + csv_cell(row[c]);
        text += '\n';
      }
      file << text;
    }
    file.close();
    ::_exit(file ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  if (status != 0) throw Error({.what = "no room for the census file", .where = path.string()});
}

long peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

template <class Work>
Seconds fastest(Stopwatch::Of of, const Work& work) {
  Seconds best;
  for (int r = 0; r < repetitions; ++r) {
    const Stopwatch watch(of);
    work();
    best.keep_smaller(watch.read());
  }
  return best;
}

std::size_t libcsv_fields(const std::filesystem::path& path) {
  csv_parser parser{};
  expects(csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) == 0, "csv_init succeeds");
  std::size_t fields = 0;
  const auto count = [](void*, std::size_t, void* to) { ++*static_cast<std::size_t*>(to); };
  const data::Bytes bytes = data::file_bytes(path);
  std::string block(std::size_t{1} << 20U, '\0');
  for (std::size_t got = block.size(); got == block.size();) {
    got = bytes.read(block.data(), block.size());
    expects(csv_parse(&parser, block.data(), got, count, nullptr, &fields) == got, "a file without mistakes");
  }
  csv_fini(&parser, count, nullptr, &fields);
  csv_free(&parser);
  return fields;
}

std::size_t scanned_fields(const std::filesystem::path& path) {
  data::CsvBlocks blocks(data::file_bytes(path));
  data::CsvBlock block;
  const data::CsvLayout layout;
  std::size_t fields = 0;
  while (blocks.next(block)) {
    data::CsvScanner scanner(block.text, block.first_line, layout, blocks.name());
    while (scanner.next()) fields += scanner.fields().size();
  }
  return fields;
}

json measure_file(const std::filesystem::path& path) {
  const double mb = 1e-6 * static_cast<double>(std::filesystem::file_size(path));
  const data::Schema schema = data::parse_schema(data::census_schema(), "census");
  const long before = peak_kib();
  double encoded = 0;
  const auto load = [&](int threads) {
    const data::Dataset d = data::load_csv(data::file_bytes(path), schema, {.threads = threads});
    expects(d.rows.count() == rows, "all rows");
    encoded = static_cast<double>(bytes(d.rows));
  };
  load(cores());
  const double peak = 1024.0 * static_cast<double>(peak_kib());
  const Seconds all = fastest(Stopwatch::Of::process, [&] { load(cores()); });
  const Seconds one = fastest(Stopwatch::Of::process, [&] { load(1); });
  std::size_t ours = 0, theirs = 0;
  const Seconds scan = fastest(Stopwatch::Of::process, [&] { ours = scanned_fields(path); });
  const Seconds bare = fastest(Stopwatch::Of::process, [&] { theirs = libcsv_fields(path); });
  expects(ours == theirs, "the same fields");

  std::printf("%zu census rows, %.1f MB of CSV, %.1f MB encoded\n", rows, mb, 1e-6 * encoded);
  std::printf("%-44s %10s %14s %10s\n", "", "cpu", "MB/s a core", "wall");
  const auto line = [&](const std::string& what, const Seconds& s) {
    std::printf("%-44s %7.0f ms %14.0f %7.0f ms\n", what.c_str(), 1e3 * s.cpu, mb / s.cpu, 1e3 * s.wall);
  };
  line("libcsv, counting fields", bare);
  line("our scanner, counting fields", scan);
  line("loaded and encoded, 1 thread", one);
  line(fmt::format("loaded and encoded, {} threads", cores()), all);
  std::printf("MB/s a core by the wall, %d threads: %.0f; a load takes %.2f times what libcsv alone takes\n", cores(),
              mb / all.wall / cores(), one.cpu / bare.cpu);
  std::printf("peak memory %.0f MB = %.2f of the encoded rows (%.0f MB before loading)\n", 1e-6 * peak, peak / encoded,
              1.024e-3 * static_cast<double>(before));
  return {{"rows", rows},
          {"megabytes", mb},
          {"encoded_megabytes", 1e-6 * encoded},
          {"libcsv_cpu", bare.cpu},
          {"scanner_cpu", scan.cpu},
          {"load_one_thread_cpu", one.cpu},
          {"load_all_threads_cpu", all.cpu},
          {"load_all_threads_wall", all.wall},
          {"megabytes_per_second_per_core", mb / all.wall / cores()},
          {"ratio_to_libcsv", one.cpu / bare.cpu},
          {"peak_to_encoded", peak / encoded}};
}

json measure() {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("parley-bench-load-{}.csv", ::getpid());
  write_census(path);
  json out;
  try {
    out = measure_file(path);
  } catch (...) {
    std::filesystem::remove(path);
    throw;
  }
  std::filesystem::remove(path);
  return out;
}

}  // namespace
}  // namespace parley::bench

int main(int argc, char** argv) {
  return parley::bench::program(argc, argv, "load", parley::bench::measure);
}
