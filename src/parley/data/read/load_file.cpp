#include <filesystem>

#include "parley/base/error.h"
#include "parley/data/draft.h"
#include "parley/data/libsvm.h"
#include "parley/data/source.h"

namespace parley::data {

FileFormat format_of(const Options& o, const std::string& path) {
  if (o.format != FileFormat::automatic) return o.format;
  if (path == "-" || is_database(path)) return FileFormat::csv;
  std::filesystem::path name = path;
  if (name.extension() == ".gz") name = name.stem();
  const std::string extension = name.extension().string();
  if (extension == ".csv" || extension == ".tsv") return FileFormat::csv;
  if (extension == ".libsvm" || extension == ".svm" || extension == ".svmlight") return FileFormat::libsvm;
  check_there(path, "option --data", "census, adult, a .csv or .libsvm file");
  throw Error({.what = "cannot tell the format of the data from its name",
               .value = "'" + path + "'",
               .allowed = "census, adult, a .csv, .csv.gz or .libsvm file, - for standard input, postgresql://...",
               .where = "option --data",
               .fix = "set --format csv or --format libsvm"});
}

Dataset load_file(const Options& o, const std::string& path, const std::string& option, const Watch& watch) {
  check_there(path, option,
              option == "option --data" ? "census, adult, a .csv or .libsvm file" : "a .csv or .libsvm file");
  if (format_of(o, path) == FileFormat::libsvm) {
    if (o.features < 1)
      throw Error(
          {.what = "LIBSVM data needs the number of features",
           .where = "option --features",
           .fix = "give --features D; the dimension is public knowledge, and reading it off private rows would leak"});
    Dataset d;
    d.name = path;
    d.rows = read_libsvm(path, o.features);
    for (long k = 1; k <= o.features; ++k) d.feature_names.push_back(std::to_string(k));
    return d;
  }
  if (o.schema.empty())
    throw Error(
        {.what = "CSV data needs a schema",
         .where = "option --schema",
         .fix = "write one, or draft it from a public or synthetic sample with 'parley data describe SAMPLE.csv'"});
  const Schema schema =
      parse_schema(o.schema_text.empty() ? read_schema(o.schema, 16 * mebibyte) : o.schema_text, o.schema);
  Dataset dataset = load_csv(open_bytes(path, o.csv.query), schema,
                             {.layout = o.csv.layout(),
                              .split_column = o.split == Split::column ? o.split_column : "",
                              .threads = 0,
                              .watch = watch});
  dataset.name = path;
  return dataset;
}

}  // namespace parley::data
