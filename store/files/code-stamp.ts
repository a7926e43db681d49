import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { filesBelow } from "./files.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

const stamps = new Map<string, string>();

const filesOf = (checkout: string, folder: string) =>
	filesBelow(join(checkout, folder))
		.map((name) => `${folder}/${name}`)
		.filter((path) => !path.includes("/dist/"))
		.sort();

/**
 * A hash of all code, the guide's pages and the versions of the packages, as `files` in package.json names them, without
 * what is built from them (`dist`): SHA-256 in hex. Output with another stamp is rendered again. The modules of a running
 * process do not change, so the stamp is computed once.
 * @param checkout folder of the project
 */
export function codeStamp(checkout = root): string {
	const known = stamps.get(checkout);
	if (known !== undefined) return known;
	const { files } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as { files: string[] };
	const paths = files.flatMap((name) => (name.endsWith(".md") ? [name] : filesOf(checkout, name)));
	const hash = createHash("sha256");
	for (const path of ["package.json", ...paths]) {
		hash.update(`${path}\n`).update(readFileSync(join(checkout, path)));
	}
	const stamp = hash.digest("hex");
	stamps.set(checkout, stamp);
	return stamp;
}
