/* SPDX-License-Identifier: Apache-2.0
 * bench/recording: PMPI wrappers that do nothing: the minimal cost of a library that intercepts MPI calls. The arguments
 * are machine words, so that the wrappers work with every MPI implementation. */
typedef unsigned long Word;
int PMPI_Send(Word, Word, Word, Word, Word, Word);
int PMPI_Recv(Word, Word, Word, Word, Word, Word, Word);

int MPI_Send(Word buffer, Word count, Word type, Word to, Word tag, Word comm) {
  const int outcome = PMPI_Send(buffer, count, type, to, tag, comm);
  __asm__ volatile("");
  return outcome;
}

int MPI_Recv(Word buffer, Word count, Word type, Word from, Word tag, Word comm, Word status) {
  const int outcome = PMPI_Recv(buffer, count, type, from, tag, comm, status);
  __asm__ volatile("");
  return outcome;
}
