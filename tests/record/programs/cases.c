/* SPDX-License-Identifier: Apache-2.0
 * Runs the cases of the other files: cases [threads] [NAME…], or cases [threads] end NAME for a way to end. See
 * cases.h. */
#define _GNU_SOURCE
#include "cases_collectives.h"
#include "cases_messages.h"
#include "cases_objects.h"
#include "cases_process.h"

#define CASE(name) \
  { #name, name }
static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {CASE(with_send),
             CASE(with_ssend),
             CASE(with_rsend),
             CASE(with_bsend),
             CASE(with_isend),
             CASE(with_issend),
             CASE(with_irsend),
             CASE(with_ibsend),
             CASE(with_sendrecv),
             CASE(with_sendrecv_replace),
             CASE(empty_without_a_buffer),
             CASE(to_nobody),
             CASE(to_itself),
             CASE(from_anybody),
             CASE(with_probe),
             CASE(with_matched_probe),
             CASE(matched_message_from_nobody),
             CASE(cancelled_receive),
             CASE(null_requests),
             CASE(some_requests),
             CASE(persistent_requests),
             CASE(persistent_requests_that_are_never_started),
             CASE(request_freed_while_active),
             CASE(derived_datatypes),
             CASE(absolute_addresses),
             CASE(datatype_freed_during_a_send),
             CASE(datatypes_of_size_zero),
             CASE(resized_and_duplicated_datatypes),
             CASE(packed),
             CASE(pairs_of_a_value_and_an_index),
             CASE(largest_tag),
             CASE(alternating_sends),
             CASE(long_messages),
             CASE(invalid_rank),
             CASE(invalid_datatypes),
             CASE(negative_counts_and_roots),
             CASE(error_handler_of_the_program),
             CASE(truncated_message),
             CASE(barriers),
             CASE(broadcasts),
             CASE(in_place),
             CASE(alltoallv_in_place),
             CASE(uneven_collectives),
             CASE(empty_blocks_with_any_datatype),
             CASE(nonblocking_collectives),
             CASE(operation_of_the_program),
             CASE(bystanders_of_bcast),
             CASE(bystanders_of_reduce),
             CASE(bystanders_of_gather_and_scatter),
             CASE(bystanders_of_gatherv_and_scatterv),
             CASE(bystanders_of_nonblocking_collectives),
             CASE(reduce_scatter_between_groups),
             CASE(collectives_between_groups),
             CASE(communicators_in_turn),
             CASE(communicators_of_every_kind),
             CASE(attributes_of_the_program),
             CASE(merged_groups),
             CASE(neighbours_at_the_border),
             CASE(ranks_without_neighbours),
             CASE(one_sided_with_fences),
             CASE(one_sided_with_locks),
             CASE(one_sided_with_post_and_start),
             CASE(windows_of_every_kind),
#if MPI_VERSION >= 4
             CASE(with_isendrecv),
             CASE(large_counts),
             CASE(partitioned),
             CASE(persistent_collectives),
             CASE(large_counts_in_collectives),
#endif
             CASE(rare_basic_datatypes),
             CASE(subarrays_and_distributed_arrays),
             CASE(indexed_datatypes_of_datatypes),
             CASE(largest_count_of_nothing),
             CASE(packed_for_other_machines),
             CASE(persistent_sends_of_every_mode),
             CASE(request_looked_at_before_it_is_completed),
             CASE(requests_of_the_program),
             CASE(messages_in_callbacks),
             CASE(communicators_by_the_hundred),
             CASE(rows_and_columns_of_a_grid),
             CASE(collectives_of_one_rank),
             CASE(datatypes_for_each_rank),
             CASE(one_file_of_all_ranks),
             CASE(the_tool_interface),
             CASE(records_that_grow),
             CASE(interrupted_by_signals),
             CASE(children_that_exit),
             CASE(other_working_directory),
             CASE(foreign_descriptors_closed),
             CASE(strange_umask),
             CASE(levels_of_pcontrol),
             CASE(names_of_communicators),
             CASE(threads_with_small_stacks),
             CASE(every_signal_blocked),
             CASE(floating_point_traps),
             CASE(rounding_downwards),
             CASE(no_more_descriptors),
             CASE(another_user),
             CASE(bound_by_itself),
             CASE(other_programs),
             CASE(threads_that_do_not_return),
             CASE(environment_cleared),
             CASE(limited_file_size)};
enum { case_count = sizeof cases / sizeof cases[0] };

static const struct {
  const char* name;
  int (*run)(void);
} endings[] = {
    CASE(finalize_in_an_exit_handler), CASE(exit_after_finalize),       CASE(exec_after_finalize),
    CASE(fork_after_finalize),         CASE(late_finalize_of_one_rank), CASE(pending_requests_at_the_end),
    CASE(messages_in_finalize),        CASE(quick_exit_after_finalize), CASE(exit_of_a_thread_after_finalize),
    CASE(abort_in_a_signal_handler),   CASE(abort_in_an_error_handler), CASE(exit_in_a_signal_handler),
    CASE(exit_while_a_thread_waits)};

static void write_expected(void) {
  char name[40];
  snprintf(name, sizeof name, "expected.%d", rank);
  FILE* const file = fopen(name, "w");
  for (int i = 0; i < case_count; ++i) {
    for (int to = 0; to < size; ++to) {
      if (sent[i][to].messages > 0)
        fprintf(file, "%s %d sent %d %lld %lld\n", cases[i].name, 1000 + i, to, sent[i][to].bytes,
                sent[i][to].messages);
      if (paired[i][to].messages > 0)
        fprintf(file, "%s %d pair %d %lld %lld\n", cases[i].name, 1000 + i, to, paired[i][to].bytes,
                paired[i][to].messages);
    }
  }
  fclose(file);
}

static void run(int number) {
  current_case = number;
  sum = 14695981039346656037u;
  memset(in, 0, sizeof in);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(1000 + number);
  cases[number].run();
  MPI_Pcontrol(1);
  char line[200];
  const int length =
      snprintf(line, sizeof line, "%s: rank %d: %016llx\n", cases[number].name, rank, (unsigned long long)sum);
  if (write(1, line, (size_t)length) != length) abort();
}

static int is_requested(int argc, char** argv, int first, const char* name) {
  for (int i = first; i < argc; ++i)
    if (strcmp(argv[i], name) == 0) return 1;
  return first == argc;
}

int main(int argc, char** argv) {
  const int threaded = argc > 1 && strcmp(argv[1], "threads") == 0;
  int provided, first = 1 + threaded;
  if (argc > 1 && strcmp(argv[1], "list") == 0) {
    for (int i = 0; i < case_count; ++i) puts(cases[i].name);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; ++i) printf("end %s\n", endings[i].name);
    return 0;
  }
  MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED, &provided);
  fill();
  if (first + 1 < argc && strcmp(argv[first], "end") == 0) {
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; ++i) {
      if (strcmp(endings[i].name, argv[first + 1]) != 0) continue;
      MPI_Sendrecv(out, 100, MPI_BYTE, next(), 0, in, 100, MPI_BYTE, before(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      say();
      MPI_Barrier(MPI_COMM_WORLD);
      return endings[i].run();
    }
    return 1;
  }
  if (first + 1 == argc) phases_of_a_case = 900;
  for (int i = 0; i < case_count; ++i)
    if (is_requested(argc, argv, first, cases[i].name)) run(i);
  write_expected();
  MPI_Finalize();
  return 0;
}
