// SPDX-License-Identifier: Apache-2.0
// apps/verbs/slurm: `rankloom slurm profiles`: the profiles that `srun --rankloom=learn` has stored for this user.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/slurm/learned_step.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

Json to_json(const LearnedProfile& profile) {
  return {{"job", profile.run.job}, {"program", profile.run.program}, {"ranks", profile.run.ranks},
          {"bytes", profile.bytes}, {"since", profile.since},         {"file", profile.file}};
}

class SlurmProfiles : public Verb {
 public:
  void describe(CLI::App& app) override {
    list_ = &add_command(app, "list", "list the profiles, those that were used last at the beginning");
    remove_ = &add_command(app, "remove", "remove the profiles of jobs, so that their next runs are recorded again");
    add_repeated(*remove_, {"JOB", "NAME", "the names of the jobs", "input"}, jobs_);
    add_switch(*remove_, "--all", "remove all profiles, also if the store is damaged", all_, "input");
    add_ = &add_command(app, "add", "store the profile of a recorded run; the plugin of `srun --rankloom` calls this");
    add_text(*add_, {"DIRECTORY", "DIRECTORY", "the recording of the run", "input", "", true}, recording_);
    for (CLI::App* const command : {list_, remove_, add_}) {
      add_text(*command,
               {"--config", "FILE",
                "the configuration of rankloom's Slurm plugins; by default rankloom.conf next to slurm.conf, if there "
                "is one",
                "input"},
               config_);
    }
  }

  Result<int> run(const Session& session) override {
    if (was_called(*remove_) && jobs_.empty() == !all_) {
      return fail(Code::usage, at("slurm profiles remove"), "name jobs or give --all",
                  "`rankloom slurm profiles list` shows the names");
    }
    auto store = learned_store(config_);
    if (!store) return propagate(store);
    if (was_called(*add_)) return add(*store, session);
    if (was_called(*remove_)) return remove(*store, session);
    return list(*store, session);
  }

 private:
  /// Nothing: this user has no store.
  static Result<std::optional<LearnedProfiles>> open(const LearnedStore& store) {
    std::error_code ignored;
    if (!fs::exists(store.directory, ignored)) return std::nullopt;
    auto profiles = LearnedProfiles::open(store.directory, store.limits);
    if (!profiles) return propagate(profiles);
    return std::optional(*std::move(profiles));
  }

  static Result<int> list(const LearnedStore& store, const Session& session) {
    auto profiles = open(store);
    if (!profiles) return propagate(profiles);
    std::vector<LearnedProfile> all;
    if (*profiles) {
      auto listed = (*profiles)->list();
      if (!listed) return propagate(listed);
      all = std::move(*listed);
    }
    if (session.json) {
      Json json{
          {"directory", store.directory}, {"max_profiles", store.limits.max_profiles}, {"profiles", Json::array()}};
      for (const LearnedProfile& profile : all) json["profiles"].push_back(to_json(profile));
      print_json(json);
      return success;
    }
    std::size_t width = 3;
    for (const LearnedProfile& profile : all) width = std::max(width, profile.run.job.size());
    if (!all.empty())
      print(fmt::format("{:{}}  {:>7}  {:>10}  {:20}  program\n", "job", width, "ranks", "bytes", "recorded"));
    for (const LearnedProfile& profile : all)
      print(fmt::format("{:{}}  {:>7}  {:>10}  {:20}  {}\n", profile.run.job, width, profile.run.ranks, profile.bytes,
                        profile.since, profile.run.program));
    print(fmt::format("{} in {}\n", counted(all.size(), "profile"), store.directory));
    return success;
  }

  Result<int> remove(const LearnedStore& store, const Session& session) const {
    auto profiles = open(store);
    std::size_t count = 0;
    if (!profiles) {
      if (!all_ || profiles.error().code != Code::bad_input) return propagate(profiles);
      if (auto removed = remove_learned_store(store.directory); !removed) return propagate(removed);
    } else if (*profiles) {
      for (const std::string& job : jobs_) {
        auto removed = (*profiles)->remove(job);
        if (!removed) return propagate(removed);
        if (*removed == 0) {
          return fail(Code::bad_input, at(job), "no learned profile belongs to a job of this name",
                      "`rankloom slurm profiles list` shows the names");
        }
        count += *removed;
      }
      if (all_) {
        auto removed = (*profiles)->remove(std::nullopt);
        if (!removed) return propagate(removed);
        count = *removed;
      }
    }
    if (session.json) {
      print_json(Json{{"directory", store.directory}, {"removed", count}});
    } else {
      print(profiles ? fmt::format("{} removed from {}\n", counted(count, "profile"), store.directory)
                     : fmt::format("the damaged store in {} is removed\n", store.directory));
    }
    return success;
  }

  Result<int> add(const LearnedStore& store, const Session& session) const {
    auto run = add_recording(store, recording_);
    if (!run) return propagate(run);
    if (session.json) {
      print_json(
          Json{{"directory", store.directory}, {"job", run->job}, {"program", run->program}, {"ranks", run->ranks}});
    } else {
      print(fmt::format("the profile of {} with {} is stored in {}\n", run->program, counted(run->ranks, "rank"),
                        store.directory));
    }
    return success;
  }

  CLI::App *list_ = nullptr, *remove_ = nullptr, *add_ = nullptr;
  std::vector<std::string> jobs_;
  std::string config_, recording_;
  bool all_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_slurm_profiles() {
  return std::make_unique<SlurmProfiles>();
}

}  // namespace rankloom::app
