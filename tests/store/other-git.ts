import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { writeFiles } from "../helpers/world.ts";

/** Makes a folder for a search path, with another git. @param script in which `$git` is git */
export function otherGit(folder: string, script: string): string {
	const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
	const bin = join(folder, "bin");
	writeFiles(bin, { git: { executable: `#!/bin/sh\ngit='${git}'\n${script}\n` } });
	return bin;
}

/** Has this process, and those that it starts, run another git. */
export function replaceGit(folder: string, script: string): Disposable {
	const { PATH } = process.env;
	process.env.PATH = `${otherGit(folder, script)}:${PATH}`;
	return {
		[Symbol.dispose]: () => {
			process.env.PATH = PATH;
		},
	};
}

/** The script of a git whose first fast-import gets a signal. @param mark a file that does not exist yet */
export function signalledImport(mark: string, signal: "KILL" | "STOP"): string {
	return `case " $* " in
*" fast-import "*) [ -e '${mark}' ] || { : > '${mark}'; kill -${signal} $$; };;
esac
exec "$git" "$@"`;
}
