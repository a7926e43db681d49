import type { Io } from "../../../api/configuration.ts";
import { collectSource, type Source } from "../../../publish/collect.ts";
import { type CheckedLayer, judgeStored, problemLine } from "../../../registry/judge.ts";
import { plain } from "../../../registry/untrusted.ts";

/** Wrong files are reported and left out. */
export async function readLayers(source: Source, io: Io): Promise<CheckedLayer[]> {
	const files = await collectSource(source);
	const { layers, problems } = judgeStored(files);
	for (const problem of problems) io.warn(plain(problemLine(problem)));
	return [...layers.values()];
}

/** Those that a command names, or all. @throws {Error} if a layer does not exist */
export function selectLayers(all: readonly CheckedLayer[], smallkeys: readonly string[]) {
	if (smallkeys.length === 0) return all;
	const layers = new Map(all.map((layer) => [layer.smallkey, layer]));
	return smallkeys.map((smallkey) => {
		const layer = layers.get(smallkey);
		if (!layer) throw new Error(`${smallkey}: there is no such layer, or its file is wrong`);
		return layer;
	});
}
