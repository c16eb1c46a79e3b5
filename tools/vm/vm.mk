# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# vm-check-X: the live tests on Debian's kernel X in QEMU; vm-shell-X: a shell there. BATS= chooses the test files, VM_FLAGS=
# gives further options of tools/vm/run (see its --help).
VM_KERNELS := 6.1 6.12 7.3

.PHONY: vm-check vm-deps distro-check-13
vm-check: ## the live tests on each kernel of VM_KERNELS, in QEMU
	$(Q)for k in $(VM_KERNELS); do $(MAKE) --no-print-directory vm-check-$$k || failed=1; done; [ -z "$$failed" ]

vm-deps:
	$(Q)tools/deps.sh vm

vm-check-%: all vm-deps ## the same on one: vm-check-6.1, vm-check-6.12, vm-check-7.3
	$(Q)tools/vm/run --kernel $* --build $(OUTPUT) $(if $(filter command% environment%,$(origin BATS)),--bats '$(BATS)') $(VM_FLAGS)

vm-shell-%: all vm-deps ## a shell on that kernel: vm-shell-6.1 ...
	$(Q)tools/vm/run --kernel $* --build $(OUTPUT) --shell $(VM_FLAGS)

distro-check-13: ## build, unit tests and install in a Debian 13 root
	$(Q)tools/deps.sh distro
	$(Q)tools/distro/check 13
