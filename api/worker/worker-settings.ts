import { githubStore } from "../../store/github/github-store.ts";
import { type Store, StoreBusy } from "../../store/store.ts";
import type { Environment } from "../configuration.ts";
import { readGitHub, readServing, Variables } from "../configuration.ts";
import { type Context, onceEach, type WriteLimiter } from "../context.ts";
import type { ReadSettings } from "../read-request.ts";
import { parseSenders } from "../senders.ts";
import type { Bindings } from "./reads.ts";

/** A fetch for each key: a request may make 50 on the free plan, 10,000 on the paid one (Workers, "Limits"). */
const docsMaxKeys = { fallback: 45, max: 900 };

/** Each change takes up to five of the free plan's 50 fetches. */
const maxBatch = 4;

const retryWithoutStore = 3600;

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

/** `SENDERS`, `SENDERS_2` … joined, up to the first blank one. Each has at most 5 kB (Workers, Limits). */
function sendersText(env: Environment): string {
	let text = "";
	for (let part = 1, more = env.SENDERS; more?.trim(); more = env[`SENDERS_${part}`]) {
		text += more;
		part += 1;
	}
	return text;
}

const limitPeriodSeconds = 60;

/** Cloudflare's limit cannot take further tokens for a wrong signature. */
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

/** A write with a valid signature gets 503. */
const noStore: Store = {
	...{ published: false, read: refuse, ids: refuse, keys: refuse, change: refuse },
	remember: async () => true,
};

function refuse(): Promise<never> {
	throw new StoreBusy("read-only", retryWithoutStore, noRepository);
}
