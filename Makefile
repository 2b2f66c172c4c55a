# sandgate: build, test, run. GNU make; see README.md.
# `make run` and `make test` install what is missing first (conf/packages).

.DEFAULT_GOAL := all
B      ?= build
PREFIX ?= /usr/local
V      ?= 0
Q      := $(if $(filter 0,$(V)),@)

# -- flags ----------------------------------------------------------------
# Warnings and hardening follow OpenSSF's compiler options guide; those that
# only one compiler knows are asked for when it is the one in use.
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wformat=2 -Wconversion -Wsign-conversion -Wcast-qual -Wcast-align \
	-Wundef -Wvla -Wswitch-enum -Wwrite-strings -Wimplicit-fallthrough -Wnull-dereference \
	-Wpointer-arith -Wframe-larger-than=16384
HARD := -fstack-protector-strong -fstack-clash-protection -fcf-protection=full \
	-D_FORTIFY_SOURCE=3 -fno-strict-overflow
ifneq ($(findstring clang,$(CC)),)
WARN += -Wmissing-variable-declarations
else
WARN += -Wduplicated-cond -Wlogical-op -Wjump-misses-init
HARD += -ftrivial-auto-var-init=zero -fzero-call-used-regs=used-gpr
endif
ifdef CI
WARN += -Werror
endif
OPT     ?= -O2 -g
CFLAGS_ := -std=c17 -D_GNU_SOURCE -I. $(OPT) $(WARN) $(HARD) -MMD -MP $(CFLAGS)
LINK    := -Wl,-z,relro,-z,now,-z,noexecstack,-z,nodlopen,-z,separate-code -Wl,--as-needed
ifdef SAN
B       := build-$(SAN)
CFLAGS_ := $(filter-out -D_FORTIFY_SOURCE=3,$(CFLAGS_)) -O1 -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=all
LINK    += -fsanitize=address,undefined
endif

# -- what is built of what --------------------------------------------------
# Two archives hold everything but the mains; a program is its main and what it pulls in.
obj  = $(patsubst %.c,$(B)/%.o,$(1))
MAINS   := app/main.c app/admin.c $(wildcard sandbox/*/main.c)
SANDBOX := $(filter-out $(MAINS),$(sort $(wildcard sandbox/*/*.c)))
APP     := $(filter-out $(MAINS),$(sort $(wildcard app/*.c app/*/*.c)))
TESTS   := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/unit/test_*.c)))
TESTLIB := $(sort $(wildcard tests/lib/*.c))

LIB_A    := $(B)/libapp.a
LIB_S    := $(B)/libsandbox.a
LIB_T    := $(B)/libtest.a
LIBS_GIT := -lgit2 -lz -lcrypto
LIBS_APP := -lfcgi -lcurl -lcjson -lsqlite3 -linih -lcrypto -lm -lpthread $(LIBS_GIT)
PROGRAMS := $(addprefix $(B)/,sandgate-app sandgate sandgate-boxd sandgate-box sandgate-init)

.PHONY: all deps run test tests unit lint asan bench install clean
all: $(PROGRAMS)

$(B)/sandgate-app: $(B)/app/main.o $(LIB_A) $(LIB_S)
$(B)/sandgate: $(B)/app/admin.o $(LIB_A) $(LIB_S)
$(B)/sandgate-boxd: $(B)/sandbox/pool/main.o $(LIB_S)
$(B)/sandgate-box: $(B)/sandbox/box/main.o $(LIB_S)
$(B)/sandgate-init: $(B)/sandbox/init/main.o $(LIB_S)

$(B)/sandgate-app $(B)/sandgate: LIBS := $(LIBS_APP)
$(B)/sandgate-boxd: LIBS := -linih -lseccomp
$(B)/sandgate-box: LIBS := $(LIBS_GIT) -lseccomp
$(B)/sandgate-init: LIBS := -lseccomp
# PID 1 of a container has no library of the image's to trust.
$(B)/sandgate-init: PIE := $(if $(SAN),-pie,-static-pie)

PIE := -pie
$(PROGRAMS):
	@echo "  LINK $@"
	$(Q)$(CC) $(PIE) $(OPT) $(LINK) $(LDFLAGS) -o $@ $^ $(LIBS)

$(LIB_A): $(call obj,$(APP))
$(LIB_S): $(call obj,$(SANDBOX))
$(LIB_T): $(call obj,$(TESTLIB))
$(LIB_A) $(LIB_S) $(LIB_T):
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC   $<"
	$(Q)$(CC) $(CFLAGS_) -fPIE -c -o $@ $<

$(B)/tests/unit/test_%: $(B)/tests/unit/test_%.o $(LIB_T) $(LIB_A) $(LIB_S)
	@echo "  LINK $@"
	$(Q)$(CC) -pie $(OPT) $(LINK) $(LDFLAGS) -o $@ $^ -lcmocka -lseccomp $(LIBS_APP)

.SECONDARY:
$(B)/tests/bench/bench: $(call obj,$(wildcard tests/bench/*.c)) $(LIB_S)
	@echo "  LINK $@"
	$(Q)$(CC) -pie $(OPT) $(LINK) $(LDFLAGS) -o $@ $^ -lpthread

-include $(shell find $(B) -name '*.d' 2>/dev/null)

# -- what people type -------------------------------------------------------
tests: $(TESTS)
unit: all tests
	@tests/run-unit $(TESTS)

deps:
	@conf/deps build run

# Two steps, because what a compiler is asked for exists only once deps has run.
run:
	@conf/deps build run
	@$(MAKE) --no-print-directory all
	@conf/run
test:
	@conf/deps build run test
	@$(MAKE) --no-print-directory all tests
	@tests/run

# `make bench`, or some bars: `make bench BAR="warm-exec wake"`.
bench:
	@conf/deps build run test bench
	@$(MAKE) --no-print-directory all $(B)/tests/bench/bench
	@tests/bench/run

asan:
	@$(MAKE) --no-print-directory SAN=asan unit
lint:
	@conf/deps build test lint
	@$(MAKE) --no-print-directory all
	@tests/lint

install: all
	install -d $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(PREFIX)/libexec/sandgate $(DESTDIR)/etc/sandgate/nginx
	install -m 755 $(addprefix $(B)/,sandgate-app sandgate-boxd sandgate) $(DESTDIR)$(PREFIX)/sbin
	install -m 755 $(addprefix $(B)/,sandgate-box sandgate-init) $(DESTDIR)$(PREFIX)/libexec/sandgate
	[ -e $(DESTDIR)/etc/sandgate/sandgate.conf ] || \
		install -m 644 conf/sandgate.conf $(DESTDIR)/etc/sandgate/sandgate.conf
	install -m 644 conf/nginx/sandgate.conf $(DESTDIR)/etc/sandgate/nginx/sandgate.conf

clean:
	rm -rf build build-asan
