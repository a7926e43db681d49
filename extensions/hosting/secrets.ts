import { readFile } from "node:fs/promises";
import { InvalidArgumentError } from "@commander-js/extra-typings";
import { parseSenders } from "../../api/senders.ts";
import { firstSender } from "../../api/service/senders-file.ts";
import { pkcs8Of } from "../../store/github/auth.ts";

/** Bytes of one secret or variable of a worker (Cloudflare Workers, "Limits": 5 kB). */
const maxSecretBytes = 5_000;

/** The worker's secrets. */
const secretNames = ["SENDERS", "GITHUB_TOKEN", "GITHUB_APP_PRIVATE_KEY"];

/** A secret's name, and the path of the file with its value. */
interface SecretFile {
	name: string;
	path: string;
}

/** Parses `NAME=FILE`, and appends it. @throws {InvalidArgumentError} for anything else */
export function parseSecretFile(text: string, before: SecretFile[] = []): SecretFile[] {
	const [, name, path] = /^([A-Z_]+)=(.+)$/.exec(text) ?? [];
	if (name === undefined || path === undefined || !secretNames.includes(name))
		throw new InvalidArgumentError(`It must be NAME=FILE, NAME one of ${secretNames.join(", ")}.`);
	return [...before, { name, path }];
}

/**
 * Reads and checks the secrets of a worker, in parts of the size that Cloudflare accepts.
 * @param warn gets a text about what is accepted, but probably not meant
 * @throws {Error} that names the file and the rule, and never a secret
 */
export async function readSecretFiles(
	files: readonly SecretFile[],
	warn: (text: string) => void,
): Promise<Map<string, string>> {
	const secrets = new Map<string, string>();
	for (const { name, path } of files) {
		const text = (await readFile(path, "utf8")).trim();
		for (const [part, value] of checkedParts(name, text, path, warn)) secrets.set(part, value);
	}
	return secrets;
}

function checkedParts(
	name: string,
	text: string,
	path: string,
	warn: (text: string) => void,
): [string, string][] {
	if (name === "SENDERS") return sendersParts(text, path, warn);
	if (text === "") throw new Error(`${path}: is empty`);
	const size = Buffer.byteLength(text);
	if (size > maxSecretBytes)
		throw new Error(`${path}: has ${size} bytes, and a worker's secret takes ${maxSecretBytes}`);
	try {
		if (name === "GITHUB_APP_PRIVATE_KEY") pkcs8Of(text);
	} catch {
		throw new Error(`${path}: is not the private key of an App in PEM, as GitHub hands it out`);
	}
	return [[name, text]];
}

/**
 * The senders as `SENDERS`, `SENDERS_2`, …, and a blank last part. The worker joins the parts before the blank one. It
 * thereby ignores further parts of an earlier deployment, in which removed senders may be.
 */
function sendersParts(text: string, path: string, warn: (text: string) => void): [string, string][] {
	const trial = parseSenders(text, path).get(firstSender);
	if (trial?.smallkeys === null)
		warn(
			`${path}: the sender ${firstSender} of a trial may change every layer; if that is not meant: npx fragment-publisher sender remove ${firstSender}, and deploy again`,
		);
	// In ASCII a character is one byte, so that the text can be cut anywhere.
	const compact = JSON.stringify(JSON.parse(text)).replace(
		/[^\0-~]/g,
		(unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
	);
	const parts = compact.match(new RegExp(`.{1,${maxSecretBytes}}`, "g")) ?? [];
	return [...parts, " "].map((part, index) => [index === 0 ? "SENDERS" : `SENDERS_${index + 1}`, part]);
}
