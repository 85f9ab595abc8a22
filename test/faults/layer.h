/* SPDX-License-Identifier: Apache-2.0 */
/* The layer of faults, and the shim of faults, seen from a program that runs under one of them. */
#ifndef TEST_FAULTS_LAYER_H
#define TEST_FAULTS_LAYER_H

/* Plans a fault as TARN_FAULT does, and counts calls from 0 again; "none" plans none. -1: bad text.
 * Under the shim: not while other threads of Tarn run. */
typedef int fault_plan_function(const char *text);
fault_plan_function fault_plan;
/* How many calls the plan's function had since. */
typedef long fault_calls_function(void);
fault_calls_function fault_calls;

#endif
