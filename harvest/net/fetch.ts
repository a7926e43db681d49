import { Agent, type buildConnector, type Dispatcher, ProxyAgent, fetch as undiciFetch } from "undici";
import { addressRefused, createLookup, isPublicAddress, literalAddress, type Resolve } from "./addresses.ts";
import { FetchFailure, toFailure } from "./failure.ts";

/** What the guarded fetch may do. */
export interface FetchOptions {
	/** Whether addresses that are not public may be asked (`HARVEST_ALLOW_PRIVATE`). */
	allowPrivate?: boolean;
	/** Longest that a request may take, its body included, in milliseconds. */
	timeoutMs?: number;
	/** Most bytes of an answer's body, after decompression. */
	maxBytes?: number;
	maxRedirects?: number;
	/** Proxy for https requests (`HTTPS_PROXY`). */
	httpsProxy?: string;
	/** Proxy for http requests (`HTTP_PROXY`). */
	httpProxy?: string;
	/** Hosts that are asked without a proxy (`NO_PROXY`): names, `.suffix`, `host:port` or `*`, with commas. */
	noProxy?: string;
	/** Resolves names; tests hand in one of their own. */
	resolve?: Resolve;
	/** Connects in place of the network, in tests. */
	connect?: buildConnector.connector;
}

const defaultTimeoutMs = 10_000;

/** Longest that connecting may take, in milliseconds: below a request's time, so that a dead host shows as one. */
const maxConnectMs = 5_000;

/** The `User-Agent` of every request, so that the operator of a service knows the client. */
const userAgent = "fragment-publisher";

/**
 * Makes the guarded fetch: the web's `fetch` for addresses, which follows redirects, or leaves them with `manual`. All
 * requests to map services and GitHub use it.
 *
 * Only http and https. Each address that a name resolves to is checked when the connection is made, after every
 * redirect too; behind a proxy the proxy resolves names, so only literal addresses can be checked here. No cookies
 * and no credentials but those that the caller hands in, which a redirect to another origin loses.
 *
 * Resolves with the whole answer, its body read. Rejects with a `FetchFailure`: refused address, time-out, too large,
 * too many redirects, no connection. Where the caller's own signal aborts, it rejects with that signal's reason.
 */
export function createFetch(options: FetchOptions = {}): typeof fetch {
	const { timeoutMs = defaultTimeoutMs, maxBytes = 5_000_000, maxRedirects = 3 } = options;
	const dispatcherFor = createDispatchers(options);

	async function hop(url: URL, init: RequestInit, signal: AbortSignal): Promise<Response> {
		checkTarget(url, options.allowPrivate ?? false);
		const headers = new Headers(init.headers);
		if (!headers.has("User-Agent")) headers.set("User-Agent", userAgent);
		const own = { signal, dispatcher: dispatcherFor(url), redirect: "manual", credentials: "omit" };
		const settings = { ...init, headers: [...headers], ...own };
		const answer = await undiciFetch(url, settings as Parameters<typeof undiciFetch>[1]);
		return answer as unknown as Response;
	}

	return async (input, init = {}) => {
		let [url, next] = [new URL(String(input)), init];
		const clock = startClock(timeoutMs, init.signal ?? null);
		try {
			for (let redirects = 0; ; redirects += 1) {
				const answer = await hop(url, next, clock.signal);
				const target = redirectTarget(answer, url);
				if (!target || init.redirect === "manual") return await readWhole(answer, url, maxBytes);
				await answer.body?.cancel();
				if (redirects === maxRedirects) {
					throw new FetchFailure("redirect", `redirects more than ${maxRedirects} times`);
				}
				next = afterRedirect(next, answer.status, url, target);
				url = target;
			}
		} catch (error) {
			throw toFailure(error, clock.signal);
		} finally {
			clock.stop();
		}
	};
}

/**
 * Starts the clock of one request: its signal aborts when the time is over, or when the caller's own does. A signal
 * combined of others (`AbortSignal.any`) may be collected in Node 20 before it aborts.
 */
function startClock(timeoutMs: number, caller: AbortSignal | null): { signal: AbortSignal; stop(): void } {
	const controller = new AbortController();
	const late = () =>
		controller.abort(new FetchFailure("time", `did not answer completely within ${timeoutMs / 1000} s`));
	const timer = setTimeout(late, timeoutMs).unref();
	const follow = () => controller.abort(caller?.reason);
	if (caller?.aborted) follow();
	else caller?.addEventListener("abort", follow, { once: true });
	const stop = () => {
		clearTimeout(timer);
		caller?.removeEventListener("abort", follow);
	};
	return { signal: controller.signal, stop };
}

/** Statuses that never have a body (Fetch standard, "null body status"). */
const bodiless = new Set([101, 103, 204, 205, 304]);

/**
 * The answer with its body in memory. The bytes are counted after decompression, as they are read, so that a small
 * compressed answer cannot fill the memory. Past `maxBytes` the connection is closed.
 */
async function readWhole(answer: Response, url: URL, maxBytes: number): Promise<Response> {
	const parts: Uint8Array[] = [];
	let length = 0;
	for await (const part of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
		length += part.length;
		if (length > maxBytes)
			throw new FetchFailure("size", `answers with more than ${maxBytes.toLocaleString("en")} bytes`);
		parts.push(part);
	}
	const { status, statusText, headers } = answer;
	const body = bodiless.has(status) ? null : Buffer.concat(parts);
	const response = new Response(body, { status, statusText, headers: [...headers] });
	// A constructed Response has no address; octokit reports it in its errors.
	Object.defineProperty(response, "url", { value: url.href });
	return response;
}

function checkTarget(url: URL, allowPrivate: boolean): void {
	if (url.protocol !== "http:" && url.protocol !== "https:") {
		throw new FetchFailure("address", `${url.protocol} is not asked, only http and https`);
	}
	if (url.username || url.password) throw new FetchFailure("address", "an address must not hold credentials");
	const literal = literalAddress(url.hostname);
	if (!allowPrivate && literal && !isPublicAddress(literal)) throw addressRefused(url.hostname);
}

/** Longest address that a service may redirect to, in characters: as long as one that can be registered. */
const maxLocationLength = 2_048;

const redirectStatuses = new Set([301, 302, 303, 307, 308]);

function redirectTarget(answer: Response, from: URL): URL | null {
	const location = answer.headers.get("Location");
	if (!redirectStatuses.has(answer.status) || location === null) return null;
	// Length first: a URL parser takes long for a long host.
	if (location.length > maxLocationLength) {
		throw new FetchFailure("redirect", `redirects to an address of over ${maxLocationLength} characters`);
	}
	if (URL.canParse(location, from)) return new URL(location, from);
	throw new FetchFailure("redirect", "redirects to what is no address");
}

/** Headers that must not follow a request to another origin. */
const privateHeaders = ["Authorization", "Cookie", "Proxy-Authorization"];

/** The request after a redirect, as the Fetch standard has it (section 4.4, HTTP-redirect fetch). */
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
 * One connection pool for direct requests, and one for each proxy.
 *
 * Not undici's `EnvHttpProxyAgent` (6.29): its NO_PROXY is not curl's, since `example.ca` does not exempt
 * `maps.example.ca`, and an IPv6 address needs its brackets there (`::1` exempts nothing). It also sends https through
 * the proxy for http where no other is named, and prints a warning (`UNDICI-EHPA`) on standard error at every start.
 */
function createDispatchers(options: FetchOptions): (url: URL) => Dispatcher {
	const { allowPrivate, resolve, timeoutMs = defaultTimeoutMs } = options;
	// A literal address is never looked up: `checkTarget` has judged it.
	const lookup = allowPrivate ? {} : { lookup: createLookup(resolve) };
	const connectMs = Math.min(timeoutMs, maxConnectMs);
	const network = { timeout: connectMs, ...lookup } as buildConnector.BuildOptions;
	const direct = new Agent({ connect: options.connect ?? network });
	const proxies = new Map<string, ProxyAgent>();
	return (url) => {
		const proxy = url.protocol === "https:" ? options.httpsProxy : options.httpProxy;
		if (!proxy || isExempt(url, options.noProxy ?? "")) return direct;
		const agent = proxies.get(proxy) ?? new ProxyAgent(proxy);
		proxies.set(proxy, agent);
		return agent;
	};
}

/** Whether a host is asked without a proxy; the list is written as curl and others read it. */
export function isExempt(url: URL, noProxy: string): boolean {
	const port = url.port || (url.protocol === "https:" ? "443" : "80");
	const host = url.hostname.toLowerCase().replace(/^\[|\]$/g, "");
	return noProxy.split(/[\s,]+/).some((entry) => {
		// An IPv6 address may be written without brackets; then its last part is no port.
		if (entry === "*" || entry.toLowerCase() === host) return true;
		const [, name = "", wantedPort] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
		const suffix = name.replace(/^\*?\./, "");
		if (!suffix || (wantedPort && wantedPort !== port)) return false;
		return host === suffix || host.endsWith(`.${suffix}`);
	});
}
