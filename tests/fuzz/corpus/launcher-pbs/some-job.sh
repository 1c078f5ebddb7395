#!/bin/sh
cd "$PBS_O_WORKDIR" &&
exec mpiexec -n 8 -machinefile "$PBS_NODEFILE" rankloom-bind /home/user/w/l_pbs/bind.txt ./app
