/* SPDX-License-Identifier: Apache-2.0
 * bench: wrappers that do nothing: what any library costs that hears the calls of MPI. Arguments are words, for every MPI. */
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
