import { readdir, readFile } from "node:fs/promises";

/**
 * Ends the processes whose environment names a folder for temporary files: a test file that failed has not ended what
 * it started. Only where there is /proc.
 */
export async function endProcessesOf(folder: string): Promise<void> {
	const names = await readdir("/proc").catch(() => []);
	for (const name of names.filter((one) => /^\d+$/.test(one))) {
		const environment = await readFile(`/proc/${name}/environ`, "utf8").catch(() => "");
		if (!environment.split("\0").includes(`TMPDIR=${folder}`)) continue;
		try {
			process.kill(Number(name), "SIGKILL");
		} catch {
			// It has ended meanwhile.
		}
	}
}
