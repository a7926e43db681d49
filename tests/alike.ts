import { copyFileSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";

/** Copies the settings of a repository, if they are there and the other has none. */
function copyConfig(from: string, to: string): void {
	const [source, target] = [join(from, "config"), join(to, "config")];
	if (!existsSync(source) || existsSync(target)) return;
	mkdirSync(to, { recursive: true });
	// Whole, as other tests may read it.
	const part = `${target}.${process.pid}`;
	copyFileSync(source, part);
	renameSync(part, target);
}

/** The settings of a new repository are alike, and take a dozen processes: of a run of tests only the first start makes them. */
export function alikeIn({ DATA_DIR, GITHUB_REPOSITORY }: Record<string, string>) {
	const { COMPILED_START } = process.env;
	const [kept, own] = [
		join(dirname(COMPILED_START ?? ""), "repository"),
		join(DATA_DIR ?? "", "repository.git"),
	];
	const isNew = COMPILED_START && DATA_DIR && !GITHUB_REPOSITORY && existsSync(DATA_DIR) && !existsSync(own);
	return {
		place: () => isNew && copyConfig(kept, own),
		keep: () => isNew && copyConfig(own, kept),
	};
}
