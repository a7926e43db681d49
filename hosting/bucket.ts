import { setTimeout as sleep } from "node:timers/promises";
import { AwsClient } from "aws4fetch";
import type { Environment } from "../service/settings.ts";

/** Headers that are stored with an object. */
export type ObjectHeaders = Readonly<Record<string, string>>;

/** Longest wait for one answer, in milliseconds, and most attempts of a request. */
const patience = 30_000;
const maxAttempts = 5;

/** A bucket of an S3-compatible store (Amazon S3, "REST API"; Cloudflare R2, "S3 API compatibility"). */
export class Bucket {
	/** Its name, and its address without a slash at the end. */
	readonly #name: string;
	readonly #address: string;
	readonly #client: AwsClient;

	/** Reads the bucket's settings from the environment. @throws {Error} with a line for each missing variable */
	constructor(env: Environment) {
		const problems: string[] = [];
		const text = (name: string, what: string) => {
			if (!env[name]) problems.push(`${name}: is needed: ${what}`);
			return env[name] ?? "";
		};
		const endpoint = text("OBJECTS_ENDPOINT", "the address of the S3 service, without the bucket");
		this.#name = text("OBJECTS_BUCKET", "the bucket's name");
		const accessKeyId = text("AWS_ACCESS_KEY_ID", "a key that may read and write the bucket");
		const secretAccessKey = text("AWS_SECRET_ACCESS_KEY", "the key's secret");
		if (endpoint !== "" && !(/^https?:\/\//.test(endpoint) && URL.canParse(endpoint)))
			problems.push("OBJECTS_ENDPOINT: must be an http or https address");
		if (problems.length > 0) throw new Error(problems.join("\n"));
		const session = env.AWS_SESSION_TOKEN ? { sessionToken: env.AWS_SESSION_TOKEN } : {};
		const region = env.OBJECTS_REGION || "auto";
		this.#address = `${endpoint.replace(/(?<!\/)\/+$/, "")}/${encodeURIComponent(this.#name)}`;
		this.#client = new AwsClient({
			accessKeyId,
			secretAccessKey,
			...session,
			region,
			service: "s3",
			retries: 0,
		});
	}

	/** Reads an object; null if there is none. */
	async get(name: string): Promise<Buffer | null> {
		const { status, body } = await this.#send("GET", name, [200, 404]);
		// A missing bucket is not an empty one.
		if (status === 404 && codeOf(body) !== "NoSuchKey") throw this.#refused("GET", name, status, body);
		return status === 404 ? null : body;
	}

	/** Stores an object atomically. @param sha256 of the bytes, in hex, which the store checks */
	async put(name: string, bytes: Buffer, sha256: string, headers: ObjectHeaders): Promise<void> {
		await this.#send("PUT", name, [200], bytes, { ...headers, "X-Amz-Content-Sha256": sha256 });
	}

	/** Removes an object, if it exists. */
	async remove(name: string): Promise<void> {
		await this.#send("DELETE", name, [200, 204, 404]);
	}

	/** Sends a request, and retries it where the network or the store fails, or the store limits requests. */
	async #send(method: string, name: string, right: number[], bytes?: Buffer, headers: ObjectHeaders = {}) {
		const path = name.split("/").map(encodeURIComponent).join("/");
		const url = `${this.#address}/${path}`;
		for (let tries = 1; ; tries += 1) {
			try {
				const signal = AbortSignal.timeout(patience);
				const init = bytes ? { body: new Uint8Array(bytes) } : {};
				const answer = await this.#client.fetch(url, { method, headers, signal, ...init });
				const body = Buffer.from(await answer.arrayBuffer());
				if (right.includes(answer.status)) return { status: answer.status, body };
				const passing = answer.status >= 500 || answer.status === 429 || answer.status === 408;
				if (!passing || tries === maxAttempts) throw this.#refused(method, name, answer.status, body);
			} catch (error) {
				if (error instanceof Refused) throw error;
				if (tries === maxAttempts) throw new Error(`${method} ${name}: ${causeOf(error as Error)}`);
			}
			await sleep(100 * 2 ** tries * (0.5 + Math.random()));
		}
	}

	#refused(method: string, name: string, status: number, body: Buffer): Refused {
		const code = codeOf(body);
		const where = `${method} ${name} in the bucket ${this.#name}`;
		return new Refused(`${where}: the store answers ${status}${code ? ` ${code}` : ""}`);
	}
}

/** The store's final answer to a request. */
class Refused extends Error {}

/** The code in the store's description of an error (Amazon S3, "Error responses"). */
function codeOf(body: Buffer): string {
	return /<Code>(\w+)<\/Code>/.exec(body.toString("utf8"))?.[1] ?? "";
}

/** A failed request in words. */
export function causeOf({ message, cause }: Error): string {
	return cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message;
}
