import { setTimeout as sleep } from "node:timers/promises";
import { AwsClient } from "aws4fetch";
import type { Environment } from "../service/settings.ts";

/** Longest wait for one answer, in milliseconds, and the maximum of attempts of a request. */
const timeoutMs = 30_000;
const maxAttempts = 5;

/** A bucket of an S3-compatible store (Amazon S3, "REST API"; Cloudflare R2, "S3 API compatibility"). */
export class Bucket {
	/** The bucket's name, and its address without a slash at the end. */
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
		this.#address = `${endpoint.replace(/(?<!\/)\/+$/, "")}/${encodeURIComponent(this.#name)}`;
		this.#client = new AwsClient({
			accessKeyId,
			secretAccessKey,
			...(env.AWS_SESSION_TOKEN && { sessionToken: env.AWS_SESSION_TOKEN }),
			region: env.OBJECTS_REGION || "auto",
			service: "s3",
			retries: 0,
		});
	}

	/** Reads an object; null if there is none. */
	async get(name: string): Promise<Buffer | null> {
		const { status, body } = await this.#send("GET", name, [200, 404]);
		// 404 with another code: the bucket itself is missing.
		if (status === 404 && codeOf(body) !== "NoSuchKey") throw this.#refused("GET", name, status, body);
		return status === 404 ? null : body;
	}

	/** Stores an object atomically. @param sha256 SHA-256 of the bytes in hex, which the store checks */
	async put(name: string, bytes: Buffer, sha256: string, headers: Record<string, string>): Promise<void> {
		await this.#send("PUT", name, [200], bytes, { ...headers, "X-Amz-Content-Sha256": sha256 });
	}

	/** Removes an object, if it exists. */
	async remove(name: string): Promise<void> {
		await this.#send("DELETE", name, [200, 204, 404]);
	}

	/** Sends a request, and retries it if the network or the store fails, or the store limits requests. */
	async #send(
		method: string,
		name: string,
		accepted: number[],
		bytes?: Buffer,
		headers: Record<string, string> = {},
	) {
		const path = name.split("/").map(encodeURIComponent).join("/");
		const url = `${this.#address}/${path}`;
		for (let attempt = 1; ; attempt += 1) {
			try {
				const signal = AbortSignal.timeout(timeoutMs);
				const init = bytes ? { body: new Uint8Array(bytes) } : {};
				const answer = await this.#client.fetch(url, { method, headers, signal, ...init });
				const body = Buffer.from(await answer.arrayBuffer());
				if (accepted.includes(answer.status)) return { status: answer.status, body };
				const isTemporary = answer.status >= 500 || answer.status === 429 || answer.status === 408;
				if (!isTemporary || attempt === maxAttempts) throw this.#refused(method, name, answer.status, body);
			} catch (error) {
				if (error instanceof RefusedError) throw error;
				if (attempt === maxAttempts) throw new Error(`${method} ${name}: ${causeOf(error as Error)}`);
			}
			await sleep(100 * 2 ** attempt * (0.5 + Math.random()));
		}
	}

	#refused(method: string, name: string, status: number, body: Buffer): RefusedError {
		const code = codeOf(body);
		const where = `${method} ${name} in the bucket ${this.#name}`;
		return new RefusedError(`${where}: the store answers ${status}${code ? ` ${code}` : ""}`);
	}
}

/** An answer of the store that is not retried. */
class RefusedError extends Error {}

/** The code in the store's description of an error (Amazon S3, "Error responses"). */
function codeOf(body: Buffer): string {
	return /<Code>(\w+)<\/Code>/.exec(body.toString("utf8"))?.[1] ?? "";
}

/** The message of a failed request, with its cause. */
export function causeOf({ message, cause }: Error): string {
	return cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message;
}
