#!/bin/sh
cd "$PBS_O_WORKDIR" &&
exec mpiexec -n 16 -machinefile "$PBS_NODEFILE" rankloom-bind /home/user/w/f_pbs/bind.txt ./app
