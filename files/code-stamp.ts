import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { filesBelow } from "./below.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Rooms whose files decide the output: fragments, pages, the hook. `docs` has the pages of the guide. */
const rooms = [
	"api",
	"catalogue",
	"docs",
	"files",
	"git",
	"publish",
	"registry",
	"schemas",
	"site",
	"store",
	"terminal",
];
/** Single files that decide the output, too: the versions of the packages, and a page of the guide. */
const singleFiles = ["package.json", "SECURITY.md"];

const stamps = new Map<string, string>();

/**
 * A hash of all code that decides the output: SHA-256 in hex. Output with another stamp is rendered again. The modules of
 * a running process do not change, so the stamp is computed once.
 * @param checkout folder of the project
 */
export function codeStamp(checkout = root): string {
	const known = stamps.get(checkout);
	if (known !== undefined) return known;
	const paths = rooms.flatMap((room) =>
		filesBelow(join(checkout, room))
			.map((name) => `${room}/${name}`)
			.sort(),
	);
	const hash = createHash("sha256");
	for (const path of [...paths, ...singleFiles]) {
		hash.update(`${path}\n`).update(readFileSync(join(checkout, path)));
	}
	const stamp = hash.digest("hex");
	stamps.set(checkout, stamp);
	return stamp;
}
