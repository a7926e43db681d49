import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as assert from "uvu/assert";
import { Catalogue } from "../../api/catalogue-requests.ts";
import { folderPages } from "../../api/node/pages.ts";
import { maxSearches } from "../../api/search.ts";
import { createReadStatus } from "../../service/layer-status.ts";
import { pageSettingsPath } from "../../site/static/html.ts";
import { type Listening, listen } from "../helpers/listen.ts";
import { Local, signedWrite, wms } from "../helpers/local.ts";
import { descendantsWith, signalIfThere } from "../helpers/process.ts";
import { sharedSuite } from "../helpers/world.ts";
import { metaOf } from "../store/contract.ts";

interface Scene {
	local: Local;
	service: Listening;
}

/** Git runs only for writes. */
const storeLimits = { pollMs: 3_600_000, silenceMs: 4_000 };
const { PATH } = process.env;

const test = sharedSuite<Scene>("reasons of 503 in French", async (use) => {
	const local = use(await Local.open({ storeLimits }));
	assert.is((await local.put("first")).status, 201);
	return { local, service: use(await listen(local)) };
});
test.after.each(async ({ local }) => {
	process.env.PATH = PATH;
	await rm(hookOf(local), { force: true });
	// Its processes of git run again.
	await local.put("between", wms(crypto.randomUUID()));
});

const french = { "Accept-Language": "fr-CA" };

/** Sends a signed PUT, as the client of a publisher who reads French. */
async function put({ local, service }: Scene, sender = "jstest"): Promise<Response> {
	const target = "/register/new";
	const body = wms("other");
	const { signature, timestamp } = await signedWrite({ target, body, sender }, local.now);
	const headers = { ...french, Authorization: signature, Sender: sender, TimeStamp: timestamp };
	return fetch(service.origin + target, { method: "PUT", headers, body });
}

/** Asserts that an answer is 503 with one reason in French. */
async function assertBusy(answer: Response, reason: RegExp, start = ""): Promise<void> {
	assert.is(answer.status, 503);
	assert.is(answer.headers.get("Content-Language"), "fr");
	assert.ok(Number(answer.headers.get("Retry-After")) > 0);
	const { errors } = (await answer.json()) as { errors: string[] };
	assert.is(errors.length, 1);
	const text = (errors[0] as string).replaceAll("\u00a0", " ");
	assert.is(text.slice(0, start.length), start);
	assert.match(text.slice(start.length), reason);
}

const start = "les couches ne peuvent pas être modifiées maintenant : ";

/** A hook that git runs before it moves a branch. */
function hookOf({ repository }: Local): string {
	return join(repository, "hooks/reference-transaction");
}

/** Makes git's `update-ref` fail with a message, as it passes on that of the system. */
async function failWith(local: Local, message: string): Promise<void> {
	await mkdir(dirname(hookOf(local)), { recursive: true });
	await writeFile(
		hookOf(local),
		`#!/bin/sh\ngrep -q refs/heads/ || exit 0\necho '${message}' >&2\nexit 1\n`,
		{ mode: 0o755 },
	);
}

function signalGit({ folder }: Local, command: string, name: NodeJS.Signals): void {
	for (const pid of descendantsWith(process.pid, folder, command)) signalIfThere(pid, name);
}

/** A promise that a test settles. */
function gate() {
	let open = () => {};
	const opened = new Promise<void>((resolve) => {
		open = resolve;
	});
	return { open, opened };
}

test("a change that waits too long for another is refused in French", async () => {
	await using local = await Local.open({ storeLimits: { ...storeLimits, waitMs: 400 } });
	await using service = await listen(local);
	const [judged, held] = [gate(), gate()];
	const edits = async () => {
		judged.open();
		await held.opened;
		return [];
	};
	const other = local.store.change(edits, metaOf("other"));
	await judged.opened;
	await assertBusy(
		await put({ local, service }),
		/^les modifications précédentes prennent trop de temps$/,
		start,
	);
	held.open();
	await other;
});

test("too many look-ups of layers at once are refused in French", async ({ local, service }) => {
	const held = gate();
	const store = { read: () => held.opened.then(() => null) };
	const { repository } = local;
	local.context.status = createReadStatus({ repository, store, has: () => true, harvester: null });
	const asked = Array.from({ length: 101 }, () => fetch(`${service.origin}/status/a`, { headers: french }));
	await assertBusy(await Promise.race(asked), /^trop de requêtes demandent l’état de couches$/);
	held.open();
	await Promise.all(asked);
});

test("a catalogue that is not built yet is named in French", async ({ local }) => {
	local.context.settings = { ...local.context.settings, site: true };
	local.pages = folderPages(join(local.folder, "unbuilt"), false);
	await using service = await listen(local);
	const answer = await fetch(`${service.origin}/collections`, { headers: french });
	await assertBusy(answer, /^le catalogue est en cours de construction$/);
});

test("a search that waits for too many others is refused in French", async ({ local }) => {
	local.context.settings = { ...local.context.settings, site: true };
	const held = gate();
	const text = async (file: string) => (file === pageSettingsPath ? "{}" : held.opened.then(() => null));
	const files = { find: async () => null, text, headers: {}, isSecure: false, isLive: true };
	local.pages = new Catalogue(files).answer;
	await using service = await listen(local);
	const address = `${service.origin}/collections/layers/items`;
	const asked = Array.from({ length: maxSearches + 1 }, () => fetch(address, { headers: french }));
	await assertBusy(await Promise.race(asked), /^trop de recherches attendent$/);
	held.open();
	await Promise.all(asked);
});

/** Each cause, and the reason that a publisher gets for it. What the service does not recover from is last. */
const causes: [what: string, cause: (local: Local) => unknown, reason: RegExp, sender?: string][] = [
	["a failure of git", (local) => failWith(local, "something else"), /^git a échoué$/],
	[
		"a full disk",
		(local) => failWith(local, "No space left on device"),
		/^il n’y a plus de place sur le disque$/,
	],
	[
		"a read-only disk",
		(local) => failWith(local, "Read-only file system"),
		/^le disque est en lecture seule$/,
	],
	[
		"a repository of another user",
		(local) => failWith(local, "Permission denied"),
		/^le service n’a pas le droit d’écrire dans le dépôt$/,
	],
	["a damaged repository", (local) => failWith(local, "bad object"), /^le dépôt est endommagé$/],
	["a git that hangs", (local) => signalGit(local, "update-ref", "SIGSTOP"), /^git ne répond pas$/],
	[
		"a git that is missing",
		(local) => {
			process.env.PATH = "/nowhere";
			signalGit(local, "update-ref", "SIGKILL");
		},
		/^git n’a pas pu être lancé$/,
	],
	[
		"a branch that others hold",
		(local) => failWith(local, "cannot lock ref"),
		/^la branche ne peut pas être déplacée, ou d’autres la déplacent sans cesse$/,
	],
	[
		"a branch of a review that others hold",
		(local) => failWith(local, "cannot lock ref"),
		/^d’autres modifient la branche register\/new$/,
		"careful",
	],
	[
		"a branch in the way of a review",
		(local) => local.git("update-ref", "refs/heads/register", local.store.tip),
		/^la branche register empêche de créer register\/new : renommez-la ou supprimez-la$/,
		"careful",
	],
	[
		"a branch that was set back",
		async (local) => local.git("update-ref", "refs/heads/main", await local.git("rev-parse", "main~1")),
		/^la branche main est à [0-9a-f]{12}, dont l’historique n’a pas [0-9a-f]{12}, le dernier commit servi$/,
	],
	["a service that ends", (local) => local.store.close(), /^le service est sur le point de s’arrêter$/],
];

for (const [what, cause, reason, sender] of causes) {
	test(`${what} is named in French, and nothing is stored`, async (scene) => {
		await cause(scene.local);
		const before = await scene.local.state();
		await assertBusy(await put(scene, sender), reason, start);
		assert.is(await scene.local.state(), before);
	});
}

test.run();
