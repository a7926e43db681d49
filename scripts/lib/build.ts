import { mkdir } from "node:fs/promises";
import { checkCatalogue, type LayerFile, problemLine } from "../../api/catalogue.ts";
import { type FragmentSettings, renderFragment } from "../../api/fragment.ts";
import { fragmentPath, langs } from "../../api/smallkey.ts";
import { collectCommit, collectFolder, resolveCommit } from "./collect.ts";
import { type Written, writeOutput } from "./output.ts";
import { progress } from "./progress.ts";

/** What is built: a folder of layers, or one commit of a git repository. */
export type Source = { folder: string } | { repository: string; ref: string };

/** A build's end: what it wrote, or null where problems kept it from writing anything. */
export interface Built {
	/** One line each: file, JSON pointer and reason. */
	problems: string[];
	written: Written | null;
}

/** Reads all files of a source, sorted by path. */
export async function collect(source: Source): Promise<LayerFile[]> {
	if ("folder" in source) return collectFolder(source.folder);
	return collectCommit(source.repository, await resolveCommit(source.repository, source.ref));
}

/** Collects, validates everything, and only then brings `out` in step. */
export async function build(source: Source, out: string, settings: FragmentSettings): Promise<Built> {
	const rendered = new Map<string, Uint8Array>();
	const problems = checkCatalogue(await collect(source), ({ smallkey, registration, description }) => {
		for (const lang of langs) {
			const text = renderFragment(lang, smallkey, registration, description, settings);
			rendered.set(fragmentPath(lang, smallkey), Buffer.from(text));
		}
	});
	if (problems.length > 0) return { problems: problems.map(problemLine), written: null };
	await mkdir(out, { recursive: true });
	const bar = progress(rendered.size, "writing");
	const written = await writeOutput(out, rendered, () => bar.tick(1));
	bar.stop();
	return { problems: [], written };
}
