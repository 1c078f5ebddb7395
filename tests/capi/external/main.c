/* SPDX-License-Identifier: Apache-2.0
 * A program outside of the project: maps a pattern and prints the gain. */
#include <rankloom.h>
#include <stdio.h>

int main(void) {
  rankloom_graph* graph = NULL;
  rankloom_topology* topology = NULL;
  rankloom_mapping* mapping = NULL;
  rankloom_map_result result = {sizeof(result), 0, 0, 0, 0, 0, 0};
  if (rankloom_graph_load("gen:groups:groups=4,per-group=4", NULL, NULL, &graph) != RANKLOOM_OK ||
      rankloom_topology_load("node:4=10 core:4=1", &topology) != RANKLOOM_OK ||
      rankloom_map(graph, topology, "auto", NULL, &mapping) != RANKLOOM_OK ||
      rankloom_mapping_result(mapping, &result) != RANKLOOM_OK) {
    fprintf(stderr, "%s: %s (%s)\n", rankloom_error_where(), rankloom_error(), rankloom_error_hint());
    return 1;
  }
  printf("cost %g instead of %g\n", result.cost, result.cost_default);
  rankloom_mapping_free(mapping);
  rankloom_topology_free(topology);
  rankloom_graph_free(graph);
  return 0;
}
