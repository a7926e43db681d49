import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as assert from "uvu/assert";
import { Catalogue } from "../../api/catalogue-requests.ts";
import { folderPages } from "../../api/node/pages.ts";
import { maxSearches } from "../../api/search.ts";
import { createReadStatus } from "../../service/layer-status.ts";
import { pageSettingsPath } from "../../site/static/html.ts";
import { type Listening, listen } from "../helpers/listen.ts";
import { Local, wms } from "../helpers/local.ts";
import { descendantsWith, signalIfThere } from "../helpers/process.ts";
import { gate } from "../helpers/wait.ts";
import { sharedSuite } from "../helpers/world.ts";

interface Scene {
	local: Local;
	service: Listening;
}

/** Git runs only for writes. */
const storeLimits = { pollMs: 3_600_000, silenceMs: 2_000 };

const test = sharedSuite<Scene>("a busy or broken service", async (use) => {
	const local = use(await Local.open({ storeLimits, variables: { SITE: "off" } }));
	assert.is((await local.put("first")).status, 201);
	return { local, service: use(await listen(local)) };
});

const french = { headers: { "Accept-Language": "fr-CA" } };

/** Asserts that an answer is 503 with one reason in French. */
async function assertBusy(answer: Response, reason: string): Promise<void> {
	assert.is(answer.status, 503);
	assert.is(answer.headers.get("Content-Language"), "fr");
	assert.ok(Number(answer.headers.get("Retry-After")) > 0);
	const { errors } = (await answer.json()) as { errors: string[] };
	assert.equal(
		errors.map((text) => text.replaceAll("\u00a0", " ")),
		[reason],
	);
}

test("too many look-ups of layers at once are refused", async ({ local, service }) => {
	const [held, open] = gate();
	const store = { read: () => held.then(() => null) };
	const { repository } = local;
	local.context.status = createReadStatus({ repository, store, has: () => true, harvester: null });
	const asked = Array.from({ length: 101 }, () => fetch(`${service.origin}/status/a`, french));
	await assertBusy(await Promise.race(asked), "trop de requêtes demandent l’état de couches");
	open();
	await Promise.all(asked);
});

test("a catalogue that is not built yet, and too many searches, are named", async ({ local }) => {
	local.context.settings = { ...local.context.settings, site: true };
	local.pages = folderPages(join(local.folder, "unbuilt"), false);
	await using unbuilt = await listen(local);
	const answer = await fetch(`${unbuilt.origin}/collections`, french);
	await assertBusy(answer, "le catalogue est en cours de construction");
	const [held, open] = gate();
	const text = async (file: string) => (file === pageSettingsPath ? "{}" : held.then(() => null));
	local.pages = new Catalogue({
		find: async () => null,
		text,
		headers: {},
		isSecure: false,
		isLive: true,
	}).answer;
	await using service = await listen(local);
	const address = `${service.origin}/collections/layers/items`;
	const asked = Array.from({ length: maxSearches + 1 }, () => fetch(address, french));
	await assertBusy(await Promise.race(asked), "trop de recherches attendent");
	open();
	await Promise.all(asked);
});

/** A hook that git runs before it moves a branch. */
const hookOf = ({ repository }: Local) => join(repository, "hooks/reference-transaction");

/** Makes git's `update-ref` fail with a message, as it passes on that of the system. */
async function failWith(local: Local, message: string): Promise<void> {
	await mkdir(dirname(hookOf(local)), { recursive: true });
	const lines = ["#!/bin/sh", "grep -q refs/heads/ || exit 0", `echo '${message}' >&2`, "exit 1", ""];
	await writeFile(hookOf(local), lines.join("\n"), { mode: 0o755 });
}

function signalGit({ folder }: Local, name: NodeJS.Signals): void {
	for (const pid of descendantsWith(process.pid, folder, "update-ref")) signalIfThere(pid, name);
}

/** Each cause, and the reason that a publisher gets. What the service does not recover from is last. */
const causes: [cause: (local: Local) => unknown, reason: RegExp][] = [
	[(local) => failWith(local, "something else"), /^git failed$/],
	[(local) => failWith(local, "No space left on device"), /^there is no room on the disk$/],
	[(local) => signalGit(local, "SIGSTOP"), /^git does not answer$/],
	[
		async (local) => local.git("update-ref", "refs/heads/main", await local.git("rev-parse", "main~1")),
		/^the branch main is at [0-9a-f]{12}, which does not have [0-9a-f]{12}/,
	],
	[(local) => local.store.close(), /the service is/],
];

test("a write that git or the disk does not take is answered with 503 and the reason, and nothing is stored", async ({
	local,
}) => {
	for (const [cause, reason] of causes) {
		await cause(local);
		const before = await local.state();
		const answer = await local.put("new", wms("other"));
		const { errors } = (await answer.json()) as { errors: string[] };
		assert.is(answer.status, 503, String(errors));
		assert.ok(Number(answer.headers.get("Retry-After")) > 0);
		assert.match(String(errors[0]).replace(/^.*?cannot be changed now: /, ""), reason);
		assert.is(await local.state(), before);
		await rm(hookOf(local), { force: true });
		// Its processes of git run again.
		await local.put("between", wms(crypto.randomUUID()));
	}
});

test.run();
