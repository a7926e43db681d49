import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { parseSenders } from "../../api/senders.ts";
import { sign } from "../../api/signature.ts";
import { type Environment, readConfiguration, sendersPath } from "../service/settings.ts";

/** What a publisher's command says: `<smallkey> [<file>] [--url U] [--sender S]`. */
export interface Command {
	smallkey: string;
	/** Path of the registration; null for a removal. */
	file: string | null;
	/** Address of the service with its base path, without a `/` at the end. */
	url: string;
	/** Id of the sender, or null for the first one of the senders file. */
	sender: string | null;
}

/** Reads the words of `put`, `sign` and `remove`. @throws {Error} with `usage` where they do not fit */
export function parseCommand(words: string[], usage: string, needsFile: boolean): Command {
	const { values, positionals } = parseWords(words, usage);
	const [smallkey, file, ...rest] = positionals;
	const fits = smallkey !== undefined && rest.length === 0 && (file !== undefined || !needsFile);
	if (!fits) throw new Error(`usage: ${usage}`);
	const url = (values.url ?? "http://127.0.0.1:8080").replace(/\/+$/, "");
	if (!/^https?:\/\//.test(url) || !URL.canParse(url))
		throw new Error(`--url: must be an http address, not ${url}`);
	return { smallkey, file: file ?? null, url, sender: values.sender ?? null };
}

function parseWords(words: string[], usage: string) {
	try {
		const options = { url: { type: "string" }, sender: { type: "string" } } as const;
		return parseArgs({ args: words, options, allowPositionals: true });
	} catch (error) {
		throw new Error(`${(error as Error).message}\nusage: ${usage}`);
	}
}

/** The request target of a layer at a service: `/register/23ax5t` behind the address's own path. */
export function targetOf(command: Command): string {
	const base = new URL(command.url).pathname.replace(/\/+$/, "");
	return `${base}/register/${encodeURIComponent(command.smallkey).replaceAll("%2B", "+").replaceAll("%3D", "=")}`;
}

/** The headers that sign a request (specification, "Request headers"). */
export interface SignedHeaders {
	Authorization: string;
	TimeStamp: string;
	Sender: string;
}

/**
 * Signs a request as a sender whose secret is in the environment (`SENDER_SECRET`, or `SENDERS`) or in the senders
 * file of `DATA_DIR`.
 */
export async function signRequest(
	command: Command,
	body: Uint8Array,
	env: Environment,
	now: Date,
): Promise<SignedHeaders> {
	const { sender, secret } = await findSecret(command.sender, env);
	const timestamp = now.toISOString();
	const signature = await sign(secret, { path: targetOf(command), sender, timestamp, body });
	return { Authorization: signature, TimeStamp: timestamp, Sender: sender };
}

async function findSecret(id: string | null, env: Environment): Promise<{ sender: string; secret: string }> {
	if (env.SENDER_SECRET) {
		if (id === null) throw new Error("--sender: is needed with SENDER_SECRET");
		return { sender: id, secret: env.SENDER_SECRET };
	}
	const place = env.SENDERS ? "SENDERS" : sendersPath(readConfiguration(env).dataDir);
	const text = env.SENDERS || (await readFile(place, "utf8").catch(() => null));
	if (text === null) throw new Error(`${place}: is not there; start the service once, or set SENDER_SECRET`);
	const senders = parseSenders(text, place);
	const sender = id === null ? [...senders.values()][0] : senders.get(id);
	if (!sender) throw new Error(`${place}: has no sender ${id ?? ""}`.trimEnd());
	return { sender: sender.id, secret: sender.secret };
}

/** Sends a signed request and prints the receipt, or the errors; the exit code. */
export async function send(
	method: string,
	command: Command,
	headers: SignedHeaders,
	body: Uint8Array,
): Promise<number> {
	const address = new URL(command.url).origin + targetOf(command);
	const init = { method, headers: { ...headers, "Content-Type": "application/json" } };
	const answer = await fetch(
		address,
		body.length > 0 ? { ...init, body: body as Uint8Array<ArrayBuffer> } : init,
	);
	const text = await answer.text();
	if (answer.ok) {
		console.log(text === "" ? `${answer.status} ${command.smallkey}` : pretty(text));
		return 0;
	}
	console.error(`${answer.status} from ${address}`);
	for (const error of errorsOf(text)) console.error(error);
	return 1;
}

function pretty(text: string): string {
	return JSON.stringify(JSON.parse(text), null, 2);
}

function errorsOf(text: string): string[] {
	try {
		const { errors } = JSON.parse(text) as { errors: unknown };
		return Array.isArray(errors) ? errors.map(String) : [text];
	} catch {
		return text === "" ? [] : [text];
	}
}
