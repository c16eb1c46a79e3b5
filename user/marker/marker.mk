# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What programs that mark their phases use: liblogrss.so, the Python package, pkg-config.

MARKER_PY := $(sort $(wildcard user/marker/python/peakphase/*.py) user/marker/python/peakphase/py.typed)
MARKER_INFO := user/marker/python/METADATA user/marker/python/entry_points.txt
# What makes it a distribution that other programs find by its entry points, as Kedro does.
MARKER_INFO_DIR := peakphase-$(VERSION).dist-info
MARKER_PY_OUT := $(MARKER_PY:user/marker/%=$(OUTPUT)/%) $(MARKER_INFO:user/marker/python/%=$(OUTPUT)/python/$(MARKER_INFO_DIR)/%)
MARKER_LIBS := $(OUTPUT)/liblogrss.so $(OUTPUT)/liblogrss.so.1 $(OUTPUT)/python/peakphase/liblogrss.so
LIBDIR ?= $(PREFIX)/lib
# Where Debian's python3 looks: /usr/lib/python3 for packages of the distribution, and below
# /usr/local (any other PREFIX alike) a directory for each version of Python.
PYTHON_VERSION = $(shell /usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo 3)
PYTHON_DIR ?= $(if $(filter /usr,$(PREFIX)),/usr/lib/python3/dist-packages,$(LIBDIR)/python$(PYTHON_VERSION)/dist-packages)

.PHONY: marker install-marker
all: marker
marker: $(MARKER_LIBS) $(MARKER_PY_OUT)

# No library but itself (-nostdlib): one file serves every libc. No sanitizers: they are for ours.
# gcc's outlined atomics are functions of libgcc's.
MARKER_ARCH_FLAGS := $(if $(filter arm64,$(ARCH)),-mno-outline-atomics)
MARKER_C := user/marker/logrss.c user/marker/print.c user/lib/utf8.c
$(OUTPUT)/liblogrss.so: $(MARKER_C) user/marker/print.h user/lib/text.h include/peakphase/log_rss.h | $(DEPS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -Iinclude -Iuser -std=gnu17 $(WARN) -O2 -g -fPIC -fvisibility=hidden -shared -nostdlib \
		-fno-stack-protector $(MARKER_ARCH_FLAGS) -Wl,-soname,liblogrss.so.1 -Wl,--build-id $(LDFLAGS) $(MARKER_C) -o $@

$(OUTPUT)/liblogrss.so.1: $(OUTPUT)/liblogrss.so
	$(Q)ln -sf liblogrss.so $@

# PYTHONPATH=$(OUTPUT)/python has the package as an installation has it.
$(OUTPUT)/python/peakphase/liblogrss.so: $(OUTPUT)/liblogrss.so
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(OUTPUT)/python/$(MARKER_INFO_DIR)/%: user/marker/python/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(OUTPUT)/python/%: user/marker/python/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(OUTPUT)/peakphase.pc: user/marker/marker.mk
	@mkdir -p $(@D)
	$(Q)printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$${prefix}/include' '' \
		'Name: peakphase' 'Description: Markers for the phases of a program' 'Version: $(VERSION)' \
		'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -llogrss' > $@

# Python's copy is a link to the library: one file, so one set of probes.
install: install-marker
install-marker: marker $(OUTPUT)/peakphase.pc
	$(Q)install -D -m 755 $(OUTPUT)/liblogrss.so $(DESTDIR)$(LIBDIR)/liblogrss.so.1
	$(Q)ln -sf liblogrss.so.1 $(DESTDIR)$(LIBDIR)/liblogrss.so
	$(Q)install -D -m 644 $(OUTPUT)/peakphase.pc $(DESTDIR)$(LIBDIR)/pkgconfig/peakphase.pc
	$(Q)install -d $(DESTDIR)$(PYTHON_DIR)/peakphase $(DESTDIR)$(PYTHON_DIR)/$(MARKER_INFO_DIR)
	$(Q)install -m 644 $(MARKER_PY) $(DESTDIR)$(PYTHON_DIR)/peakphase/
	$(Q)install -m 644 $(MARKER_INFO) $(DESTDIR)$(PYTHON_DIR)/$(MARKER_INFO_DIR)/
	$(Q)ln -srf $(DESTDIR)$(LIBDIR)/liblogrss.so.1 $(DESTDIR)$(PYTHON_DIR)/peakphase/liblogrss.so
