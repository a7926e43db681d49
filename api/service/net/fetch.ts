import type { buildConnector, Dispatcher } from "undici";
import { causeOf } from "../../../registry/health.ts";
import { checkLiteral, createLookup, FetchFailure, type Resolve, toFailure } from "./failure.ts";

interface FetchOptions {
	allowPrivate?: boolean;
	timeoutMs?: number;
	maxBytes?: number;
	httpsProxy?: string;
	httpProxy?: string;
	/** `NO_PROXY`: `*`, or addresses and names with their subdomains, separated by commas. */
	noProxy?: string;
	onRequest?: (url: URL) => void;
	resolve?: Resolve;
}

/** Rejects only if `parts` does. */
export type Take = (
	parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
	contentType: string,
) => Promise<void>;

interface GuardedInit extends RequestInit {
	take?: Take | undefined;
}

export type GuardedFetch = (input: string | URL | Request, init?: GuardedInit) => Promise<Response>;

const defaultTimeoutMs = 10_000;

/** In bytes, of a body that is read in parts; more time for each second at this rate. */
const maxTakenBytes = 64_000_000;
const minRate = 1_000_000;

const maxRedirects = 3;

/** Below a request's limit, to recognize a dead host. */
const maxConnectMs = 5_000;

const userAgent = "fragment-publisher";

/**
 * For all requests to map services and GitHub. It follows redirects unless `redirect` is `manual`, and allows
 * http and https only. It checks every address to which a name resolves, at each connection; behind a proxy,
 * which resolves names, literal addresses only. It sends no cookies, and no credentials to another origin. It
 * resolves with the complete answer, and rejects with a `FetchFailure` or the reason of the caller's signal.
 */
export function createFetch(options: FetchOptions = {}): GuardedFetch {
	const { timeoutMs = defaultTimeoutMs, maxBytes = 5_000_000 } = options;
	// On demand: its 95 modules take a tenth of a start.
	let client: Promise<ReturnType<typeof clientOf>> | undefined;

	async function fetchOnce(url: URL, init: GuardedInit, signal: AbortSignal): Promise<Response> {
		checkTarget(url, options.allowPrivate ?? false);
		options.onRequest?.(url);
		const headers = new Headers(init.headers);
		if (!headers.has("User-Agent")) headers.set("User-Agent", userAgent);
		client ??= import("undici").then((undici) => clientOf(undici, options));
		const { dispatcherFor, undiciFetch } = await client;
		const fixed = { signal, dispatcher: dispatcherFor(url), redirect: "manual", credentials: "omit" };
		const settings = { ...init, headers: [...headers], ...fixed };
		const answer = await undiciFetch(url, settings as Parameters<typeof undiciFetch>[1]);
		return answer as unknown as Response;
	}

	return async (input, init = {}) => {
		let url = new URL(String(input));
		let next = init;
		const limit = createLimit(timeoutMs);
		const signal = init.signal ? AbortSignal.any([limit.signal, init.signal]) : limit.signal;
		try {
			for (let redirects = 0; ; redirects += 1) {
				const answer = await fetchOnce(url, next, signal);
				const target = redirectTarget(answer, url);
				if (init.take && answer.ok) {
					const parts = partsOf(answer, maxTakenBytes, (bytes) => limit.extend((bytes / minRate) * 1000));
					await init.take(parts, answer.headers.get("Content-Type") ?? "");
					return responseOf(answer, url, null);
				}
				if (!target || init.redirect === "manual") return await readWhole(answer, url, maxBytes);
				await answer.body?.cancel();
				if (redirects === maxRedirects) throw new FetchFailure("redirect", causeOf("redirects"));
				next = afterRedirect(next, answer.status, url, target);
				url = target;
			}
		} catch (error) {
			// This use keeps both signals from garbage collection: in Node 20 they would not abort.
			if (signal.aborted && signal.reason === limit.signal.reason)
				throw new FetchFailure("time", causeOf("slow", timeoutMs / 1000));
			throw toFailure(error, signal);
		} finally {
			limit.end();
		}
	};
}

function createLimit(timeoutMs: number) {
	const controller = new AbortController();
	const start = performance.now();
	const timerIn = (ms: number) => setTimeout(() => controller.abort(), Math.max(ms, 0)).unref();
	let timer = timerIn(timeoutMs);
	return {
		signal: controller.signal,
		extend: (moreMs: number) => {
			clearTimeout(timer);
			timer = timerIn(start + timeoutMs + moreMs - performance.now());
		},
		end: () => clearTimeout(timer),
	};
}

/** Counts decompressed bytes, and closes the connection after `maxBytes`. */
async function* partsOf(answer: Response, maxBytes: number, onRead = (_bytes: number) => {}) {
	let bytes = 0;
	for await (const part of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
		bytes += part.length;
		if (bytes > maxBytes) throw new FetchFailure("size", causeOf("large", maxBytes.toLocaleString("en")));
		onRead(bytes);
		yield part;
	}
}

async function readWhole(answer: Response, url: URL, maxBytes: number): Promise<Response> {
	const parts: Uint8Array[] = [];
	for await (const part of partsOf(answer, maxBytes)) parts.push(part);
	// A 304 must not even have an empty body.
	return responseOf(answer, url, parts.length === 0 ? null : Buffer.concat(parts));
}

/** octokit's errors need the address. */
function responseOf({ status, statusText, headers }: Response, url: URL, body: BodyInit | null): Response {
	const response = new Response(body, { status, statusText, headers: [...headers] });
	return Object.defineProperty(response, "url", { value: url.href });
}

function checkTarget(url: URL, allowPrivate: boolean): void {
	if (!/^https?:$/.test(url.protocol)) throw new FetchFailure("address", causeOf("protocol", url.protocol));
	if (url.username || url.password) throw new FetchFailure("address", causeOf("credentials"));
	if (!allowPrivate) checkLiteral(url.hostname);
}

const maxLocationLength = 2_048;

const redirectStatuses = new Set([301, 302, 303, 307, 308]);

function redirectTarget(answer: Response, from: URL): URL | null {
	const location = answer.headers.get("Location");
	if (!redirectStatuses.has(answer.status) || location === null) return null;
	// A URL parser needs much time for a long host.
	if (location.length <= maxLocationLength && URL.canParse(location, from)) return new URL(location, from);
	throw new FetchFailure("redirect", causeOf("redirects"));
}

const privateHeaders = ["Authorization", "Cookie", "Proxy-Authorization"];

/** Fetch standard, section 4.4, HTTP-redirect fetch. */
function afterRedirect(init: RequestInit, status: number, from: URL, to: URL): RequestInit {
	const headers = new Headers(init.headers);
	if (from.origin !== to.origin) for (const name of privateHeaders) headers.delete(name);
	const method = (init.method ?? "GET").toUpperCase();
	const becomesGet = status === 303 ? method !== "HEAD" : status < 303 && method === "POST";
	if (!becomesGet) return { ...init, headers };
	for (const name of ["Content-Type", "Content-Length", "Content-Encoding"]) headers.delete(name);
	return { ...init, headers, method: "GET", body: null };
}

/**
 * Not undici's `EnvHttpProxyAgent` (6.29): its NO_PROXY `example.ca` does not exempt `maps.example.ca`, `::1`
 * exempts nothing without brackets, and it prints a warning (`UNDICI-EHPA`).
 */
function clientOf(undici: typeof import("undici"), options: FetchOptions) {
	const { Agent, ProxyAgent, fetch: undiciFetch } = undici;
	const { allowPrivate, resolve, timeoutMs = defaultTimeoutMs, noProxy = "" } = options;
	// `checkTarget` checks literal addresses.
	const lookup = allowPrivate ? {} : { lookup: createLookup(resolve) };
	const network = { timeout: Math.min(timeoutMs, maxConnectMs), ...lookup } as buildConnector.BuildOptions;
	const direct = new Agent({ connect: network });
	const agentOf = (proxy: string | undefined) => (proxy ? new ProxyAgent(proxy) : direct);
	const [http, https] = [agentOf(options.httpProxy), agentOf(options.httpsProxy)];
	const dispatcherFor = (url: URL): Dispatcher => {
		if (isExempt(url, noProxy)) return direct;
		return url.protocol === "https:" ? https : http;
	};
	return { dispatcherFor, undiciFetch };
}

export function isExempt({ hostname }: URL, noProxy: string): boolean {
	const host = hostname.replace(/^\[|\]$/g, "");
	return noProxy
		.toLowerCase()
		.split(/[\s,]+/)
		.some((entry) => {
			const name = entry.replace(/^\*?\.|^\[|\]$/g, "");
			return entry === "*" || host === name || (name !== "" && host.endsWith(`.${name}`));
		});
}
