import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { answering } from "../../helpers/world.ts";

export interface S3Peer extends AsyncDisposable {
	env: Record<string, string>;
	/** In order: `PUT v0.9/doc/en/a`. */
	writes: string[];
	/** Whether a request is cut off before it is answered. */
	fault: (method: string, name: string) => boolean;
	objects: Map<string, { bytes: Buffer; headers: Headers }>;
}

const key = "S3RVER";

export async function startS3(): Promise<S3Peer> {
	const server = await answering((request, response) => void answer(request, response, peer));
	const peer: S3Peer = {
		env: {
			OBJECTS_ENDPOINT: server.origin,
			OBJECTS_BUCKET: "fragments",
			OBJECTS_REGION: "us-east-1",
			AWS_ACCESS_KEY_ID: key,
			AWS_SECRET_ACCESS_KEY: "a secret of the bucket",
		},
		writes: [],
		fault: () => false,
		objects: new Map(),
		[Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
	};
	return peer;
}

/** As Amazon S3 ("PutObject", "DeleteObject", "HeadObject", "ListObjectsV2"). */
async function answer(
	request: IncomingMessage,
	response: ServerResponse,
	{ fault, writes, objects }: S3Peer,
) {
	const { method = "", headers } = request;
	const { pathname, searchParams } = new URL(request.url ?? "", "http://s3.example");
	const name = decodeURIComponent(pathname.replace(/^\/fragments\/?/, ""));
	if (fault(method, name)) return void request.socket.destroy();
	const bytes = await buffer(request);
	const refuse = (status: number, code: string) =>
		response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
	const signer = headers.authorization ?? searchParams.get("X-Amz-Credential") ?? "";
	if (!signer.includes(`${key}/`)) return refuse(403, "InvalidAccessKeyId");
	if (!/^\/fragments(?:\/|$)/.test(pathname)) return refuse(404, "NoSuchBucket");
	if (name === "") return response.writeHead(200).end(listing(objects, searchParams.get("prefix") ?? ""));
	const stored = objects.get(name);
	if (method === "HEAD" || method === "GET")
		return stored ? response.writeHead(200, describe(stored.bytes)).end() : refuse(404, "NoSuchKey");
	writes.push(`${method} ${name}`);
	if (method === "DELETE") objects.delete(name);
	else objects.set(name, { bytes, headers: new Headers(headers as Record<string, string>) });
	if (method === "DELETE") return response.writeHead(204).end();
	return response.writeHead(200, { ETag: describe(bytes).ETag }).end();
}

const md5 = (bytes: Buffer) => createHash("md5").update(bytes).digest("hex");
const date = new Date(0);

function describe(bytes: Buffer) {
	return { ETag: `"${md5(bytes)}"`, "Last-Modified": date.toUTCString(), "Content-Length": bytes.length };
}

function listing(objects: S3Peer["objects"], prefix: string) {
	const contents = [...objects]
		.filter(([name]) => name.startsWith(prefix))
		.map(
			([name, { bytes }]) =>
				`<Contents><Key>${name}</Key><ETag>"${md5(bytes)}"</ETag><Size>${bytes.length}</Size><LastModified>${date.toISOString()}</LastModified></Contents>`,
		);
	return `<ListBucketResult><IsTruncated>false</IsTruncated>${contents.join("")}</ListBucketResult>`;
}

export const missingRclone =
	spawnSync("rclone", ["version"]).status === 0 ? null : "rclone is not installed (apt-get install rclone)";
