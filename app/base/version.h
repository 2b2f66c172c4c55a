/* version: of all programs. SPDX-License-Identifier: ISC */
#ifndef APP_BASE_VERSION_H
#define APP_BASE_VERSION_H

#define SANDGATE_VERSION "0.1.0"

#endif
