import { deflateRawSync } from "node:zlib";
import * as assert from "uvu/assert";
import { draftAddress, packDraft, unpackDraft } from "../../registry/draft.ts";
import { suite } from "../helpers/suite.ts";

const test = suite("the address of a draft");

const written = { smallkey: "a+b=1", text: '{"en": "École \u2028 <script>"}\n' };

test("leads to the catalogue's page of drafts, with all of it behind #", async () => {
	for (const publicUrl of ["https://layers.example/base", "https://layers.example/base/"]) {
		const address = await draftAddress(publicUrl, written);
		const { origin, pathname, search, hash } = new URL(address ?? "");
		assert.equal([origin, pathname, search], ["https://layers.example", "/base/", "?page=draft"]);
		assert.match(hash, /^#draft=[A-Za-z0-9_-]+$/);
		assert.equal(await unpackDraft(hash.slice("#draft=".length)), written);
	}
});

test("is missing without the address of the service, and for a draft that is too long", async () => {
	assert.is(await draftAddress("", written), null);
	assert.is(await draftAddress("https://layers.example", { ...written, text: "x".repeat(100_000) }), null);
	let junk = "";
	for (let state = 1; junk.length < 40_000; state = (state * 48271) % 2147483647) junk += state.toString(36);
	assert.is(await draftAddress("https://layers.example", { ...written, text: junk }), null);
});

test("a link that is cut off, not UTF-8, no draft or too long is null", async () => {
	const packed = await packDraft(written);
	for (const link of [
		"",
		packed.slice(0, -4),
		`${packed}.`,
		"AAAA",
		deflateRawSync(Buffer.from('["a","\xe9"]', "latin1")).toString("base64url"),
		await packDraft({ smallkey: "a", text: "x".repeat(150_000) }),
	])
		assert.is(await unpackDraft(link), null, link.slice(0, 20));
});

test("a short link that unpacks to 20 MB is refused before most of it is unpacked", async () => {
	let unpacked = 0;
	const Real = DecompressionStream;
	globalThis.DecompressionStream = class {
		readable: ReadableStream<Uint8Array<ArrayBuffer>>;
		writable: WritableStream<BufferSource>;
		constructor(format: CompressionFormat) {
			const { readable, writable } = new Real(format);
			const counting = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
				transform(chunk, controller) {
					unpacked += chunk.length;
					controller.enqueue(chunk);
				},
			});
			this.readable = readable.pipeThrough(counting);
			this.writable = writable;
		}
	};
	try {
		const link = deflateRawSync(JSON.stringify(["a", " ".repeat(20_000_000)])).toString("base64url");
		assert.ok(link.length < 100_000);
		assert.is(await unpackDraft(link), null);
		assert.ok(unpacked > 140_000 && unpacked < 1_000_000, `${unpacked} bytes unpacked`);
	} finally {
		globalThis.DecompressionStream = Real;
	}
});

test.run();
