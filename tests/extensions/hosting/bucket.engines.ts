// deploy/fill-bucket.sh with rclone, where it is installed
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { fragmentHeaders } from "../../../api/reply.ts";
import { layers } from "../../conformance/engine.ts";
import { buildDist } from "../../conformance/engines.ts";
import { wms } from "../../helpers/handlers.ts";
import { cleanEnvironment, root } from "../../helpers/process.ts";
import { filesIn, freshSuite, runUnless, temporaryFolder } from "../../helpers/world.ts";
import { missingRclone, type S3Peer, startS3 } from "./s3-server.ts";

let peer: S3Peer;
let folder: string;
let dist: string;

const test = freshSuite("a bucket", async (use) => {
	folder = use(await temporaryFolder()).path;
	await rebuild(layers);
	peer = use(await startS3());
});

async function rebuild(next: ReadonlyMap<string, string>) {
	await rm(join(folder, "layers"), { recursive: true, force: true });
	dist = await buildDist(next, folder, true, ["v0.9"]);
}

function fill(words: string[] = [], env: Record<string, string> = {}): Promise<[code: number, text: string]> {
	const retries = { RCLONE_RETRIES: "1", RCLONE_LOW_LEVEL_RETRIES: "1", RCLONE_TRANSFERS: "1" };
	const options = { cwd: root, env: cleanEnvironment({ ...peer.env, ...retries, ...env }) };
	return new Promise((resolve) => {
		execFile("deploy/fill-bucket.sh", [dist, ...words], options, (error, stdout, stderr) =>
			resolve([Number(error?.code ?? 0), stdout + stderr]),
		);
	});
}

function assertInStep() {
	const built = [...filesIn(dist)].filter(([path]) => !/^_headers$|^\.|\.(?:gz|br)$/.test(path));
	const stored = [...peer.objects].map(([name, { bytes }]) => [name, bytes.toString("latin1")]);
	assert.equal(stored.sort(), built.map(([path, text]) => [path, text]).sort());
}

test("a build is uploaded with its headers, then what changed; removals come last", async () => {
	await mkdir(join(dist, "assets"));
	await writeFile(join(dist, "assets/0123456789.webp"), "picture");
	assert.equal(await fill(), [0, ""]);
	assertInStep();
	const typeOf = (name: string) => peer.objects.get(name)?.headers.get("content-type");
	const { headers } = peer.objects.get("v0.9/doc/en/a+b=c") ?? {};
	assert.is(typeOf("v0.9/doc/en/a+b=c"), fragmentHeaders["Content-Type"]);
	assert.is(headers?.get("cache-control"), fragmentHeaders["Cache-Control"]);
	assert.is(typeOf("assets/0123456789.webp"), "image/webp");
	peer.writes.length = 0;
	const next = new Map(layers).set("23ax5t", wms("other")).set("new", wms("new"));
	next.delete("a+b=c");
	await rebuild(next);
	const [code, text] = await fill(["--dry-run"]);
	assert.equal([code, peer.writes], [0, []]);
	assert.match(text, "v0.9/doc/en/new: Skipped copy as --dry-run is set");
	assert.equal(await fill(), [0, ""]);
	assertInStep();
	assert.match(peer.writes.join(), /^(PUT \S+?,){4}DELETE [^,]+,DELETE [^,]+$/);
});

test("after an interruption every object is whole, and the next run continues", async () => {
	await fill();
	await rebuild(
		new Map([...layers.keys()].filter((key) => key !== "feature").map((key) => [key, wms("next")])),
	);
	peer.writes.length = 0;
	peer.fault = (method) => method === "PUT" && peer.writes.length >= 5;
	const [code, text] = await fill();
	assert.is(code, 1);
	assert.match(text, /v0\.9\/doc\/(?:en|fr)\/\S+: Failed to copy/);
	const uploaded = peer.writes.splice(0);
	// The fault may come after more writes than 5: they arrive together.
	assert.ok(uploaded.length >= 5 && uploaded.every((write) => write.startsWith("PUT")), uploaded.join());
	peer.fault = () => false;
	assert.equal(await fill(), [0, ""]);
	assertInStep();
	assert.not.ok(peer.writes.some((write) => uploaded.includes(write)));
});

test("a wrong key, a missing bucket, variable or build is an error", async () => {
	for (const [env, reason] of [
		[{ AWS_ACCESS_KEY_ID: "another" }, "InvalidAccessKeyId"],
		[{ OBJECTS_BUCKET: "none" }, "directory not found|NoSuchBucket"],
		[{ OBJECTS_ENDPOINT: "" }, "OBJECTS_ENDPOINT: the address of the S3 service"],
	] as const) {
		const [code, text] = await fill([], env);
		assert.is.not(code, 0, reason);
		assert.match(text, new RegExp(reason));
		assert.not.match(text, peer.env.AWS_SECRET_ACCESS_KEY as string);
	}
	dist = join(folder, "none");
	assert.equal(await fill(), [2, `${dist}: has no build\n`]);
	assert.equal(peer.writes, []);
});

runUnless(missingRclone, test);
