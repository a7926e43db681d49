import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { layers, wms } from "../../conformance/engine.ts";
import { buildDist } from "../../conformance/engines.ts";
import { exits, runScript, warns } from "../../helpers/process.ts";
import { freshSuite, temporaryFolder } from "../../helpers/world.ts";
import { type S3Peer, startS3 } from "./s3-server.ts";

let peer: S3Peer;
let folder: string;
let dist: string;

const test = freshSuite("publish-objects", async (use) => {
	folder = use(await temporaryFolder()).path;
	await rebuild(layers);
	peer = use(await startS3());
});

async function rebuild(next: ReadonlyMap<string, string>) {
	await rm(join(folder, "layers"), { recursive: true, force: true });
	dist = await buildDist(next, folder, false, ["v0.9"]);
}

function run(...words: string[]) {
	return runScript("publish-objects", ["--dist", dist, ...words], peer.env);
}

/** The fragments of the build, and their texts. */
async function built(): Promise<Map<string, string>> {
	const texts = new Map<string, string>();
	for (const lang of ["en", "fr"])
		for (const name of await readdir(join(dist, "v0.9/doc", lang))) {
			const path = `v0.9/doc/${lang}/${name}`;
			texts.set(path, await readFile(join(dist, path), "utf8"));
		}
	return texts;
}

async function assertInStep(): Promise<void> {
	for (const [name, text] of await built()) assert.is((await peer.read(name)).text, text, name);
}

function changes(): string[] {
	const writes = peer.passed.filter(({ method, name }) => method !== "GET" && name !== "manifest.json");
	return writes.map(({ method, name }) => `${method} ${name}`);
}

const withoutFeature = () => {
	const next = new Map([...layers].map(([smallkey]) => [smallkey, wms(`next ${smallkey}`)] as const));
	next.delete("feature");
	return next;
};

test("the first publication uploads everything signed, with type and caching, and the manifest last", async () => {
	await mkdir(join(dist, "assets/pictures/ab"), { recursive: true });
	await writeFile(join(dist, "assets/pictures/ab/0123456789.webp"), "picture");
	assert.is((await exits(run(), 0)).stdout, "19 uploaded, 0 removed, 0 unchanged\n");
	await assertInStep();
	const { headers } = await peer.read("v0.9/doc/en/a+b=c");
	assert.is(headers.get("content-type"), "application/json; charset=utf-8");
	assert.match(headers.get("cache-control") ?? "", /^public, max-age=60,/);
	const picture = await peer.read("assets/pictures/ab/0123456789.webp");
	assert.equal([picture.headers.get("content-type"), picture.text], ["image/webp", "picture"]);
	assert.is(peer.passed.at(-1)?.name, "manifest.json");
});

test("the next publication uploads what changed, and then removes what was deleted", async () => {
	await run();
	peer.passed.length = 0;
	assert.is((await run()).stdout, "0 uploaded, 0 removed, 18 unchanged\n");
	assert.equal(
		peer.passed.map(({ method }) => method),
		["GET"],
		"only the manifest is read",
	);
	const next = new Map(layers).set("23ax5t", wms("other")).set("new", wms("new"));
	next.delete("a+b=c");
	await rebuild(next);
	const dry = await run("--dry-run");
	assert.match(dry.stdout, "4 to upload, 2 to remove, 14 unchanged; nothing was changed\n");
	assert.equal(changes(), []);
	assert.is((await run()).stdout, "4 uploaded, 2 removed, 14 unchanged\n");
	await assertInStep();
	assert.is((await peer.read("v0.9/doc/en/a+b=c")).status, 404);
	assert.match(changes().join(), /^(PUT \S+,){4}DELETE \S+,DELETE/, "nothing is removed before all is there");
	assert.is((await run("--all")).stdout, "18 uploaded, 0 removed, 0 unchanged\n");
});

test("an interrupted publication leaves the old one in service, and the next run continues it", async () => {
	await run();
	const before = await built();
	await rebuild(withoutFeature());
	const after = await built();
	peer.passed.length = 0;
	let left = 5;
	peer.fault = (method, name) =>
		method === "PUT" && name !== "manifest.json" && left-- <= 0 ? "cut" : undefined;
	const cut = await warns(run(), 2, /^PUT v0\.9\/doc\/(?:en|fr)\/\S+: /);
	assert.not.match(cut.stderr, /S3RVER/);
	for (const [name, text] of before) {
		const object = await peer.read(name);
		assert.ok([text, after.get(name)].includes(object.text), `${name} is whole: the old one or the new one`);
	}
	const uploaded = changes();
	assert.is(uploaded.length, 5);
	peer.fault = () => undefined;
	peer.passed.length = 0;
	assert.is((await run()).stdout, "25 uploaded, 2 removed, 5 unchanged\n");
	assert.not.ok(changes().some((change) => uploaded.includes(change)));
	await assertInStep();
	assert.is((await peer.read("v0.9/doc/en/feature")).status, 404);
});

test("an object left by an interrupted publication is removed once its layer is deleted", async () => {
	let manifests = 0;
	// Not even the manifest can be written at the end.
	peer.fault = (_method, name) => (name === "manifest.json" && ++manifests > 2 ? "cut" : undefined);
	await exits(run(), 2);
	assert.is((await peer.read("v0.9/doc/en/feature")).status, 200);
	await rebuild(withoutFeature());
	peer.fault = () => undefined;
	assert.match((await run()).stdout, ", 2 removed, ");
	assert.is((await peer.read("v0.9/doc/en/feature")).status, 404);
});

test("a wrong key, a missing bucket, variable or build are reported, and nothing is changed", async () => {
	const wrong: [Record<string, string>, string | RegExp][] = [
		[
			{ AWS_SECRET_ACCESS_KEY: "another secret" },
			"manifest.json in the bucket fragments: the store answers 403 SignatureDoesNotMatch",
		],
		[{ OBJECTS_BUCKET: "no-such-bucket" }, "no-such-bucket: the store answers 404 NoSuchBucket"],
		[{ OBJECTS_ENDPOINT: "", OBJECTS_BUCKET: "" }, /^OBJECTS_ENDPOINT: is needed.*\nOBJECTS_BUCKET: /],
	];
	for (const [env, text] of wrong) {
		const words = ["--dist", dist];
		const { stderr } = await warns(runScript("publish-objects", words, { ...peer.env, ...env }), 2, text);
		assert.not.match(stderr, "another secret");
	}
	await warns(run("--dist", join(folder, "none")), 2, "none: has no fragments");
	assert.equal(changes(), []);
});

test.run();
