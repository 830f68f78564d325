/* SPDX-License-Identifier: BSD-3-Clause */
/* The version of these headers, for C, C++ and the preprocessor. (pyproject.toml is its home.) */
#ifndef HOCKET_VERSION_H
#define HOCKET_VERSION_H

#define HOCKET_VERSION_MAJOR 0
#define HOCKET_VERSION_MINOR 1
#define HOCKET_VERSION_PATCH 0
/* "0.1.0" */
#define HOCKET_VERSION "0.1.0"
/* 100 for 0.1.0, 10203 for 1.2.3: #if HOCKET_VERSION_NUMBER >= 10200 */
#define HOCKET_VERSION_NUMBER \
    (HOCKET_VERSION_MAJOR * 10000 + HOCKET_VERSION_MINOR * 100 + HOCKET_VERSION_PATCH)

#endif
