import type { Fragment } from "../../registry/targets/facts.ts";
import { githubStore } from "../../store/github/github-store.ts";
import { etagOf } from "../../store/hashes.ts";
import { type Store, StoreBusy } from "../../store/store.ts";
import { type Environment, readGitHub, readServing, Variables } from "../configuration.ts";
import { type Context, onceEach, type WriteLimiter } from "../context.ts";
import type { ReadSettings } from "../read-request.ts";
import { parseSenders } from "../senders.ts";

export interface Bindings {
	/** Workers, "Static assets", binding. */
	ASSETS?: { fetch(address: string): Promise<Response> };
	/** Used instead of ASSETS (R2, "Workers API reference"). */
	OBJECTS?: { get(name: string): Promise<{ httpEtag: string; arrayBuffer(): Promise<ArrayBuffer> } | null> };
	/** Workers, "Rate limiting", binding; without it, writes are not limited. */
	WRITES?: { limit(options: { key: string }): Promise<{ success: boolean }> };
	[variable: string]: unknown;
}

export function filesOf({ ASSETS, OBJECTS }: Bindings): (file: string) => Promise<Fragment | null> {
	if (!ASSETS && !OBJECTS) throw new Error("the binding ASSETS (or OBJECTS) is missing: see wrangler.jsonc");
	return async (file) => {
		const object = await OBJECTS?.get(file);
		if (object) return { body: new Uint8Array(await object.arrayBuffer()), etag: object.httpEtag };
		if (OBJECTS || !ASSETS) return null;
		// A literal + or = causes a redirect. The binding ignores the host.
		const path = file.split("/").map(encodeURIComponent).join("/");
		const response = await ASSETS.fetch(`http://assets/${path}`);
		if (response.status === 404) return null;
		if (response.status !== 200) throw new Error(`ASSETS: answers ${response.status} to /${path}`);
		const body = new Uint8Array(await response.arrayBuffer());
		// As without the worker, but strong, since the body is not compressed here.
		return { body, etag: response.headers.get("ETag")?.replace(/^W\//, "") ?? etagOf(body) };
	};
}

/**
 * A fetch for each key: a request may make 50 on the free plan, 10,000 on the paid one (Workers, "Limits").
 */
const docsMaxKeys = { fallback: 45, max: 900 };

/** Each takes up to five of the free plan's 50 fetches. */
const maxBatch = 4;

const retryAfterSeconds = 3600;

export function readSettings(bindings: Bindings): ReadSettings {
	const variables = new Variables(bindings as Environment);
	const settings = readServing(variables, docsMaxKeys);
	variables.check();
	return settings;
}

export function makeContext(bindings: Bindings, log: Context["log"]): Context {
	const env = bindings as Environment;
	const variables = new Variables(env);
	const serving = readServing(variables, docsMaxKeys);
	const github = readGitHub(variables);
	variables.check();
	const senders = parseSenders(sendersText(env) || "{}", "SENDERS");
	const now = () => new Date();
	const store = github ? githubStore({ ...github, now, maxBatch }) : noStore;
	const settings = { ...serving, senders };
	const readiness = () => (github ? null : noRepository);
	return { store, settings, now, log, readiness, limiter: limiterOf(bindings) };
}

/** `SENDERS`, `SENDERS_2` … up to the first blank one. Each has at most 5 kB (Workers, "Limits"). */
function sendersText(env: Environment): string {
	const parts = [env.SENDERS];
	while (parts.at(-1)?.trim()) parts.push(env[`SENDERS_${parts.length + 1}`]);
	return parts.slice(0, -1).join("");
}

const limitPeriodSeconds = 60;

/** No further tokens are taken for a wrong signature. */
function limiterOf({ WRITES }: Bindings): WriteLimiter | undefined {
	if (!WRITES) return undefined;
	const waitSeconds = async (key: string) => ((await WRITES.limit({ key })).success ? 0 : limitPeriodSeconds);
	return {
		address: (address) => waitSeconds(`address ${address}`),
		sender: onceEach((id) => waitSeconds(`sender ${id}`)),
		punish: () => undefined,
	};
}

const noRepository = "GITHUB_REPOSITORY: is not set, so that nothing can be written";

const noStore: Store = {
	published: false,
	read: refuse,
	ids: refuse,
	spellings: refuse,
	change: refuse,
	remember: async () => true,
};

function refuse(): Promise<never> {
	throw new StoreBusy("read-only", retryAfterSeconds, noRepository);
}
