import { readFileSync } from "node:fs";

/** The project's version, as package.json has it. */
export function readVersion(): string {
	const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
	return (JSON.parse(text) as { version: string }).version;
}
