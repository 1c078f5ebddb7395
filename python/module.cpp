// SPDX-License-Identifier: Apache-2.0
// python: the extension module _rankloom on top of the bridge. It only converts values; the public, documented
// interface is rankloom/__init__.py.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "capi/bridge.hpp"
#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/parallel.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/evaluate/metrics.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/model/prediction/predict.hpp"

namespace py = pybind11;
using namespace rankloom;

namespace {

template <class T>
using ArrayOf = py::array_t<T, py::array::c_style>;

/// An exception that becomes rankloom.Error in Python.
struct ErrorException {
  Error error;
};

template <class T>
T or_throw(Result<T> result) {
  if (!result) throw ErrorException{std::move(result).error()};
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// Runs long work without the global interpreter lock. Errors are thrown after the lock is held again.
template <class Body>
auto without_gil(const Body& body) {
  auto result = [&] {
    const py::gil_scoped_release release;
    return body();
  }();
  return or_throw(std::move(result));
}

template <class T>
std::span<const T> span_of(const std::optional<ArrayOf<T>>& array) {
  if (!array) return {};
  return {array->data(), static_cast<std::size_t>(array->size())};
}

template <class T>
std::span<const T> span_of(const ArrayOf<T>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

/// A read-only array of our data without a copy. It keeps its owner alive.
template <class T, class U>
py::array view(const U* data, std::size_t count, py::handle owner) {
  static_assert(sizeof(T) == sizeof(U));
  py::array array(py::dtype::of<T>(), {count}, {sizeof(T)}, data, owner);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

template <class Id>
py::array_t<std::uint32_t> numbers(std::span<const Id> ids) {
  py::array_t<std::uint32_t> array(static_cast<py::ssize_t>(ids.size()));
  std::uint32_t* out = array.mutable_data();
  for (const Id id : ids) *out++ = index(id);
  return array;
}

py::dict load_dict(const LoadBalance& load) {
  return py::dict(py::arg("heaviest_core") = load.heaviest_core, py::arg("bound") = load.lower_bound,
                  py::arg("imbalance") = load.imbalance());
}

py::dict map_graph(const CommGraph& graph, const Topology& topology, const std::string& mapper,
                   std::vector<std::pair<std::string, std::string>> options, const std::string& model,
                   std::uint64_t seed, std::uint64_t budget_ms, std::uint64_t threads, bool oversubscribe,
                   double imbalance, const std::optional<ArrayOf<std::uint32_t>>& start, double migration_cost,
                   bool raw, bool lower_bound) {
  bridge::MapRequest request{.mapper = mapper,
                             .options = std::move(options),
                             .model = model,
                             .seed = seed,
                             .budget_ms = budget_ms,
                             .threads = threads,
                             .fit = {.oversubscribe = oversubscribe, .imbalance = imbalance},
                             .start = {},
                             .migration_cost = migration_cost,
                             .run = {.keep_worse = raw, .compute_lower_bound = lower_bound}};
  if (start) {
    const auto cores = span_of(*start);
    request.start.emplace(cores.begin(), cores.end());
  }
  const MapResult result = without_gil([&] { return bridge::map(graph, topology, request); });
  py::dict values;
  values["cores"] = numbers(result.mapping.cores());
  values["mapper"] = result.mapper;
  values["seed"] = result.seed;
  values["model"] = info(result.model).name;
  values["larger_is_better"] = info(result.model).larger_is_better;
  values["cost"] = result.cost;
  values["cost_default"] = result.cost_default;
  values["lower_bound"] = result.lower_bound;
  values["time_ms"] = result.time_ms;
  values["fell_back"] = result.fell_back;
  values["note"] = result.note;
  values["moved"] = result.moved;
  values["load"] = result.load ? py::object(load_dict(*result.load)) : py::none();
  return values;
}

py::dict evaluate_cores(const CommGraph& graph, const Topology& topology, const ArrayOf<std::uint32_t>& cores,
                        std::uint64_t threads) {
  const auto given = span_of(cores);
  struct Evaluation {
    Metrics metrics;
    std::optional<double> predicted;
  };
  const Evaluation evaluation = without_gil([&]() -> Result<Evaluation> {
    const ThreadLimit limit(threads);
    auto placed = bridge::placement(given, graph, topology);
    if (!placed) return propagate(placed);
    Evaluation measured{measure(graph, topology, *placed), std::nullopt};
    // A machine without links, such as a distance matrix, has no prediction.
    if (auto platform = Platform::of(topology)) measured.predicted = predict(graph, *platform, *placed).seconds;
    return measured;
  });
  const Metrics& metrics = evaluation.metrics;
  py::dict costs;
  for (const auto& [model, value] : metrics.costs) costs[py::str(info(model).name)] = value;
  py::list levels, links;
  for (const LevelTraffic& level : metrics.levels)
    levels.append(
        py::dict(py::arg("level") = level.level, py::arg("bytes") = level.bytes, py::arg("messages") = level.messages));
  for (const LinkLoad& link : metrics.heaviest_links)
    links.append(py::dict(py::arg("from") = link.from, py::arg("to") = link.to, py::arg("bytes") = link.bytes));
  py::dict dict;
  dict["costs"] = costs;
  dict["levels"] = levels;
  dict["links"] = links;
  dict["average_hops"] = metrics.average_hops;
  dict["nodes_used"] = metrics.nodes_used;
  dict["cores_used"] = metrics.cores_used;
  dict["max_ranks_per_core"] = metrics.max_ranks_per_core;
  dict["load_imbalance"] = metrics.load_imbalance;
  dict["load"] = load_dict(metrics.load);
  dict["predicted_seconds"] = evaluation.predicted;
  return dict;
}

void check_core(const Topology& topology, std::uint64_t core) {
  if (core < topology.core_count()) return;
  throw ErrorException{{Code::bad_input, at("core"), "the machine has no core " + std::to_string(core),
                        "cores are 0 to " + std::to_string(topology.core_count() - 1)}};
}

/// The inverse bandwidth between all pairs of these cores.
py::array_t<double> distances(const Topology& topology, const ArrayOf<std::uint32_t>& cores) {
  const auto requested = span_of(cores);
  for (const std::uint32_t core : requested) check_core(topology, core);
  const auto count = static_cast<py::ssize_t>(requested.size());
  py::array_t<double> table({count, count});
  double* out = table.mutable_data();
  for (const std::uint32_t p : requested) {
    for (const std::uint32_t q : requested) *out++ = topology.cost(Core{p}, Core{q}).inverse_bandwidth;
  }
  return table;
}

py::dict job_dict(const bridge::JobTable& jobs, std::uint64_t job) {
  const Allocation& allocation = *or_throw(jobs.find(job));
  py::list names;
  for (const Node node : allocation.nodes) names.append(jobs.machine().topology().node_name(node));
  return py::dict(py::arg("id") = job, py::arg("nodes") = numbers(std::span<const Node>(allocation.nodes)),
                  py::arg("names") = names, py::arg("reserved") = numbers(std::span<const Node>(allocation.reserved)),
                  py::arg("diameter") = allocation.diameter, py::arg("isolated") = allocation.isolated);
}

/// A registry as a list of dictionaries.
template <class Row>
py::list table_of(std::span<const Row> rows) {
  py::list list;
  for (const Row& row : rows)
    list.append(
        py::dict(py::arg("name") = row.name, py::arg("summary") = row.summary, py::arg("reference") = row.reference));
  return list;
}

void describe_graph(py::module_& module) {
  py::class_<CommGraph>(module, "Graph")
      .def_static("load",
                  [](const std::string& profile, const std::string& format, const std::string& collectives) {
                    auto traffic = without_gil([&] { return bridge::load_traffic(profile, format, collectives); });
                    return std::pair(std::move(traffic.graph), std::move(traffic.topology));
                  })
      .def_static("from_edges",
                  [](std::uint32_t ranks, const ArrayOf<std::uint32_t>& from, const ArrayOf<std::uint32_t>& to,
                     const ArrayOf<double>& bytes, const std::optional<ArrayOf<double>>& messages,
                     const std::optional<ArrayOf<double>>& loads, bool undirected) {
                    const bridge::Edges edges{.from = span_of(from),
                                              .to = span_of(to),
                                              .bytes = span_of(bytes),
                                              .messages = span_of(messages),
                                              .loads = span_of(loads),
                                              .undirected = undirected};
                    return without_gil([&] { return bridge::build_graph(ranks, edges); });
                  })
      .def_property_readonly("ranks", &CommGraph::rank_count)
      .def_property_readonly("edges", &CommGraph::edge_count)
      .def_property_readonly("undirected", &CommGraph::undirected)
      .def_property_readonly("total_bytes", &CommGraph::total_bytes)
      .def_property_readonly("total_messages", &CommGraph::total_messages)
      .def_property_readonly("offsets",
                             [](const py::object& self) {
                               const auto& rows = self.cast<const CommGraph&>().rows();
                               return view<std::uint64_t>(rows.offsets.data(), rows.offsets.size(), self);
                             })
      .def_property_readonly("targets",
                             [](const py::object& self) {
                               const auto& rows = self.cast<const CommGraph&>().rows();
                               return view<std::uint32_t>(rows.targets.data(), rows.targets.size(), self);
                             })
      .def_property_readonly("bytes",
                             [](const py::object& self) {
                               const auto& rows = self.cast<const CommGraph&>().rows();
                               return view<double>(rows.bytes.data(), rows.bytes.size(), self);
                             })
      .def_property_readonly("messages",
                             [](const py::object& self) -> py::object {
                               const auto& graph = self.cast<const CommGraph&>();
                               if (!graph.has_messages()) return py::none();
                               const auto& messages = graph.rows().messages;
                               return view<double>(messages.data(), messages.size(), self);
                             })
      .def_property_readonly("loads", [](const py::object& self) -> py::object {
        const auto loads = self.cast<const CommGraph&>().loads();
        if (loads.empty()) return py::none();
        return view<double>(loads.data(), loads.size(), self);
      });
}

void describe_topology(py::module_& module) {
  py::class_<Topology>(module, "Topology")
      .def(py::init([](const std::string& text) { return without_gil([&] { return load_topology(text); }); }))
      .def_static("from_matrix",
                  [](std::uint32_t size, const ArrayOf<double>& distances) {
                    const auto given = span_of(distances);
                    return or_throw(Topology::from_matrix(size, {given.begin(), given.end()}));
                  })
      .def_property_readonly("cores", &Topology::core_count)
      .def_property_readonly("nodes", &Topology::node_count)
      .def_property_readonly("is_matrix", &Topology::is_matrix)
      .def_property_readonly("levels",
                             [](const Topology& topology) {
                               py::list levels;
                               for (const Topology::Level& level : topology.levels())
                                 levels.append(py::make_tuple(level.kind, level.objects));
                               return levels;
                             })
      .def_property_readonly("node_names",
                             [](const Topology& topology) {
                               py::list names;
                               for (const Node node : topology.nodes()) names.append(topology.node_name(node));
                               return names;
                             })
      .def_property_readonly("node_of",
                             [](const Topology& topology) {
                               std::vector<Node> nodes;
                               for (const Core core : topology.cores()) nodes.push_back(topology.node_of(core));
                               return numbers(std::span<const Node>(nodes));
                             })
      .def("distances", &distances)
      .def("to_json", [](const Topology& topology) { return write_machine_json(topology.spec()); });
}

void describe_allocator(py::module_& module) {
  py::class_<bridge::Proposal>(module, "Proposal")
      .def_property_readonly("nodes",
                             [](const py::object& self) {
                               const auto& nodes = self.cast<const bridge::Proposal&>().nodes;
                               return view<std::uint32_t>(nodes.data(), nodes.size(), self);
                             })
      .def_property_readonly("cores",
                             [](const py::object& self) {
                               const auto& cores = self.cast<const bridge::Proposal&>().cores;
                               return view<std::uint32_t>(cores.data(), cores.size(), self);
                             })
      .def_readonly("reason", &bridge::Proposal::reason)
      .def_readonly("seconds", &bridge::Proposal::seconds)
      .def_readonly("seconds_default", &bridge::Proposal::seconds_default);
  py::class_<bridge::JobTable>(module, "Allocator")
      .def(py::init([](const Topology& topology, const std::string& policy, const std::string& exclusive) {
        return or_throw(bridge::JobTable::of(topology, policy, exclusive));
      }))
      .def("request", [](bridge::JobTable& jobs, std::uint64_t nodes, const std::string& policy,
                         const std::string& fallback) { return or_throw(jobs.request(nodes, policy, fallback)); })
      .def("propose",
           [](const bridge::JobTable& jobs, const CommGraph& graph, std::uint64_t nodes, const std::string& prefer,
              double communication, double limit_ms) {
             const Occupancy occupancy = jobs.occupancy();  // other threads may change the jobs meanwhile
             const auto planner = jobs.planner();
             const Allocator allocator = jobs.allocator();
             const bridge::ProposalRequest request{
                 .nodes = nodes, .prefer = prefer, .communication = communication, .limit_ms = limit_ms};
             return without_gil([&] { return planner->propose(allocator, occupancy, graph, request); });
           })
      .def("commit",
           [](bridge::JobTable& jobs, const bridge::Proposal& proposal) { return or_throw(jobs.commit(proposal)); })
      .def("release", [](bridge::JobTable& jobs, std::uint64_t job) { or_throw(jobs.release(job)); })
      .def("job", &job_dict)
      .def("jobs",
           [](const bridge::JobTable& jobs) {
             std::vector<std::uint64_t> numbers;
             for (const auto& [job, unused] : jobs.jobs()) numbers.push_back(job);
             return numbers;
           })
      .def("drain", [](bridge::JobTable& jobs, std::uint64_t node, bool failed) { or_throw(jobs.drain(node, failed)); })
      .def("resume", [](bridge::JobTable& jobs, std::uint64_t node) { or_throw(jobs.resume(node)); })
      .def_property_readonly("free_nodes", &bridge::JobTable::free_nodes)
      .def_property_readonly("nodes", [](const bridge::JobTable& jobs) { return jobs.machine().node_count(); })
      .def_property_readonly("policy", &bridge::JobTable::policy)
      .def_property_readonly("exclusive",
                             [](const bridge::JobTable& jobs) { return name_of(jobs.machine().exclusive()); })
      .def_property_readonly("cores_per_node",
                             [](const bridge::JobTable& jobs) { return jobs.machine().cores_per_node(); });
}

}  // namespace

PYBIND11_MODULE(_rankloom, module) {
  py::register_exception_translator(
      [](std::exception_ptr thrown) {  // NOLINT(performance-unnecessary-value-param): pybind11 prescribes the type
        try {
          if (thrown) std::rethrow_exception(thrown);
        } catch (const ErrorException& exception) {
          const Error& error = exception.error;
          const py::object type = py::module_::import("rankloom._error").attr("Error");
          std::string where = error.where.source;
          if (error.where.line > 0) where += ":" + std::to_string(error.where.line);
          PyErr_SetObject(type.ptr(), type(error.what, where, error.hint, static_cast<int>(error.code)).ptr());
        }
      });
  module.attr("__version__") = RANKLOOM_VERSION;
  describe_graph(module);
  describe_topology(module);
  describe_allocator(module);
  module.def("map", &map_graph);
  module.def("evaluate", &evaluate_cores);
  module.def("mappers", [] { return table_of(mappers()); });
  module.def("policies", [] { return table_of(policies()); });
  module.def("cost_models", [] { return table_of(cost_models()); });
  module.def("formats", [] { return table_of(formats()); });
  module.def("patterns", [] { return table_of(generators()); });
}
