import { test } from "uvu";
import * as assert from "uvu/assert";
import { crc32 } from "../../git/crc32.ts";

test("the check value of the polynomial, and of nothing", () => {
	// "Check" of CRC-32/ISO-HDLC in the catalogue of parametrised CRC algorithms.
	assert.is(crc32(Buffer.from("123456789")), 0xcbf43926);
	assert.is(crc32(Buffer.alloc(0)), 0);
});

test.run();
