import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { runGit } from "../../store/git/commands/run.ts";

export async function loosen(repository: string): Promise<void> {
	const packs = join(repository, "objects/pack");
	const aside = join(repository, "aside");
	await rename(packs, aside);
	await mkdir(packs);
	for (const name of await readdir(aside)) {
		if (!name.endsWith(".pack")) continue;
		await runGit(repository, ["unpack-objects", "-q"], { input: await readFile(join(aside, name)) });
	}
	await rm(aside, { recursive: true });
}

export async function objectFile(repository: string, name: string): Promise<string> {
	const id = (await runGit(repository, ["rev-parse", name])).toString().trim();
	return join(repository, "objects", id.slice(0, 2), id.slice(2));
}
