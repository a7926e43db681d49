import type { ReadGeometry } from "../api/sorted.ts";
import { CatFile } from "../git/cat-file.ts";
import { descriptionPath } from "../registry/smallkey.ts";

/** Says what the features of layers are. */
export interface Geometries {
	read: ReadGeometry;
	close(): Promise<void>;
}

/** Most descriptions that are remembered, those that were read last. */
const maxRemembered = 20_000;

/** Makes what reads the layers' descriptions on the branch of a bare repository. */
export function createGeometries(repository: string): Geometries {
	const catFile = new CatFile(repository);
	/** Id of a description's text → geometry. */
	const known = new Map<string, string>();
	return {
		async read(smallkey) {
			const file = await catFile.read(`refs/heads/main:${descriptionPath(smallkey)}`);
			if (!file) return "";
			const geometry = known.get(file.id) ?? geometryOf(file.body.toString("utf8"));
			known.delete(file.id);
			known.set(file.id, geometry);
			const [oldest] = known.keys();
			if (known.size > maxRemembered && oldest !== undefined) known.delete(oldest);
			return geometry;
		},
		close: () => catFile.close(),
	};
}

/** The geometry that a description names; empty where it is none in order. */
function geometryOf(text: string): string {
	try {
		const { en } = JSON.parse(text) as { en?: { geometry_type?: unknown } };
		return typeof en?.geometry_type === "string" ? en.geometry_type : "";
	} catch {
		return "";
	}
}
