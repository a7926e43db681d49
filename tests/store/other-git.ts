import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Makes a folder for a search path, with Node and another git. @param script in which `$git` is git; null: no git */
export async function otherGit(folder: string, script: string | null): Promise<string> {
	const bin = join(folder, "bin");
	await mkdir(bin, { recursive: true });
	const paths = (process.env.PATH ?? "").split(":").map((path) => join(path, "git"));
	const write = (name: string, lines: string) =>
		writeFile(join(bin, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
	await write("node", `exec '${process.execPath}' "$@"`);
	if (script !== null) await write("git", `git='${paths.find(existsSync)}'\n${script}`);
	return bin;
}

/** The script of a git whose first fast-import, or another command, gets a signal. @param mark a file that does not exist yet */
export function signalledImport(mark: string, signal: "KILL" | "STOP", command = "fast-import"): string {
	return `case " $* " in
*" ${command} "*) [ -e '${mark}' ] || { : > '${mark}'; kill -${signal} $$; };;
esac
exec "$git" "$@"`;
}
