/* SPDX-License-Identifier: Apache-2.0 */
/* Routines of float64, after kernels/routines.cl and kernels/double.cl. Programs with such values run one work-item an
 * element, so there are none by rows. */
#define TARN_ROUTINE_DOUBLE
TARN_SEGMENT_FUNCTION(tarn_segment_double, double, double, 1, 1, TARN_LOAD_ONE)
TARN_ADD_ELEMENTS_FUNCTION(tarn_add_elements_double, tarn_segment_double, double)
TARN_PICK_FUNCTION(double)
TARN_MOST_FUNCTION(tarn_most_double, double)
TARN_CUMSUM_FUNCTION(double)
