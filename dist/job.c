/* SPDX-License-Identifier: Apache-2.0 */
/* Who started this process, and the plug-in that joins it to the others. MPI is started under a launcher only:
 * alone it costs half a second, and would make one job of many of what was meant to be one. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "env.h"
#include "job.h"
#include "near.h"

/* ---- the launcher --------------------------------------------------------------------------- */

/* A number in a variable of the launcher; -1 for none. */
static int number(const char *name)
{
    const char *text = env_system(name);
    char *end;
    const long value = strtol(text, &end, 10);
    return *text != '\0' && *end == '\0' && value >= 0 && value < 1 << 20 ? (int)value : -1;
}

static int first_of(int a, int b)
{
    return a >= 0 ? a : b;
}

static tarn_status refuse_unjoined(void)
{
    const int tasks = number("SLURM_NTASKS");
    if (number("SLURM_STEP_ID") >= 0 && number("SLURM_PROCID") >= 0 && tasks > 1)
        return error_set(TARN_ERR_ARGUMENT,
                         "launch: srun started %d processes without joining them: use srun "
                         "--mpi=pmix ./program, or TARN_LINK=off to train alone in each",
                         tasks);
    const int world = number("WORLD_SIZE");
    if (world > 1 || *env_system("MASTER_ADDR") != '\0')
        return error_set(TARN_ERR_ARGUMENT,
                         "launch: %s is set, but Tarn's launcher is MPI's: use mpirun -np %d "
                         "./program, or TARN_LINK=off to train alone",
                         world > 1 ? "WORLD_SIZE" : "MASTER_ADDR", world > 1 ? world : 2);
    return TARN_OK;
}

tarn_status job_find(struct job *out)
{
    *out = (struct job){ .nodes = 1 };
    if (strcmp(env_text(ENV_LINK), "off") == 0)
        return TARN_OK;
    const int slurm = number("SLURM_LOCALID");
    if (number("OMPI_COMM_WORLD_SIZE") > 0)
        *out = (struct job){ .node = number("OMPI_COMM_WORLD_RANK"),
                             .nodes = number("OMPI_COMM_WORLD_SIZE"),
                             .seat = number("OMPI_COMM_WORLD_LOCAL_RANK"),
                             .engine = "openmpi" };
    else if (number("PMIX_RANK") >= 0)
        *out = (struct job){ .node = number("PMIX_RANK"),
                             .nodes = first_of(number("SLURM_NTASKS"), number("PMIX_SIZE")),
                             .seat = first_of(slurm, number("PMIX_LOCAL_RANK")),
                             .engine = "openmpi" };
    else if (number("PMI_SIZE") > 0)
        *out = (struct job){ .node = number("PMI_RANK"),
                             .nodes = number("PMI_SIZE"),
                             .seat = first_of(number("MPI_LOCALRANKID"), slurm),
                             .engine = "mpich" };
    else
        return refuse_unjoined();
    out->seat = out->seat < 0 ? 0 : out->seat;
    if (out->node >= 0 && out->nodes > out->node)
        return TARN_OK;
    return error_set(TARN_ERR_ARGUMENT,
                     "launch: the launcher says that this is process %d of %d; use mpirun -np N "
                     "./program",
                     out->node, out->nodes);
}

/* ---- the plug-in ---------------------------------------------------------------------------- */

static tarn_status open_plug(const struct job *job, link_open_fn *out)
{
    const char *named = env_text(ENV_LINK);
    const char *engine = *named != '\0' ? named : job->engine;
    char tried[4300];
    char name[128];
    snprintf(tried, sizeof tried, "%s", engine);
    snprintf(name, sizeof name, "tarn-link-%s.so", engine);
    const bool named_by_path = strchr(engine, '/') != NULL;
    void *plug = named_by_path || near_find(name, tried, sizeof tried)
                     ? dlopen(tried, RTLD_NOW | RTLD_LOCAL)
                     : NULL;
    if (plug == NULL) {
        const char *why = dlerror();
        return error_set(TARN_ERR_DEVICE,
                         "launch: this is process %d of %d, which needs the plug-in %s: %s; build "
                         "Tarn where %s's development files are installed, or name the file in "
                         "TARN_LINK",
                         job->node, job->nodes, tried, why != NULL ? why : "there is none",
                         strcmp(job->engine, "mpich") == 0 ? "MPICH" : "Open MPI");
    }
    void *symbol = dlsym(plug, "tarn_link_open");
    if (symbol == NULL)
        return error_set(TARN_ERR_DEVICE, "launch: %s is no plug-in of Tarn's", tried);
    memcpy(out, &symbol, sizeof *out); /* ISO C has no conversion to a function */
    return TARN_OK;
}

/* ---- joining, once -------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct porter *joined;

static void leave(void)
{
    porter_free(joined);
}

static tarn_status join(const struct job *job)
{
    link_open_fn open;
    TRY(open_plug(job, &open));
    struct porter *p;
    TRY(porter_new(open, &p));
    const struct link *link = porter_link(p);
    if (link->nodes != job->nodes || link->node != job->node) {
        const tarn_status status = error_set(
            TARN_ERR_ARGUMENT,
            "launch: the launcher started %d processes, but %s joined %d of them: the launcher is "
            "another MPI's; use that one's mpirun, or TARN_LINK=%s",
            job->nodes, link->engine, link->nodes,
            strcmp(job->engine, "mpich") == 0 ? "mpich" : "openmpi");
        return status;
    }
    if (atexit(leave) != 0)
        return error_set(TARN_ERR_MEMORY, "launch: out of host memory");
    joined = p;
    return TARN_OK;
}

tarn_status job_join(struct porter **out)
{
    struct job job;
    *out = NULL;
    TRY(job_find(&job));
    if (job.nodes == 1)
        return TARN_OK;
    pthread_mutex_lock(&lock);
    const tarn_status status = joined != NULL ? TARN_OK : join(&job);
    *out = joined;
    pthread_mutex_unlock(&lock);
    TRY(status);
    if (porter_is_broken(*out))
        return error_set(TARN_ERR_STATE,
                         "launch: an earlier launch of this process has failed, and its link to "
                         "other nodes with it: start the job again");
    return TARN_OK;
}

/* ---- questions ------------------------------------------------------------------------------ */

static struct job found(void)
{
    struct job job;
    return job_find(&job) == TARN_OK ? job : (struct job){ .nodes = 1 };
}

int tarn_node(void)
{
    return found().node;
}

int tarn_node_count(void)
{
    return found().nodes;
}

int tarn_local_rank(void)
{
    return found().seat;
}

int tarn_exit_code(tarn_status status)
{
    enum { TRY_AGAIN = 75 }; /* EX_TEMPFAIL of sysexits.h */
    const bool again =
        status == TARN_ERR_STALLED || status == TARN_ERR_REPLICA || status == TARN_ERR_TIMEOUT;
    return status == TARN_OK ? 0 : again ? TRY_AGAIN : 1;
}
