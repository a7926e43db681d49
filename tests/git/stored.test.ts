import { randomBytes } from "node:crypto";
import { inflateSync } from "node:zlib";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { storedStream } from "../../git/stored.ts";

for (const length of [0, 1, 3_799, 3_801, 65_535, 65_536, 200_000]) {
	test(`${length} bytes are read back by zlib, checksum and all`, () => {
		for (const bytes of [randomBytes(length), Buffer.alloc(length, 0xff)]) {
			assert.ok(inflateSync(storedStream(bytes)).equals(bytes));
		}
	});
}

test.run();
