import { readdirSync } from "node:fs";

/**
 * The files below a folder by their paths from there, with slashes, in no order. Node's own recursive `readdir` asks the
 * system for each name what it is.
 * @throws {Error} where there is no such folder
 */
export function filesBelow(folder: string): string[] {
	return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
		if (!entry.isDirectory()) return [entry.name];
		return filesBelow(`${folder}/${entry.name}`).map((path) => `${entry.name}/${path}`);
	});
}
