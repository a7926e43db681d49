import type { buildConnector, Dispatcher } from "undici";
import { isExempt } from "../../../api/service/proxy.ts";
import { causeOf } from "../../../site/data/health.ts";
import { checkLiteral, createLookup, FetchFailure, type Resolve, toFailure } from "./failure.ts";

interface FetchOptions {
	allowPrivate?: boolean;
	timeoutMs?: number;
	maxBytes?: number;
	httpsProxy?: string;
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

/** In bytes, of a body that is read in parts, and more time for it. */
const maxTakenBytes = 64_000_000;
const maxTakingMs = 64_000;

/** Below a request's limit, to recognize a dead host. */
const maxConnectMs = 5_000;

const userAgent = "fragment-publisher";

/**
 * For all requests to map services. Allows only http and https, also in redirects, which it follows unless
 * `redirect` is `manual`. Checks each address of a name at each connection; behind a proxy, which resolves
 * names, only literal addresses. Sends no cookies, and no credentials to another origin. Resolves with the
 * complete answer; rejects with a `FetchFailure` or the reason of the caller's signal.
 */
export function createFetch(options: FetchOptions = {}): GuardedFetch {
	const { timeoutMs = defaultTimeoutMs, maxBytes = 5_000_000 } = options;
	// On demand: its 95 modules take a tenth of a start.
	let client: Promise<ReturnType<typeof clientOf>> | undefined;

	return async (input, init = {}) => {
		const url = new URL(String(input));
		const limitMs = init.take ? timeoutMs + maxTakingMs : timeoutMs;
		const limit = AbortSignal.timeout(limitMs);
		const signal = init.signal ? AbortSignal.any([limit, init.signal]) : limit;
		try {
			if (!/^https?:$/.test(url.protocol) || url.username || url.password)
				throw new FetchFailure("address", causeOf("redirects"));
			const headers = new Headers(init.headers);
			if (!headers.has("User-Agent")) headers.set("User-Agent", userAgent);
			client ??= import("undici").then((undici) => clientOf(undici, options));
			const { dispatcher, undiciFetch } = await client;
			const settings = { ...init, headers: [...headers], signal, dispatcher, credentials: "omit" };
			const fetched: unknown = await undiciFetch(url, settings as Parameters<typeof undiciFetch>[1]);
			const answer = fetched as Response;
			if (!init.take || !answer.ok) return await readWhole(answer, maxBytes);
			await init.take(partsOf(answer, maxTakenBytes), answer.headers.get("Content-Type") ?? "");
			return responseOf(answer, null);
		} catch (error) {
			// This use keeps both signals from garbage collection: in Node 20 they would not abort.
			if (signal.aborted && signal.reason === limit.reason)
				throw new FetchFailure("time", causeOf("slow", limitMs / 1000));
			throw toFailure(error, signal, timeoutMs);
		}
	};
}

/** Counts decompressed bytes, and closes the connection after `maxBytes`. */
async function* partsOf(answer: Response, maxBytes: number) {
	let bytes = 0;
	for await (const part of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
		bytes += part.length;
		if (bytes > maxBytes) throw new FetchFailure("size", causeOf("large", maxBytes.toLocaleString("en")));
		yield part;
	}
}

async function readWhole(answer: Response, maxBytes: number): Promise<Response> {
	const parts: Uint8Array[] = [];
	for await (const part of partsOf(answer, maxBytes)) parts.push(part);
	// A 304 must not even have an empty body.
	return responseOf(answer, parts.length === 0 ? null : Buffer.concat(parts));
}

/** octokit's errors need the address. */
function responseOf({ status, statusText, headers, url }: Response, body: BodyInit | null): Response {
	const response = new Response(body, { status, statusText, headers: [...headers] });
	return Object.defineProperty(response, "url", { value: url });
}

function clientOf(undici: typeof import("undici"), options: FetchOptions) {
	const { Agent, ProxyAgent, fetch: undiciFetch } = undici;
	const {
		allowPrivate,
		resolve,
		timeoutMs = defaultTimeoutMs,
		noProxy = "",
		httpsProxy,
		onRequest,
	} = options;
	// A literal address is not looked up.
	const lookup = allowPrivate ? {} : { lookup: createLookup(resolve) };
	const connect = { timeout: Math.min(timeoutMs, maxConnectMs), ...lookup } as buildConnector.BuildOptions;
	const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
	const direct = new Agent({ connect, ...limits });
	const proxy = httpsProxy ? new ProxyAgent({ uri: httpsProxy, ...limits }) : direct;
	// undici calls it for each redirect, too.
	const dispatcher = direct.compose((): Dispatcher["dispatch"] => (request, handler) => {
		const url = new URL(String(request.origin));
		if (!allowPrivate) checkLiteral(url.hostname);
		onRequest?.(url);
		const isProxied = url.protocol === "https:" && !isExempt(url, noProxy);
		return (isProxied ? proxy : direct).dispatch(request, handler);
	});
	return { dispatcher, undiciFetch };
}
