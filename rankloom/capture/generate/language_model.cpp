// SPDX-License-Identifier: Apache-2.0
// capture/generate: the pattern of one training step of a transformer. training/ derives it from the description of the
// training job.
#include "rankloom/capture/generate/families.hpp"
#include "rankloom/capture/generate/training/training_step.hpp"

namespace rankloom {

namespace {

class LanguageModel : public Generator {
 public:
  LanguageModel() : job_(&own_job_) {}
  explicit LanguageModel(TrainingJob& job) : job_(&job) {}

  void describe(OptionList& options) override { rankloom::describe(*job_, options); }

  Result<Profile> generate(std::uint64_t) const override {
    auto job = resolve(*job_);
    if (!job) return propagate(job);
    auto step = make_training_step(*job);
    if (!step) return propagate(step);
    return std::move(step->profile);
  }

 private:
  TrainingJob own_job_;
  TrainingJob* job_;
};

}  // namespace

std::unique_ptr<Generator> make_llm() {
  return std::make_unique<LanguageModel>();
}

std::unique_ptr<Generator> make_training_generator(TrainingJob& job) {
  return std::make_unique<LanguageModel>(job);
}

}  // namespace rankloom
