// The compiled part of the Python package: include/parley/parley.h as it is, numpy arrays in and out. What Python users see
// is in parley/*.py. The interpreter's lock is given back while rows are encoded and models are trained.
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <atomic>
#include <chrono>
#include <future>

#include "parley/parley.h"

namespace py = pybind11;

namespace {

using Doubles = py::array_t<double, 0>;

std::ptrdiff_t step(const Doubles& x, py::ssize_t axis) {
  return x.strides(axis) / static_cast<py::ssize_t>(sizeof(double));
}

// A view: no copy, in either order. numpy guarantees strides in whole doubles for what the Python layer hands over.
parley::DenseMatrix matrix(const Doubles& x) {
  if (x.ndim() != 2) throw py::value_error("a matrix has two dimensions");
  return {.first = x.data(),
          .rows = static_cast<std::size_t>(x.shape(0)),
          .columns = static_cast<std::size_t>(x.shape(1)),
          .row_step = step(x, 0),
          .column_step = step(x, 1)};
}

template <class T>
std::span<const T> span(const py::array_t<T, py::array::c_style>& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}

py::array_t<double> array(const std::vector<double>& values) {
  return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data());
}

using Labels = py::array_t<double, py::array::c_style>;

parley::Rows dense(const Doubles& x, const Labels& labels, const parley::Schema& schema, const std::string& name) {
  const parley::DenseMatrix numbers = matrix(x);
  const std::span<const double> y = span(labels);
  py::gil_scoped_release released;
  return parley::rows_of(numbers, y, schema, name);
}

parley::Rows sparse(const py::array_t<std::int64_t, py::array::c_style>& start,
                    const py::array_t<std::int32_t, py::array::c_style>& column,
                    const py::array_t<double, py::array::c_style>& value, std::size_t columns, const Labels& labels,
                    const parley::Schema& schema, const std::string& name) {
  const parley::SparseMatrix numbers{
      .start = span(start), .column = span(column), .value = span(value), .columns = columns};
  const std::span<const double> y = span(labels);
  py::gil_scoped_release released;
  return parley::rows_of(numbers, y, schema, name);
}

// Carries out `work` on a thread of its own, while this one asks for signals: Ctrl-C sets `stop`, and the work ends where
// it can, after the round that is under way. Called without the interpreter's lock.
template <class Work>
auto attended(std::atomic<bool>& stop, Work work) {
  auto done = std::async(std::launch::async, std::move(work));
  while (done.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    const py::gil_scoped_acquire held;
    if (PyErr_CheckSignals() == 0) continue;
    PyErr_Clear();
    stop = true;
  }
  return done.get();
}

parley::Trained train(const parley::Settings& settings, const std::vector<parley::Rows>& parties, bool deal,
                      const std::vector<parley::Rows>& test, const py::object& on_round) {
  std::atomic<bool> stop = false;
  parley::Hooks hooks{.on_round = {}, .stop = &stop};
  if (!on_round.is_none())
    hooks.on_round = [&](const parley::Progress& p) {
      const py::gil_scoped_acquire held;
      on_round(p);
    };
  const py::gil_scoped_release released;
  return attended(stop, [&] {
    return deal ? parley::train_dealt(settings, parties.at(0), test, hooks)
                : parley::train(settings, parties, test, hooks);
  });
}

parley::JoinOutcome join(const std::string& study, const parley::Settings& settings, const py::object& progress,
                         const py::object& log) {
  std::atomic<bool> stop = false;
  parley::JoinHooks hooks{.on_progress = {}, .log = {}, .stop = &stop};
  if (!progress.is_none())
    hooks.on_progress = [&](int round, int rounds, int answering, int peers) {
      const py::gil_scoped_acquire held;
      progress(round, rounds, answering, peers);
    };
  if (!log.is_none())
    hooks.log = [&](const std::string& line, bool warning) {
      const py::gil_scoped_acquire held;
      log(line, warning);
    };
  const py::gil_scoped_release released;
  return attended(stop, [&] { return parley::join(study, settings, hooks); });
}

void bind_rows(py::module_& m) {
  py::class_<parley::Schema>(m, "Schema")
      .def(py::init(
               [](const std::string& toml, const std::string& not_public) { return parley::Schema{toml, not_public}; }),
           py::arg("toml"), py::arg("not_public") = "")
      .def_readonly("toml", &parley::Schema::toml)
      .def_readonly("not_public", &parley::Schema::not_public)
      .def("features", &parley::Schema::features);
  m.def("read_schema", &parley::read_schema);
  m.def(
      "schema_of",
      [](const std::vector<std::string>& names, const std::vector<std::pair<double, double>>& bounds,
         const std::string& label, const std::vector<std::string>& classes, std::pair<double, double> target,
         bool intercept, bool linear, bool softmax, const std::string& not_public) {
        parley::NumberColumns columns{.columns = {},
                                      .label = label,
                                      .classes = classes,
                                      .label_low = target.first,
                                      .label_high = target.second,
                                      .intercept = intercept,
                                      .linear = linear,
                                      .softmax = softmax};
        for (std::size_t i = 0; i < names.size(); ++i)
          columns.columns.push_back({.name = names[i], .low = bounds.at(i).first, .high = bounds.at(i).second});
        parley::Schema schema = parley::schema_of(columns);
        schema.not_public = not_public;
        return schema;
      },
      py::arg("names"), py::arg("bounds"), py::arg("label"), py::arg("classes"), py::arg("target"),
      py::arg("intercept"), py::arg("linear"), py::arg("softmax"), py::arg("not_public"));
  m.def("bounds_in", [](const parley::Schema& schema) {
    std::vector<std::pair<double, double>> bounds;
    for (const auto& column : parley::number_columns(schema)) bounds.emplace_back(column.low, column.high);
    return bounds;
  });
  py::class_<parley::Rows>(m, "Rows")
      .def("__len__", &parley::Rows::count)
      .def_property_readonly("features", &parley::Rows::features)
      .def_property_readonly("warnings", &parley::Rows::warnings);
  m.def("rows_of_dense", &dense, py::arg("numbers"), py::arg("labels"), py::arg("schema"), py::arg("name"));
  m.def("rows_of_sparse", &sparse, py::arg("start"), py::arg("column"), py::arg("value"), py::arg("columns"),
        py::arg("labels"), py::arg("schema"), py::arg("name"));
  m.def("read_csv", &parley::read_csv, py::call_guard<py::gil_scoped_release>());
  m.def("read_libsvm", &parley::read_libsvm, py::call_guard<py::gil_scoped_release>());
}

void bind_model(py::module_& m) {
  py::class_<parley::Model>(m, "Model")
      .def_static("read", &parley::Model::read)
      .def_static("from_json", &parley::Model::from_json)
      .def("save", &parley::Model::save)
      .def("json", &parley::Model::json)
      .def("weights", [](const parley::Model& model) { return array(model.weights()); })
      .def("features", &parley::Model::features)
      .def("classes", &parley::Model::classes)
      .def("loss", &parley::Model::loss)
      .def("schema", &parley::Model::schema)
      .def("not_private", &parley::Model::not_private)
      .def("scores", [](const parley::Model& model, const parley::Rows& rows) { return array(model.scores(rows)); })
      .def("probabilities",
           [](const parley::Model& model, const parley::Rows& rows) { return array(model.probabilities(rows)); })
      .def("predicted",
           [](const parley::Model& model, const parley::Rows& rows) { return array(model.predicted(rows)); })
      .def("evaluate", &parley::Model::evaluate)
      .def(py::pickle([](const parley::Model& model) { return model.json(); },
                      [](const std::string& json) { return parley::Model::from_json(json); }));
}

void bind_training(py::module_& m) {
  py::class_<parley::Progress>(m, "Progress")
      .def_readonly("round", &parley::Progress::round)
      .def_readonly("rounds", &parley::Progress::rounds)
      .def_readonly("epsilon", &parley::Progress::epsilon)
      .def_readonly("epsilon_all_others", &parley::Progress::epsilon_all_others)
      .def_readonly("disagreement", &parley::Progress::disagreement)
      .def_readonly("train_loss", &parley::Progress::train_loss)
      .def_readonly("test_error", &parley::Progress::test_error);
  py::class_<parley::PartySpend>(m, "PartySpend")
      .def_readonly("records", &parley::PartySpend::records)
      .def_readonly("epsilon", &parley::PartySpend::epsilon)
      .def_readonly("epsilon_all_others", &parley::PartySpend::epsilon_all_others);
  m.def("printed_epsilon", &parley::printed_epsilon);
  py::class_<parley::Guarantee>(m, "Guarantee")
      .def_readonly("epsilon", &parley::Guarantee::epsilon)
      .def_readonly("epsilon_all_others", &parley::Guarantee::epsilon_all_others)
      .def_readonly("delta", &parley::Guarantee::delta)
      .def_readonly("against", &parley::Guarantee::against)
      .def_readonly("theorem", &parley::Guarantee::theorem)
      .def_readonly("bound", &parley::Guarantee::bound)
      .def_readonly("protects", &parley::Guarantee::protects)
      .def_readonly("parties", &parley::Guarantee::parties)
      .def_readonly("not_private", &parley::Guarantee::not_private);
  py::class_<parley::Coefficient>(m, "Coefficient")
      .def_readonly("name", &parley::Coefficient::name)
      .def_readonly("estimate", &parley::Coefficient::estimate)
      .def_readonly("standard_error", &parley::Coefficient::standard_error)
      .def_readonly("low", &parley::Coefficient::low)
      .def_readonly("high", &parley::Coefficient::high)
      .def_readonly("p_value", &parley::Coefficient::p_value)
      .def_readonly("identified", &parley::Coefficient::identified);
  py::class_<parley::Trained>(m, "Trained")
      .def_readonly("outcome", &parley::Trained::outcome)
      .def_readonly("model", &parley::Trained::model)
      .def_readonly("guarantee", &parley::Trained::guarantee)
      .def_readonly("history", &parley::Trained::history)
      .def_readonly("coefficients", &parley::Trained::coefficients)
      .def_readonly("warnings", &parley::Trained::warnings)
      .def_readonly("record", &parley::Trained::record)
      .def_readonly("json", &parley::Trained::json);
  m.def("train", &train, py::arg("settings"), py::arg("parties"), py::arg("deal"), py::arg("test"),
        py::arg("on_round"));
}

void bind_owner(py::module_& m) {
  py::class_<parley::Ledger>(m, "Ledger")
      .def(py::init<std::filesystem::path>())
      .def("cap", &parley::Ledger::cap)
      .def("spent", &parley::Ledger::spent)
      .def("left", &parley::Ledger::left)
      .def_property_readonly("file", &parley::Ledger::file);
  py::class_<parley::JoinOutcome>(m, "JoinOutcome")
      .def_readonly("outcome", &parley::JoinOutcome::outcome)
      .def_readonly("text", &parley::JoinOutcome::text)
      .def_readonly("exit_code", &parley::JoinOutcome::exit_code)
      .def_readonly("epsilon", &parley::JoinOutcome::epsilon)
      .def_readonly("delta", &parley::JoinOutcome::delta)
      .def_readonly("not_private", &parley::JoinOutcome::not_private)
      .def_readonly("folder", &parley::JoinOutcome::folder)
      .def_readonly("has_model", &parley::JoinOutcome::has_model)
      .def_readonly("has_statement", &parley::JoinOutcome::has_statement);
  m.def("join", &join, py::arg("study"), py::arg("settings"), py::arg("progress"), py::arg("log"));
  m.def("write_report", &parley::write_report, py::call_guard<py::gil_scoped_release>());
}

}  // namespace

PYBIND11_MODULE(_parley, m) {
  m.attr("version") = parley::version();
  static const py::exception<parley::Error> refused(m, "Error", PyExc_ValueError);
  static const py::exception<parley::Error> exceeded(m, "BudgetExceeded", refused);
  py::register_exception_translator([](std::exception_ptr failure) {
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const parley::Error& e) {
      PyErr_SetString((e.is(parley::budget_exceeded) ? exceeded : refused).ptr(), e.what());
    }
  });
  bind_rows(m);
  bind_model(m);
  bind_training(m);
  bind_owner(m);
}
