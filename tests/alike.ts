import { copyFileSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";

/** What every new repository has alike: its settings, and the judge of pushes, which the code's stamp marks. */
const alike = ["config", "hooks/fragment-publisher.mjs"];

/** Copies these files, as far as they are there and the others are not. */
function copyAlike(from: string, to: string): void {
	for (const name of alike.filter((name) => existsSync(join(from, name)) && !existsSync(join(to, name)))) {
		mkdirSync(dirname(join(to, name)), { recursive: true });
		// Whole, as other tests may read it.
		const part = `${join(to, name)}.${process.pid}`;
		copyFileSync(join(from, name), part);
		renameSync(part, join(to, name));
	}
}

/**
 * The files that a start makes alike in each new repository, which takes a dozen processes and half a second: of a run of
 * tests only the first start makes them.
 */
export function alikeIn({ DATA_DIR, GITHUB_REPOSITORY }: Record<string, string>) {
	const { COMPILED_START } = process.env;
	const [kept, own] = [
		join(dirname(COMPILED_START ?? ""), "repository"),
		join(DATA_DIR ?? "", "repository.git"),
	];
	const isNew = COMPILED_START && DATA_DIR && !GITHUB_REPOSITORY && existsSync(DATA_DIR) && !existsSync(own);
	return {
		place: () => isNew && copyAlike(kept, own),
		keep: () => isNew && copyAlike(own, kept),
	};
}
