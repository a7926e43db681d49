import { spawn } from "node:child_process";
import { cleanEnvironment, pathWithNpx } from "../../helpers/process.ts";

/** Runs commands as GitHub's runner does: in bash, ending at the first that fails. */
export async function runJob(cwd: string, run: string, env: Record<string, string>) {
	const words = ["--noprofile", "--norc", "-eo", "pipefail", "-c", run];
	const child = spawn("bash", words, { cwd, env: cleanEnvironment({ ...env, PATH: pathWithNpx(env.PATH) }) });
	let output = "";
	for (const stream of [child.stdout, child.stderr])
		stream.on("data", (data) => {
			output += data;
		});
	const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
	return { status, output };
}
