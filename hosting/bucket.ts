import { setTimeout as sleep } from "node:timers/promises";
import { AwsClient } from "aws4fetch";
import type { Environment } from "../service/settings.ts";

/** Where the objects are kept: any store that speaks the S3 protocol. */
export interface BucketSettings {
	/** `https://<account>.r2.cloudflarestorage.com`, `https://s3.ca-central-1.amazonaws.com`; without the bucket. */
	endpoint: string;
	bucket: string;
	/** `auto` for R2. */
	region: string;
	accessKeyId: string;
	secretAccessKey: string;
	sessionToken: string;
}

/** Headers that an object is kept and served with. */
export type ObjectHeaders = Readonly<Record<string, string>>;

/** Longest wait for one answer, in milliseconds, and how often a request is sent. */
const patience = 30_000;
const mostTries = 5;

/** Reads where the bucket is from the environment. @throws {Error} with a line for each variable that is missing */
export function readBucketSettings(env: Environment): BucketSettings {
	const problems: string[] = [];
	const text = (name: string, what: string) => {
		if (!env[name]) problems.push(`${name}: is needed: ${what}`);
		return env[name] ?? "";
	};
	const settings = {
		endpoint: text("OBJECTS_ENDPOINT", "the address of the S3 service, without the bucket").replace(
			/(?<!\/)\/+$/,
			"",
		),
		bucket: text("OBJECTS_BUCKET", "the bucket's name"),
		region: env.OBJECTS_REGION || "auto",
		accessKeyId: text("AWS_ACCESS_KEY_ID", "a key that may read and write the bucket"),
		secretAccessKey: text("AWS_SECRET_ACCESS_KEY", "the key's secret"),
		sessionToken: env.AWS_SESSION_TOKEN ?? "",
	};
	const isAddress = /^https?:\/\//.test(settings.endpoint) && URL.canParse(settings.endpoint);
	if (settings.endpoint !== "" && !isAddress)
		problems.push("OBJECTS_ENDPOINT: must be an http or https address");
	if (problems.length > 0) throw new Error(problems.join("\n"));
	return settings;
}

/** A bucket of an S3-compatible store (Amazon S3, "REST API"; Cloudflare R2, "S3 API compatibility"). */
export class Bucket {
	readonly #settings: BucketSettings;
	readonly #client: AwsClient;

	constructor(settings: BucketSettings) {
		const { accessKeyId, secretAccessKey, sessionToken, region } = settings;
		this.#settings = settings;
		const credentials = { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
		this.#client = new AwsClient({ ...credentials, region, service: "s3", retries: 0 });
	}

	/** The bytes of an object, or null where there is none. */
	async get(name: string): Promise<Buffer | null> {
		const { status, body } = await this.#send("GET", name, [200, 404]);
		// A bucket that is not there is no empty bucket.
		if (status === 404 && codeOf(body) !== "NoSuchKey") throw this.#refused("GET", name, status, body);
		return status === 404 ? null : body;
	}

	/** Stores an object whole, or not at all. @param sha256 of the bytes in hex: the store checks it */
	async put(name: string, bytes: Buffer, sha256: string, headers: ObjectHeaders): Promise<void> {
		await this.#send("PUT", name, [200], bytes, { ...headers, "X-Amz-Content-Sha256": sha256 });
	}

	/** Removes an object, if it is there. */
	async remove(name: string): Promise<void> {
		await this.#send("DELETE", name, [200, 204, 404]);
	}

	/** Sends a request, and again where the network, the store's limits or the store itself fail. */
	async #send(method: string, name: string, right: number[], bytes?: Buffer, headers: ObjectHeaders = {}) {
		const path = name.split("/").map(encodeURIComponent).join("/");
		const url = `${this.#settings.endpoint}/${encodeURIComponent(this.#settings.bucket)}/${path}`;
		for (let tries = 1; ; tries += 1) {
			try {
				const signal = AbortSignal.timeout(patience);
				const init = bytes ? { body: new Uint8Array(bytes) } : {};
				const answer = await this.#client.fetch(url, { method, headers, signal, ...init });
				const body = Buffer.from(await answer.arrayBuffer());
				if (right.includes(answer.status)) return { status: answer.status, body };
				const passing = answer.status >= 500 || answer.status === 429 || answer.status === 408;
				if (!passing || tries === mostTries) throw this.#refused(method, name, answer.status, body);
			} catch (error) {
				if (error instanceof Refused) throw error;
				if (tries === mostTries) throw new Error(`${method} ${name}: ${causeOf(error as Error)}`);
			}
			await sleep(100 * 2 ** tries * (0.5 + Math.random()));
		}
	}

	#refused(method: string, name: string, status: number, body: Buffer): Refused {
		const code = codeOf(body);
		const where = `${method} ${name} in the bucket ${this.#settings.bucket}`;
		return new Refused(`${where}: the store answers ${status}${code ? ` ${code}` : ""}`);
	}
}

/** The store's last word on a request. */
class Refused extends Error {}

/** The code of an error that the store describes (Amazon S3, "Error responses"). */
function codeOf(body: Buffer): string {
	return /<Code>(\w+)<\/Code>/.exec(body.toString("utf8"))?.[1] ?? "";
}

function causeOf({ message, cause }: Error): string {
	return cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message;
}
