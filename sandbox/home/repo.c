/* repo: opening and making repositories. SPDX-License-Identifier: ISC */
#include "sandbox/home/repo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "sandbox/home/names.h"
#include "sandbox/sys/io.h"

#define PATH_MAX_BYTES 4095

static _Thread_local char failure[512];

/* -- failures --------------------------------------------------------------- */

const char *home_error(void)
{
	return failure;
}

int repo_fail(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(failure, sizeof failure, fmt, ap);
	va_end(ap);
	return code;
}

int repo_fail_git(const char *what)
{
	const git_error *e = git_error_last();
	int code = HOME_BROKEN;

	if (e && e->klass == GIT_ERROR_OS && (errno == ENOSPC || errno == EDQUOT))
		code = HOME_FULL;
	return repo_fail(code, "%s: %s", what, e ? e->message : "unknown failure");
}

int repo_fail_errno(const char *what)
{
	int code = errno == ENOSPC || errno == EDQUOT ? HOME_FULL : HOME_BROKEN;
	char text[128];

	return repo_fail(code, "%s: %s", what, strerror_r(errno, text, sizeof text));
}

/* -- the library ------------------------------------------------------------ */

int home_global_init(void)
{
	static const int levels[] = {GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM,
		GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL};
	bool ok = git_libgit2_init() > 0;

	/* No settings but the repository's own. */
	for (size_t i = 0; ok && i < sizeof levels / sizeof levels[0]; i++)
		ok = git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "") == 0;
	/* Boxes write as one user what others may read. */
	ok = ok && git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0) == 0;
	/* Hashing again what is read costs more than reading it; git fsck is there for that. */
	ok = ok && git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0) == 0;
	ok = ok && git_libgit2_opts(GIT_OPT_DISABLE_PACK_KEEP_FILE_CHECKS, 1) == 0;
	ok = ok && git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, (ssize_t)8 << 20) == 0;
	ok = ok && git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, (size_t)256 << 20) == 0;
	ok = ok && git_libgit2_opts(GIT_OPT_SET_MWINDOW_FILE_LIMIT, (size_t)64) == 0;
	return ok ? HOME_OK : repo_fail_git("libgit2");
}

/* -- opening ---------------------------------------------------------------- */

int home_open(struct home **out, const char *path)
{
	struct home *h = calloc(1, sizeof *h);
	int r;

	if (!h)
		return repo_fail_errno("open repository");
	h->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (h->dir < 0) {
		r = errno == ENOENT || errno == ENOTDIR
			? repo_fail(HOME_NOT_FOUND, "no such repository")
			: repo_fail_errno("open repository");
		goto fail;
	}
	if (git_repository_open_ext(&h->git, path,
		    GIT_REPOSITORY_OPEN_NO_SEARCH | GIT_REPOSITORY_OPEN_BARE, NULL) != 0 ||
		git_repository_odb(&h->odb, h->git) != 0) {
		r = repo_fail_git("open repository");
		goto fail;
	}
	*out = h;
	return HOME_OK;
fail:
	home_close(h);
	return r;
}

void home_close(struct home *h)
{
	if (!h)
		return;
	git_odb_free(h->odb);
	git_repository_free(h->git);
	io_close(&h->dir);
	free(h);
}

/* -- making ----------------------------------------------------------------- */

static const char *const folders[] = {
	"info", "objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags"};

/*
 * info/attributes outranks every .gitattributes in a home, so that what the server's own git says
 * of a tree (archive, diff) is not bent by its tenant. Packing is maintenance's work.
 */
static const struct {
	const char *path, *text;
} files[] = {
	{"config",
		"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
		"[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
		"[receive]\n\tdenyDeletes = true\n\tdenyNonFastForwards = true\n\tfsckObjects = "
		"true\n"},
	{"description", "home of a sandgate container\n"},
	{"info/attributes",
		"* -text -eol -ident -filter -working-tree-encoding -export-ignore "
		"-export-subst\n"},
	/* Last: it makes the folder a repository. */
	{"HEAD", "ref: " REPO_BRANCH "\n"},
};

static int write_new(int dir, const char *path, const char *text)
{
	int fd = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	int r;

	if (fd < 0)
		return -1;
	r = io_write_full(fd, text, strlen(text));
	io_close(&fd);
	return r;
}

static int fill(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = dir < 0 ? -1 : 0;

	for (size_t i = 0; r == 0 && i < sizeof folders / sizeof folders[0]; i++)
		r = mkdirat(dir, folders[i], 0755);
	for (size_t i = 0; r == 0 && i < sizeof files / sizeof files[0]; i++)
		r = write_new(dir, files[i].path, files[i].text);
	io_close(&dir);
	return r;
}

static void unmake(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), saved = errno;

	if (dir >= 0) {
		for (size_t i = sizeof files / sizeof files[0]; i-- > 0;)
			unlinkat(dir, files[i].path, 0);
		for (size_t i = sizeof folders / sizeof folders[0]; i-- > 0;)
			unlinkat(dir, folders[i], AT_REMOVEDIR);
		io_close(&dir);
	}
	rmdir(path);
	errno = saved;
}

/* The folder that path lies in, if it is not there. */
static int make_parent(const char *path)
{
	char parent[PATH_MAX_BYTES + 1];
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;

	if (n == 0 || n >= sizeof parent)
		return 0;
	memcpy(parent, path, n);
	parent[n] = '\0';
	return mkdir(parent, 0755) == 0 || errno == EEXIST ? 0 : -1;
}

int home_create(struct home **out, const char *path)
{
	char temp[PATH_MAX_BYTES + 1];
	int n, r = home_open(out, path);

	if (r != HOME_NOT_FOUND)
		return r;
	/* Made aside and renamed, so that a crash leaves no half of a repository. */
	n = snprintf(
		temp, sizeof temp, "%s.new-%d-%lld", path, (int)gettid(), (long long)io_now_us());
	if (n < 0 || (size_t)n >= sizeof temp)
		return repo_fail(HOME_BAD, "the repository's path is too long");
	if (make_parent(path) != 0 || mkdir(temp, 0755) != 0)
		return repo_fail_errno("create repository");
	if (fill(temp) != 0 || rename(temp, path) != 0) {
		unmake(temp);
		/* Another may have made it just now. */
		if (errno != EEXIST && errno != ENOTEMPTY)
			return repo_fail_errno("create repository");
	}
	return home_open(out, path);
}

/* -- the disk --------------------------------------------------------------- */

int repo_sync_folder(struct home *h, const char *name)
{
	int r, fd = openat(h->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	r = fsync(fd);
	io_close(&fd);
	return r;
}

bool repo_keeps_order(struct home *h)
{
	struct statfs fs;

	/* One journal for all of the file system, written in order. */
	return fstatfs(h->dir, &fs) == 0 &&
		(fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_SUPER_MAGIC);
}

/* -- reading ---------------------------------------------------------------- */

int repo_read(git_odb_object **out, struct home *h, const git_oid *id, git_object_t type)
{
	int r = git_odb_read(out, h->odb, id);

	if (r == GIT_ENOTFOUND)
		return repo_fail(HOME_NOT_FOUND, "no such object: %s", git_oid_tostr_s(id));
	if (r != 0)
		return repo_fail_git("read object");
	if (git_odb_object_type(*out) == type)
		return HOME_OK;
	git_odb_object_free(*out);
	*out = NULL;
	return repo_fail(HOME_NOT_FOUND, "object %s is not a %s", git_oid_tostr_s(id),
		git_object_type2string(type));
}

int repo_head(git_oid *id, struct home *h)
{
	int r = git_reference_name_to_id(id, h->git, REPO_BRANCH);

	if (r == GIT_ENOTFOUND)
		return HOME_NOT_FOUND;
	return r == 0 ? HOME_OK : repo_fail_git("read branch");
}

int home_head(struct home *h, home_id head)
{
	git_oid id;
	int r = repo_head(&id, h);

	head[0] = '\0';
	if (r == HOME_OK)
		git_oid_tostr(head, sizeof(home_id), &id);
	return r == HOME_NOT_FOUND ? HOME_OK : r;
}

int repo_commit(struct repo_commit *out, struct home *h, const git_oid *id)
{
	git_commit *c;
	int r = git_commit_lookup(&c, h->git, id);

	if (r == GIT_ENOTFOUND)
		return repo_fail(HOME_NOT_FOUND, "no such commit: %s", git_oid_tostr_s(id));
	if (r != 0)
		return repo_fail_git("read commit");
	git_oid_cpy(&out->tree, git_commit_tree_id(c));
	out->time = git_commit_time(c);
	out->has_parent = git_commit_parentcount(c) > 0;
	if (out->has_parent)
		git_oid_cpy(&out->parent, git_commit_parent_id(c, 0));
	git_commit_free(c);
	return HOME_OK;
}

int home_path_check(const char *path, size_t n)
{
	if (n == 0 || n > PATH_MAX_BYTES || memchr(path, '\0', n))
		return repo_fail(HOME_BAD, "path is empty, too long or has a NUL");
	for (const char *p = path, *end = path + n; p <= end;) {
		const char *slash = memchr(p, '/', (size_t)(end - p));
		size_t len = slash ? (size_t)(slash - p) : (size_t)(end - p);

		if (len == 0 || len > NAMES_MAX ||
			(p[0] == '.' && (len == 1 || (len == 2 && p[1] == '.'))))
			return repo_fail(
				HOME_BAD, "path has an empty, \".\", \"..\" or too long component");
		p += len + 1;
	}
	return HOME_OK;
}
