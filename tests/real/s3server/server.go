// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

//go:build tools

// Package s3server pins the server that sinks are tested with: one for S3 that verifies signatures.
package s3server

import _ "github.com/versity/versitygw/cmd/versitygw"
