import { maxRegistrationBytes } from "../../registry/registration.ts";
import type { Fragment } from "../../registry/targets/facts.ts";
import { githubStore } from "../../store/github/github-store.ts";
import { concat, etagOf } from "../../store/hashes.ts";
import { type Store, StoreBusy } from "../../store/store.ts";
import { answer, answerFailure, isWriteMethod, type Route, routeOf } from "../app.ts";
import { type Environment, readGitHub, readServing, Variables } from "../configuration.ts";
import type { Context, OtherRoute } from "../context.ts";
import type { LimitWrites } from "../limits.ts";
import type { WriteRoute } from "../register.ts";
import { emptyBody, inLanguageOf, type Reply, refuse, tooLarge } from "../reply.ts";
import { parseSenders } from "../senders.ts";
import { answerWrite, writeHeaders } from "../write.ts";

export interface Bindings {
	/** Workers, "Static assets". */
	ASSETS?: { fetch(address: string): Promise<Response> };
	/** Used instead of ASSETS (R2, "Workers API reference"). */
	OBJECTS?: { get(name: string): Promise<{ httpEtag: string; arrayBuffer(): Promise<ArrayBuffer> } | null> };
	/** Workers, "Rate limiting"; without it, writes are not limited. */
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
		// Strong, since the body is not compressed here.
		return { body, etag: response.headers.get("ETag")?.replace(/^W\//, "") ?? etagOf(body) };
	};
}

/** A request may fetch 50 times on the free plan, 10,000 on the paid one (Workers, "Limits"). */
const docsMaxKeys = { fallback: 45, max: 900 };

/** A change takes up to five fetches. */
const maxBatch = 4;

const retryAfterSeconds = 3600;

export function readSettings(bindings: Bindings) {
	const variables = new Variables(bindings as Environment);
	const settings = readServing(variables, docsMaxKeys);
	variables.check();
	return settings;
}

export function makeContext(
	bindings: Bindings,
	serving: ReturnType<typeof readSettings>,
	log: Context["log"],
): Context {
	const variables = new Variables(bindings as Environment);
	const github = readGitHub(variables);
	variables.check();
	const senders = parseSenders(sendersText(variables.environment) || "{}", "SENDERS");
	const now = () => new Date();
	const store = github ? githubStore({ ...github, now, maxBatch }) : noStore;
	const settings = { ...serving, senders };
	const readiness = () => (github ? null : noRepository);
	return { store, settings, now, log, readiness, limitWrites: limitOf(bindings) };
}

/** `SENDERS`, `SENDERS_2` … up to a blank one: each has at most 5 kB (Workers, "Limits"). */
function sendersText(env: Environment): string {
	const parts = [env.SENDERS];
	while (parts.at(-1)?.trim()) parts.push(env[`SENDERS_${parts.length + 1}`]);
	return parts.slice(0, -1).join("");
}

const limitPeriodSeconds = 60;

function limitOf({ WRITES }: Bindings): LimitWrites | undefined {
	return WRITES && (async (key) => ((await WRITES.limit({ key })).success ? 0 : limitPeriodSeconds));
}

const noRepository = "GITHUB_REPOSITORY: is not set, so that nothing can be written";

const noStore: Store = {
	served: refuseAll,
	change: refuseAll,
	remember: async () => true,
};

function refuseAll(): Promise<never> {
	throw new StoreBusy("read-only", retryAfterSeconds, noRepository);
}

export class FragmentWorker {
	readonly #errors: Context["log"] = {
		error: (error) => this.log({ error: error instanceof Error ? error.message : String(error) }),
	};
	/** Other bindings are those of another isolate. */
	#settings: ReturnType<typeof readSettings> | undefined;
	#context: Context | undefined;

	constructor(
		readonly log: (fields: object) => void,
		readonly routesOf: (bindings: Bindings) => readonly OtherRoute[],
		readonly writes: readonly WriteRoute[],
	) {}

	readonly fetch = async (request: Request, bindings: Bindings): Promise<Response> => {
		const { method, url, headers } = request;
		// As sent: `URL` would change it.
		const target = url.slice(url.indexOf("/", url.indexOf("//") + 2));
		const made = await this.#answer(request, target, bindings);
		const reply = inLanguageOf(made, headers.get("Accept-Language"));
		const isWrite = isWriteMethod(method);
		if (reply.status >= 400 || isWrite) {
			const id = headers.get("CF-Ray") ?? crypto.randomUUID();
			reply.headers["X-Request-Id"] = id;
			const path = target.split("?", 1)[0];
			const sender = isWrite ? headers.get("Sender") : null;
			this.log({ id, method, path, status: reply.status, sender, cause: reply.cause });
		}
		return toResponse(reply);
	};

	#settingsOf(bindings: Bindings) {
		this.#settings ??= readSettings(bindings);
		return this.#settings;
	}

	#contextOf(bindings: Bindings): Context {
		this.#context ??= makeContext(bindings, this.#settingsOf(bindings), this.#errors);
		return this.#context;
	}

	async #answer(request: Request, target: string, bindings: Bindings): Promise<Reply> {
		let kind: Route["kind"] = "refused";
		try {
			// The engine resets the connection of an unread body.
			const body = await readBody(request);
			const settings = this.#settingsOf(bindings);
			const routes = settings.site ? this.routesOf(bindings) : [];
			const { method, headers } = request;
			const route = routeOf(method, target, settings, { writes: this.writes, routes });
			kind = route.kind;
			if (kind === "healthz" || kind === "readyz") {
				filesOf(bindings);
				this.#contextOf(bindings);
			}
			return await answer(route, settings.basePath, {
				context: {
					readiness: () => this.#contextOf(bindings).readiness(),
					commit: typeof BUNDLED_COMMIT === "string" ? BUNDLED_COMMIT : null,
				},
				get file() {
					const find = filesOf(bindings);
					return (folder: string, smallkey: string) => find(`${folder}/${smallkey}`);
				},
				ifNoneMatch: headers.get("If-None-Match"),
				write: async (route) => {
					const signed = writeHeaders((name) => headers.get(name));
					const address = headers.get("CF-Connecting-IP");
					const write = { route, method, target, address, body, ...signed };
					return answerWrite(write, this.#contextOf(bindings));
				},
				client: () => [],
				question: () => ({ acceptEncoding: "", address: null }),
			});
		} catch (error) {
			return answerFailure(error, kind, this.#errors);
		}
	}
}

/** Defined by `extensions/hosting/deployment.ts`. */
declare const BUNDLED_COMMIT: string | null | undefined;

const maxDiscardedBytes = 16 * 1024 * 1024;

/** A Reply refuses the body. */
async function readBody(request: Request): Promise<Uint8Array | Reply> {
	if (!request.body) return emptyBody;
	const chunks: Uint8Array[] = [];
	let length = 0;
	for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
		length += chunk.length;
		if (length > maxDiscardedBytes) break;
		if (length <= maxRegistrationBytes) chunks.push(chunk);
	}
	if (length > maxRegistrationBytes) return refuse(tooLarge);
	return concat(chunks);
}

function toResponse({ status, headers, body }: Reply): Response {
	const bytes = body.length > 0 ? (body as Uint8Array<ArrayBuffer>) : null;
	return new Response(bytes, { status, headers });
}
