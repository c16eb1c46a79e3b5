# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `make` builds; `make help` lists the rest. V=1 shows commands, OUTPUT= moves the build tree.
# Building needs no root, no BTF and no running BPF. Fragments beside what they build add targets.

MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.SUFFIXES:

VERSION := 0.1.0
OUTPUT ?= build
PREFIX ?= /usr/local
DESTDIR ?=
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
PKG_CONFIG ?= pkg-config

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n' $(1) $(patsubst $(OUTPUT)/%,%,$(2))
endif

ARCH := $(shell uname -m | sed -e s/x86_64/x86/ -e s/aarch64/arm64/)
WARN := -Wall -Wextra -Werror -Wswitch-enum -Wshadow -Wpointer-arith -Wstrict-prototypes \
	-Wmissing-prototypes -Wformat=2 -Wvla -Wundef
PKGS := libbpf libelf libdw sqlite3 jansson ncursesw libpcre2-8 libmd
CPPFLAGS += -Iinclude -Iuser -Ibpf -I$(OUTPUT) -D_GNU_SOURCE -DPEAKPHASE_VERSION='"$(VERSION)"' \
	-DPEAKPHASE_PREFIX='"$(PREFIX)"'
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu17 $(WARN) -fno-common -pthread $(CFLAGS) $(SAN_FLAGS) $(PKG_CFLAGS)
ALL_LDFLAGS = -pthread $(LDFLAGS) $(SAN_FLAGS)
PKG_CFLAGS = $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null)
# Zydis and libiberty have no .pc file.
LDLIBS = $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null) -lZydis -liberty

# What each folder is: the pipeline of docs/design.md. cmd/ and main.c only wire.
LIB_SRC := $(sort $(foreach d,lib decode model resolve store view view/top sink source,$(wildcard user/$(d)/*.c)))
CMD_SRC := $(sort $(wildcard user/cmd/*.c) $(wildcard user/main.c))
LIB_OBJ := $(LIB_SRC:%.c=$(OUTPUT)/%.o)
CMD_OBJ := $(CMD_SRC:%.c=$(OUTPUT)/%.o)
BPF_SRC := $(sort $(wildcard bpf/*.bpf.c))
BPF_OBJ := $(BPF_SRC:%.c=$(OUTPUT)/%.o)
SKEL := $(OUTPUT)/peakphase.skel.h

.PHONY: all help deps install demo clean
all: $(OUTPUT)/peakphase ## build the tracer, the marker library and the test workloads

# Installs what is missing (Debian, Ubuntu) before anything is compiled; says nothing otherwise.
DEPS := $(OUTPUT)/.deps
deps: $(DEPS)
$(DEPS): tools/deps.sh
	@mkdir -p $(@D)
	$(Q)tools/deps.sh $(DEPS_SET)
	@touch $@

$(OUTPUT)/%.bpf.o: %.bpf.c | $(DEPS)
	$(call say,BPF,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Iinclude -Ibpf -O2 -g -Wall -Wextra -Werror \
		-Wno-unused-parameter -MMD -MP -c $< -o $@

$(OUTPUT)/peakphase.bpf.o: $(BPF_OBJ)
	$(call say,LINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

$(SKEL): $(OUTPUT)/peakphase.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name peakphase > $@

$(OUTPUT)/user/%.o: user/%.c | $(DEPS)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# Only the live session knows the BPF object.
$(patsubst %.c,$(OUTPUT)/%.o,$(wildcard user/source/*.c)): | $(SKEL)

$(OUTPUT)/libpeakphase.a: $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar crs $@ $^

$(OUTPUT)/peakphase: $(CMD_OBJ) $(OUTPUT)/libpeakphase.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) $(CMD_OBJ) $(OUTPUT)/libpeakphase.a $(LDLIBS) -o $@

install: all ## install below DESTDIR and PREFIX
	$(Q)install -D -m 755 $(OUTPUT)/peakphase $(DESTDIR)$(PREFIX)/bin/peakphase
	$(Q)install -D -m 644 include/peakphase/log_rss.h $(DESTDIR)$(PREFIX)/include/peakphase/log_rss.h
	$(Q)for f in docs/man/*.[13]; do \
		install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/man/man$${f##*.}/$${f##*/}; done

demo: all ## the main job on a bundled example pipeline, as root
	$(Q)tools/demo.sh $(OUTPUT)

clean: ## remove the build tree
	$(Q)rm -rf $(OUTPUT)

help: ## this list
	@sed -n 's/^\([a-zA-Z0-9_.%-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | sort | \
		awk -F'\t' '{ printf "  %-18s %s\n", $$1, $$2 }'

# Fragments: each may add to `all`, `install` and `check`.
-include $(wildcard user/marker/marker.mk tests/tests.mk tests/real/real.mk tools/vm/vm.mk tests/bench/bench.mk)
-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d) $(BPF_OBJ:.o=.d)
