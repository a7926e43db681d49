import { readFile } from "node:fs/promises";
import { parseSmallkey, smallkeyRule } from "../registry/smallkey.ts";
import { counted, shorten, visible } from "../registry/untrusted.ts";
import { utf8Of } from "../store/files/files.ts";
import {
	findSecret,
	ifMatchOption,
	requestOptions,
	type SignedRequest,
	sendRequest,
	signWith,
} from "./send/request.ts";
import { removeMany } from "./send/send-batch.ts";
import { createRun } from "./terminal/command-line.ts";

/** Node's error does not name the folder. */
function readNamed(path: string): Promise<Buffer> {
	return readFile(path).catch((error) => {
		throw error.code === "EISDIR" ? new Error(`${path}: is a folder`) : error;
	});
}

/**
 * With white space or commas between them, also in UTF-16.
 * @throws {Error} with the first invalid smallkey
 */
async function readKeys(path: string, warn: (line: string) => void): Promise<string[]> {
	const bytes = await readNamed(path);
	const utf8 = utf8Of(bytes);
	if (utf8 !== bytes) warn(`${path}: is in UTF-16, and read so`);
	const keys = utf8.toString().match(/[^\s,]+/g) ?? [];
	const wrong = keys.find((key) => parseSmallkey(key) === null);
	if (wrong === undefined) return keys;
	throw new Error(`${path}: a smallkey ${smallkeyRule}, not ${JSON.stringify(wrong.slice(0, 80))}`);
}

export const put = createRun(async ({ read, environment, io }) => {
	const [options, smallkey, file] = await read((line) =>
		requestOptions(line.argument("<smallkey>", "the layer").argument("<file>", "the registration")).option(
			...ifMatchOption,
		),
	);
	return sendRequest({ ...options, smallkey, body: await readNamed(file) }, environment, io);
});

export const remove = createRun(async ({ read, environment, io }) => {
	const [{ file, ...options }, named] = await read((line) =>
		requestOptions(line.argument("[smallkey...]", "the layers"))
			.option("--file <file>", "a file of smallkeys with spaces, commas or lines between them")
			.option(...ifMatchOption),
	);
	const keys = new Set([...named, ...(file === undefined ? [] : await readKeys(file, io.warn))]);
	const [smallkey] = keys;
	if (smallkey === undefined) throw new Error("smallkey: is needed, or --file with smallkeys");
	if (keys.size === 1) return sendRequest({ ...options, smallkey, body: null }, environment, io);
	if (options.ifMatch !== undefined) throw new Error("--if-match: with one smallkey");
	return removeMany(keys, options, environment, io);
});

export const sign = createRun(async ({ read, environment, io }) => {
	const [options, smallkey, file] = await read((line) =>
		requestOptions(line.argument("<smallkey>", "the layer"))
			.argument("[file]", "the registration; without one a removal is signed")
			.option("--explain", "show the signed text with its parts, and what is sent, for a person"),
	);
	const body = file === undefined ? null : await readNamed(file);
	const key = await findSecret(options.sender, environment, io);
	const signed = await signWith(key, { ...options, smallkey, body }, io.now());
	io.print((options.explain ? explain(signed) : headerLines(signed.headers)).join("\n"));
});

const maxBodyLength = 400;

/** Never shows the secret. */
function explain({ headers, method, body, target }: SignedRequest): string[] {
	const text = shorten(visible(new TextDecoder().decode(body)), maxBodyLength);
	const parts = [target, headers.Sender, headers.TimeStamp, text].map((part) => `‹${part}›`);
	return [
		"What is signed: path, sender, timestamp and body, joined without the signs ‹ and ›. Control characters are",
		`spelled out here:\n\n  ${parts.join("")}\n`,
		`What is sent, with the body of ${counted(body.length, "byte")}:\n\n  ${method} ${target} HTTP/1.1`,
		...headerLines(headers).map((line) => `  ${line}`),
	];
}

function headerLines(headers: SignedRequest["headers"]): string[] {
	return Object.entries(headers).map(([name, text]) => `${name}: ${text}`);
}
