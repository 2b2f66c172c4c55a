/* id: random names, digests, base64url, file ids. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <string.h>

#include "app/base/id.h"

static struct arena *a;

static int start(void **state)
{
	(void)state;
	a = arena_new();
	return 0;
}

static int stop(void **state)
{
	(void)state;
	arena_free(a);
	return 0;
}

static void names_are_random_letters_and_digits(void **state)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	char *one = id_new(a, "req_", 24), *two = id_new(a, "req_", 24);
	char *longer = id_new(a, "", 5000);
	size_t i;

	(void)state;
	assert_int_equal(strlen(one), 28);
	assert_memory_equal(one, "req_", 4);
	assert_int_equal(strspn(one + 4, letters), 24);
	assert_string_not_equal(one, two);
	assert_string_equal(id_new(a, "x", 0), "x");
	assert_int_equal(strspn(longer, letters), 5000);
	for (i = 0; letters[i]; i++) /* each is there: missing by chance has odds of 1 in 10^35 */
		assert_non_null(strchr(longer, letters[i]));
}

static void secret_has_43_characters(void **state)
{
	char *s = id_secret(a, 32);
	size_t n;

	(void)state;
	assert_int_equal(strlen(s), 43);
	assert_non_null(id_base64url_decode(a, s, &n));
	assert_int_equal(n, 32);
	assert_string_not_equal(s, id_secret(a, 32));
}

static void sha256_of_known_texts(void **state)
{
	char hex[65];

	(void)state;
	id_sha256(hex, "", 0);
	assert_string_equal(
		hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	id_sha256(hex, "abc", 3);
	assert_string_equal(
		hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void base64url_of_known_texts(void **state)
{
	(void)state;
	assert_string_equal(id_base64url(a, "", 0), "");
	assert_string_equal(id_base64url(a, "f", 1), "Zg");
	assert_string_equal(id_base64url(a, "fo", 2), "Zm8");
	assert_string_equal(id_base64url(a, "foo", 3), "Zm9v");
	assert_string_equal(id_base64url(a, "foob", 4), "Zm9vYg");
	assert_string_equal(id_base64url(a, "\xFB\xFF\xFE", 3), "-__-");
	assert_string_equal(id_base64url(a, "\0\0", 2), "AAA");
}

static void base64url_comes_back(void **state)
{
	unsigned char bytes[256], *back;
	size_t n, len;

	(void)state;
	for (n = 0; n < sizeof bytes; n++)
		bytes[n] = (unsigned char)(n * 7 + 3);
	for (n = 0; n <= sizeof bytes; n++) {
		back = id_base64url_decode(a, id_base64url(a, bytes, n), &len);
		assert_non_null(back);
		assert_int_equal(len, n);
		assert_memory_equal(back, bytes, n);
	}
}

static void base64url_refuses(void **state)
{
	static const char *const bad[] = {"A", "AAAAA", "Zg==", "Zg=", "Zm9v ", "Zm+v", "Zm/v",
		"Zh", "Zm9", "Z\xC3\xA9g", "Zg\n"};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (id_base64url_decode(a, bad[i], &n))
			fail_msg("%s was taken", bad[i]);
}

static void file_id_of_the_contract(void **state)
{
	size_t n;

	(void)state;
	assert_string_equal(id_file(a, "out/report.csv", 14), "cfile_b3V0L3JlcG9ydC5jc3Y");
	assert_string_equal(id_file_decode(a, "cfile_b3V0L3JlcG9ydC5jc3Y", &n), "out/report.csv");
	assert_int_equal(n, 14);
}

static void names_in_any_bytes_come_back(void **state)
{
	static const char *const names[] = {
		"\xFF\xFE", "a b\nc", "...", ".git/config", "..a/b..", "-rf", "a/.hidden"};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof names / sizeof names[0]; i++) {
		assert_string_equal(
			id_file_decode(a, id_file(a, names[i], strlen(names[i])), &n), names[i]);
		assert_int_equal(n, strlen(names[i]));
	}
}

static void paths_that_lead_elsewhere_are_refused(void **state)
{
	static const char *const paths[] = {"", "/", "/etc/passwd", "..", "../x", "a/..", "a/../b",
		".", "./a", "a/.", "a/./b", "a//b", "a/", "//"};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof paths / sizeof paths[0]; i++)
		if (id_file_decode(a, id_file(a, paths[i], strlen(paths[i])), &n))
			fail_msg("%s was taken", paths[i]);
	assert_null(id_file_decode(a, id_file(a, "a\0b", 3), &n));
	assert_null(id_file_decode(a, "file_b3V0", &n));
	assert_null(id_file_decode(a, "cfile_", &n));
	assert_null(id_file_decode(a, "cfile_b3V0=", &n));
	assert_null(id_file_decode(a, "", &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_random_letters_and_digits),
		cmocka_unit_test(secret_has_43_characters),
		cmocka_unit_test(sha256_of_known_texts),
		cmocka_unit_test(base64url_of_known_texts),
		cmocka_unit_test(base64url_comes_back),
		cmocka_unit_test(base64url_refuses),
		cmocka_unit_test(file_id_of_the_contract),
		cmocka_unit_test(names_in_any_bytes_come_back),
		cmocka_unit_test(paths_that_lead_elsewhere_are_refused),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
