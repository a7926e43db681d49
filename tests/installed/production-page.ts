import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../helpers/process.ts";

/** The text of a file of the project. */
export const text = async (path: string) => readFile(join(root, path), "utf8");

/** The commands of a page's indented blocks, those over several lines as one. */
export async function commandsOf(page: string): Promise<string[]> {
	const blocks = (await text(page)).match(/^ {4}\S.*(?:\n {4,}\S.*)*/gm) ?? [];
	return blocks
		.join("\n")
		.replaceAll(/\\\n\s+/g, "")
		.split("\n")
		.map((line) => line.trim());
}
