/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that were started separately, for C; see hocket/port.hpp and hocket/observer.hpp. */
#ifndef HOCKET_C_PORT_H
#define HOCKET_C_PORT_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A port, by which others find this program. `address`: host:port for other hosts, port 0: a free
 * one; `key`: path of a key file. NULL or "" of these: none. Collective. */
int hocket_port_open(const char* name, MPI_Comm comm, const char* address, const char* key,
                     bool secure, double timeout, hocket_port** port);
/* Tells observers; the name is free, and the handle stays. Collective. */
int hocket_port_close(hocket_port* port, double timeout);
int hocket_port_free(hocket_port** port);
int hocket_port_name(const hocket_port* port, const char** name);
/* host:port; if it listens on this host only, the path of its socket, which hocket_connect and
 * hocket_observer_open take, too. */
int hocket_port_address(const hocket_port* port, const char** address);
/* "": there is none. */
int hocket_port_key(const hocket_port* port, const char** key);
/* The number of polls that this process has made. */
int hocket_port_polls(const hocket_port* port, int64_t* polls);
/* Lets observers see the array from the next poll on. Collective. */
int hocket_port_publish(hocket_port* port, const char* name, const hocket_array* array,
                        double timeout);
/* A parameter that observers may change; all processes give the same value. Collective. */
int hocket_port_parameter_real(hocket_port* port, const char* name, double value, double timeout);
int hocket_port_parameter_int(hocket_port* port, const char* name, int64_t value, double timeout);
int hocket_port_parameter_text(hocket_port* port, const char* name, const char* text,
                               double timeout);
/* Its value as of the last poll. Flags are 0 and 1. */
int hocket_port_value_real(const hocket_port* port, const char* name, double* value);
int hocket_port_value_int(const hocket_port* port, const char* name, int64_t* value);
int hocket_port_value_text(const hocket_port* port, const char* name, const char** text);
/* Copies out what observers asked for, and changes parameters. All processes make as many polls.
 * At a poll that serves an observer they wait for process 0. */
int hocket_port_poll(hocket_port* port, double timeout);

/* Waits for a job that connects: task 0 is this job, task 1 the other one. Collective. */
int hocket_port_accept(hocket_port* port, double timeout, hocket_tasks** tasks);
/* Connects to a job that has a port: task 0 is that job, task 1 this one, which it calls `task`.
 * `reconnect`: seconds in which channels with kept frames connect again after a loss; 0: they
 * return HOCKET_ERR_PEER_LOST. Collective. */
int hocket_connect(const char* name, MPI_Comm comm, const char* task, const char* key, bool secure,
                   double timeout, double reconnect, hocket_tasks** tasks);
/* Leaves the jobs that have met, and frees the handle: what was sent arrives. Collective over the
 * task. */
int hocket_disconnect(hocket_tasks** tasks, double timeout);

/* A look into a program that runs elsewhere. `port`: a name on this host, or host:port with the
 * path of a key file. `timeout`: seconds of each wait; negative: 10 for the port, and no limit for
 * answers. */
int hocket_observe(const char* port, const char* key, bool secure, double timeout,
                   hocket_observer** observer);
int hocket_observer_free(hocket_observer** observer);
/* The names of all arrays, and of all parameters, with commas between. */
int hocket_observer_arrays(const hocket_observer* observer, const char** names);
int hocket_observer_parameters(const hocket_observer* observer, const char** names);
int hocket_observer_shape(const hocket_observer* observer, const char* name, int64_t capacity,
                          int64_t* values, int64_t* count);
int hocket_observer_dtype(const hocket_observer* observer, const char* name, const char** dtype);
/* Every `every`th element of lower[d] <= i < upper[d] at one poll of the program, dense and
 * row-major; no lists (0 dimensions): all of it. `bytes`: how many there is room for. */
int hocket_observer_read(hocket_observer* observer, const char* name, int64_t lower_dimensions,
                         const int64_t* lower, int64_t upper_dimensions, const int64_t* upper,
                         int64_t every_dimensions, const int64_t* every, int64_t bytes, void* data);
int hocket_observer_value_real(const hocket_observer* observer, const char* name, double* value);
int hocket_observer_value_int(const hocket_observer* observer, const char* name, int64_t* value);
int hocket_observer_value_text(const hocket_observer* observer, const char* name,
                               const char** text);
/* Returns once all processes of the program have the value. */
int hocket_observer_set_real(hocket_observer* observer, const char* name, double value);
int hocket_observer_set_int(hocket_observer* observer, const char* name, int64_t value);
int hocket_observer_set_text(hocket_observer* observer, const char* name, const char* text);
/* The number of polls that the program had made at its last answer. */
int hocket_observer_step(const hocket_observer* observer, int64_t* polls);
/* Whether the program stores numbers with their highest byte first, unlike this process. */
int hocket_observer_swapped(const hocket_observer* observer, bool* swapped);

/* The names of this user's ports on this host, with commas between. Good until the thread asks
 * again. */
int hocket_ports(const char** names);
/* Writes the key of one right, "read", "steer" or "join", of a key file into a file of its own. */
int hocket_give_key(const char* key, const char* right, const char* path);

#ifdef __cplusplus
}
#endif

#endif
