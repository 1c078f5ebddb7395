#!/bin/sh
cd "$PBS_O_WORKDIR" &&
exec mpiexec -n 8 -machinefile "$PBS_NODEFILE" rankloom-bind /tmp/t/fuzzseed/w/l_pbs/bind.txt ./app
