/* SPDX-License-Identifier: Apache-2.0 */
/* uthash, which ends a process without memory unless it is told not to. What could not be added has
 * hh.tbl == NULL: whoever adds looks. */
#ifndef TARN_HASH_TABLE_H
#define TARN_HASH_TABLE_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#endif
