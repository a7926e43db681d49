import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { answering, temporaryFolder } from "../../helpers/world.ts";
import { isSigned } from "./aws-signature.ts";

/** What is used of s3rver. */
interface S3Server {
	run(): Promise<AddressInfo>;
	close(): Promise<void>;
}

type S3Class = new (options: object) => S3Server;

/** The server's class, or null where it is not installed: it has a lock file of its own. */
function findS3Server(): S3Class | null {
	const load = createRequire(new URL("s3/package.json", import.meta.url));
	try {
		return load("s3rver") as S3Class;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") return null;
		throw error;
	}
}

/** Why the S3-compatible server cannot be had, or null. */
export const missingS3 = findS3Server()
	? null
	: "s3rver is not installed (npm ci --prefix tests/scripts/host/s3)";

/** One request as it passed on its way to the bucket. */
export interface Passed {
	method: string;
	/** The object's name. */
	name: string;
	status: number;
}

/** A bucket of an S3-compatible server, behind a proxy that the tests let fail. */
export interface S3Peer extends AsyncDisposable {
	/** The variables that name it. */
	env: Record<string, string>;
	/** Every request that the store has answered, in order. */
	passed: Passed[];
	/** Decides before a request is passed on: a status to answer instead, or `cut`; undefined passes it on. */
	fault: (method: string, name: string) => number | "cut" | undefined;
	/** An object as it is stored. */
	read(name: string): Promise<{ status: number; headers: Headers; text: string }>;
}

/** The id and the secret of the one key that s3rver knows. */
const secret = "S3RVER";

/** Starts one with an empty bucket called `fragments`. */
export async function startS3(): Promise<S3Peer> {
	const S3 = findS3Server();
	if (!S3) throw new Error(missingS3 ?? "");
	const folder = await temporaryFolder();
	const configureBuckets = [{ name: "fragments", configs: [] }];
	const directory = join(folder.path, "objects");
	const options = {
		address: "127.0.0.1",
		port: 0,
		silent: true,
		directory,
		configureBuckets,
		vhostBuckets: false,
	};
	const store = new S3(options);
	const { port } = await store.run();

	const peer: S3Peer = { env: {}, passed: [], fault: () => undefined, read, [Symbol.asyncDispose]: close };
	const proxy = await answering((asked, answer) => void pass(asked, answer, port, peer));
	peer.env = {
		OBJECTS_ENDPOINT: proxy.origin,
		OBJECTS_BUCKET: "fragments",
		OBJECTS_REGION: "us-east-1",
		AWS_ACCESS_KEY_ID: secret,
		AWS_SECRET_ACCESS_KEY: secret,
	};

	/** The bucket is read by anyone. */
	async function read(name: string) {
		const path = name.split("/").map(encodeURIComponent).join("/");
		const answer = await fetch(`http://127.0.0.1:${port}/fragments/${path}`);
		return { status: answer.status, headers: answer.headers, text: await answer.text() };
	}

	async function close() {
		await proxy[Symbol.asyncDispose]();
		await store.close();
		await folder.remove();
	}

	return peer;
}

async function pass(
	asked: IncomingMessage,
	answer: ServerResponse,
	port: number,
	peer: S3Peer,
): Promise<void> {
	const { method = "", url = "", headers } = asked;
	const name = decodeURIComponent(url.replace(/^\/fragments\//, ""));
	const fault = peer.fault(method, name);
	if (fault === "cut") return void asked.socket.destroy();
	const body = await buffer(asked);
	if (fault !== undefined) return refuse(answer, fault, "SlowDown");
	if (!isSigned(method, url, headers, body, secret)) return refuse(answer, 403, "SignatureDoesNotMatch");
	const sent = request({ host: "127.0.0.1", port, method, path: url, headers, agent: false }, (given) => {
		peer.passed.push({ method, name, status: given.statusCode ?? 0 });
		answer.writeHead(given.statusCode ?? 502, given.headers);
		given.pipe(answer);
	});
	sent.end(body);
}

function refuse(answer: ServerResponse, status: number, code: string): void {
	answer.writeHead(status, { "Content-Type": "application/xml" }).end(`<Error><Code>${code}</Code></Error>`);
}
