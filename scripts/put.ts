import { readFile } from "node:fs/promises";
import { parseSmallkey, smallkeyRule } from "../registry/smallkey.ts";
import { utf8Of } from "../store/files/files.ts";
import {
	explain,
	findSecret,
	ifMatchOption,
	requestLine,
	requestOptions,
	sendRequest,
	signWith,
} from "./send/request.ts";
import { removeMany } from "./send/send-batch.ts";
import { createRun } from "./terminal/command-line.ts";

/**
 * Smallkeys with white space or commas between them, also in UTF-16, as PowerShell writes it.
 * @throws {Error} that names the first invalid smallkey
 */
async function readKeys(path: string, warn: (line: string) => void): Promise<string[]> {
	const bytes = await readFile(path);
	const utf8 = utf8Of(bytes);
	if (utf8 !== bytes) warn(`${path}: is in UTF-16, and read so`);
	const keys = utf8.toString().match(/[^\s,]+/g) ?? [];
	const wrong = keys.find((key) => parseSmallkey(key) === null);
	if (wrong === undefined) return keys;
	throw new Error(`${path}: a smallkey ${smallkeyRule}, not ${JSON.stringify(wrong.slice(0, 80))}`);
}

export const put = createRun("put", async ({ read, environment, io }) => {
	const [options, smallkey, file] = await read((line) =>
		requestLine(line)
			.argument("<file>", "the registration")
			.option(...ifMatchOption),
	);
	const body = await readFile(file);
	return sendRequest({ ...options, method: "PUT", smallkey, body }, environment, io);
});

export const remove = createRun("remove", async ({ read, environment, io }) => {
	const [{ file, ...options }, keys] = await read((line) =>
		requestOptions(line.argument("[smallkey...]", "the layers"))
			.option("--file <file>", "a file of smallkeys with spaces, commas or lines between them")
			.option(...ifMatchOption),
	);
	const [smallkey, ...others] = new Set([
		...keys,
		...(file === undefined ? [] : await readKeys(file, io.warn)),
	]);
	if (smallkey === undefined) throw new Error("smallkey: is needed, or --file with smallkeys");
	if (others.length > 0) {
		if (options.ifMatch !== undefined) throw new Error("--if-match: with one smallkey");
		return removeMany([smallkey, ...others], options, environment, io);
	}
	const request = { ...options, method: "DELETE", smallkey, body: new Uint8Array(0) };
	return sendRequest(request, environment, io);
});

export const sign = createRun("sign", async ({ read, environment, io }) => {
	const [{ explain: isExplained, ...options }, smallkey, file] = await read((line) =>
		requestLine(line)
			.argument("[file]", "the registration; without one a removal is signed")
			.option("--explain", "show the signed text with its parts, and what is sent, for a person"),
	);
	const body = file === undefined ? new Uint8Array(0) : await readFile(file);
	const method = file === undefined ? "DELETE" : "PUT";
	const key = await findSecret(options.sender ?? null, environment, io);
	const signed = await signWith(key, { ...options, method, smallkey, body }, io.now());
	const headers = Object.entries(signed.headers).map(([name, text]) => `${name}: ${text}`);
	io.print((isExplained ? explain(signed) : headers).join("\n"));
});
