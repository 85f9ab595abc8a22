/* SPDX-License-Identifier: Apache-2.0 */
/* A planted race: in a build with ThreadSanitizer this program must fail, or the sanitizer sees
 * nothing. */
#include <pthread.h>
#include <stdio.h>

static int shared;
static pthread_barrier_t begin;

static void *add(void *unused)
{
    (void)unused;
    (void)pthread_barrier_wait(&begin); /* of a thread that ended the sanitizer may know no more */
    for (int i = 0; i < 100000; i++)
        shared++;
    return NULL;
}

int main(void)
{
    pthread_t other;
    if (pthread_barrier_init(&begin, NULL, 2) != 0 || pthread_create(&other, NULL, add, NULL) != 0)
        return 0;
    add(NULL);
    (void)pthread_join(other, NULL);
    printf("%d\n", shared);
    return 0;
}
