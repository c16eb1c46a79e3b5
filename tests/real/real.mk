# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# check-real: real pipelines from PyPI, traced. tests/real/NAME.txt → a virtual environment with what pip installs of it, and
# with the package as a user installs it; tests/real/NAME.bats → tests. The packages are taken from wherever pip takes them.
REAL := $(OUTPUT)/real
REAL_TXT := $(sort $(wildcard tests/real/*.txt))
REAL_ENV := $(REAL_TXT:tests/real/%.txt=$(REAL)/%/.peakphase)
REAL_BATS ?= $(sort $(wildcard tests/real/*.bats))

.PHONY: check-real real-setup
.PRECIOUS: $(REAL)/%/.requirements
real-setup: $(REAL_ENV) $(REAL)/versitygw
check-real: all real-setup ## Kedro, OAA and Polars from PyPI, sinks to a real S3 server; as root, with network
	$(Q)PEAKPHASE_BUILD=$(abspath $(OUTPUT)) PEAKPHASE_LIVE_NAME='real pipelines' PEAKPHASE_LIVE_FALLBACK=none \
		tests/run-live.sh $(REAL_BATS)

$(REAL)/%/.requirements: tests/real/%.txt
	$(Q)tools/deps.sh real
	$(call say,VENV,$(REAL)/$*)
	$(Q)rm -rf $(REAL)/$*
	$(Q)/usr/bin/python3 -m venv $(REAL)/$*
	$(Q)$(REAL)/$*/bin/pip install -q --disable-pip-version-check -r $<
	$(Q)touch $@

# From a copy: pip may write beside the sources.
$(REAL)/%/.peakphase: $(REAL)/%/.requirements $(MARKER_PY) $(MARKER_INFO) $(wildcard user/marker/*.[ch]) user/lib/utf8.c \
		user/marker/python/peakphase_build.py include/peakphase/log_rss.h
	$(Q)rm -rf $(@D)/peakphase-src && mkdir -p $(@D)/peakphase-src/user $(@D)/peakphase-src/include
	$(Q)cp -r user/marker user/lib $(@D)/peakphase-src/user/ && cp -r include/peakphase $(@D)/peakphase-src/include/
	$(Q)$(@D)/bin/pip install -q --disable-pip-version-check --no-index --no-deps --no-cache-dir --force-reinstall \
		$(@D)/peakphase-src/user/marker/python
	$(Q)ls $(@D)/lib/python3*/site-packages/peakphase/liblogrss.so >/dev/null
	$(Q)touch $@

# The server for S3 is compiled, for minutes, once a machine. Where there is no Go its tests say so.
S3SERVER := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/peakphase/versitygw-$(shell sed -n 's/^require .*versitygw //p' tests/real/s3server/go.mod)
$(S3SERVER): tests/real/s3server/go.mod tests/real/s3server/go.sum
	$(call say,GO,$@)
	@mkdir -p $(@D)
	$(Q)! command -v go >/dev/null || { cd tests/real/s3server && GOFLAGS=-mod=readonly CGO_ENABLED=0 nice go build -trimpath \
		-ldflags '-s -w' -o $@.part github.com/versity/versitygw/cmd/versitygw && mv $@.part $@; }
$(REAL)/versitygw: $(S3SERVER)
	@mkdir -p $(@D)
	$(Q)! [ -e $< ] || ln -sf $< $@
