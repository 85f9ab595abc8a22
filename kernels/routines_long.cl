/* SPDX-License-Identifier: Apache-2.0 */
/* Routines of int64, and of keys that order float64; after kernels/routines.cl. */
#define TARN_ROUTINE_LONG
TARN_SORT_FUNCTIONS(tarn_sort_runs_long, tarn_merge_runs_long, long)
TARN_PICK_FUNCTION(long)
TARN_WRAPPING_CUMSUM_FUNCTION(long)
