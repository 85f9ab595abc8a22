/* SPDX-License-Identifier: Apache-2.0 */
/* What launchers say, by their variables, and what is refused; and that a launch of one node opens no link. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "job.h"
#include "tarn_dist.h"

static const char *const variables[] = { "OMPI_COMM_WORLD_RANK",
                                         "OMPI_COMM_WORLD_SIZE",
                                         "OMPI_COMM_WORLD_LOCAL_RANK",
                                         "PMIX_RANK",
                                         "PMIX_SIZE",
                                         "PMIX_LOCAL_RANK",
                                         "PMI_RANK",
                                         "PMI_SIZE",
                                         "MPI_LOCALRANKID",
                                         "SLURM_NTASKS",
                                         "SLURM_LOCALID",
                                         "SLURM_STEP_ID",
                                         "SLURM_PROCID",
                                         "WORLD_SIZE",
                                         "MASTER_ADDR",
                                         "TARN_LINK" };

/* "NAME=VALUE NAME=VALUE ..." and nothing else. */
static void set(const char *text)
{
    char copy[400], *rest = copy;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        setenv(word, value, 1);
    }
}

static void expect(const char *text, int node, int nodes, int seat, const char *engine)
{
    struct job job;
    set(text);
    CHECK(job_find(&job) == TARN_OK);
    CHECK(job.node == node && job.nodes == nodes && job.seat == seat);
    CHECK(engine == NULL ? job.engine == NULL : strcmp(job.engine, engine) == 0);
    CHECK(tarn_node() == node && tarn_node_count() == nodes && tarn_local_rank() == seat);
}

static void expect_refused(const char *text, const char *hint)
{
    struct job job;
    set(text);
    CHECK(job_find(&job) == TARN_ERR_ARGUMENT);
    CHECK(strstr(error_text(), hint) != NULL);
    CHECK(tarn_node() == 0 && tarn_node_count() == 1 && tarn_local_rank() == 0);
}

static tarn_status ask_world(tarn_replica *r, void *world)
{
    *(int *)world = tarn_world_size(r);
    return TARN_OK;
}

/* Two processes, so a launcher says; but this one is to train alone, or there is no plug-in. */
static void check_launch(void)
{
    int world = 0;
    const tarn_launch_options alone = { .devices = "0", .nodes = -1 }, both = { .devices = "0" };
    set("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2");
    CHECK(tarn_launch(ask_world, &world, alone) == TARN_OK);
    CHECK(world == 1);
    setenv("TARN_LINK", "/nowhere/plug.so", 1);
    CHECK(tarn_launch(ask_world, &world, both) == TARN_ERR_DEVICE);
    CHECK(strstr(tarn_error(NULL), "/nowhere/plug.so") != NULL);
    setenv("TARN_LINK", "off", 1);
    world = 0;
    CHECK(tarn_launch(ask_world, &world, both) == TARN_OK);
    CHECK(world == 1);
    set("MASTER_ADDR=h0");
    CHECK(tarn_launch(ask_world, &world, both) == TARN_ERR_ARGUMENT);
}

int main(void)
{
    expect("", 0, 1, 0, NULL);
    expect("OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 PMIX_RANK=3",
           3, 4, 1, "openmpi");
    expect("PMIX_RANK=1 SLURM_NTASKS=2 SLURM_LOCALID=0 SLURM_STEP_ID=0 SLURM_PROCID=1", 1, 2, 0,
           "openmpi");
    expect("PMI_RANK=5 PMI_SIZE=8 MPI_LOCALRANKID=2", 5, 8, 2, "mpich");
    expect("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1", 0, 1, 0, "openmpi");
    expect("OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 TARN_LINK=off", 0, 1, 0, NULL);
    /* A script of a batch job, and one task. */
    expect("SLURM_NTASKS=4", 0, 1, 0, NULL);
    expect("SLURM_NTASKS=1 SLURM_STEP_ID=0 SLURM_PROCID=0", 0, 1, 0, NULL);
    expect("WORLD_SIZE=1", 0, 1, 0, NULL);
    expect_refused("SLURM_NTASKS=4 SLURM_STEP_ID=0 SLURM_PROCID=2", "srun --mpi=pmix");
    expect_refused("WORLD_SIZE=4", "mpirun -np 4");
    expect_refused("MASTER_ADDR=h0 WORLD_SIZE=2 RANK=1", "mpirun -np 2");
    expect_refused("MASTER_ADDR=h0", "MASTER_ADDR");
    expect_refused("OMPI_COMM_WORLD_SIZE=4", "process -1 of 4");
    check_launch();
    CHECK(tarn_exit_code(TARN_OK) == 0);
    CHECK(tarn_exit_code(TARN_ERR_STALLED) == 75);
    CHECK(tarn_exit_code(TARN_ERR_REPLICA) == 75);
    CHECK(tarn_exit_code(TARN_ERR_NOT_FINITE) == 1);
    return failures != 0;
}
