import type { Target } from "../registry/targets/target.ts";

/** A form in which layers are read, as far as routes have to know it. */
export type ReadTarget = Pick<Target, "name" | "doc" | "docs" | "aliases" | "absent">;

/** Every form in which layers can be read now. */
export const readTargets: readonly ReadTarget[] = [
	{
		name: "v0.9",
		doc: "v0.9/doc",
		docs: "v0.9/docs",
		aliases: [],
		absent: (item) => JSON.stringify({ error_code: 404, smallkey: item }),
	},
];

/** A path below which layers are read. `either`: a comma makes the difference. */
export interface ReadPath {
	/** What stands between the base path and the lang: `/v0.9/doc/`. */
	prefix: string;
	kind: "doc" | "docs" | "either";
	target: ReadTarget;
}

const pathsOfTargets = new WeakMap<readonly ReadTarget[], readonly ReadPath[]>();

/** The paths of targets, the longer ones first: one may be the beginning of another. */
export function readPaths(targets: readonly ReadTarget[]): readonly ReadPath[] {
	const known = pathsOfTargets.get(targets);
	if (known) return known;
	const paths = targets.flatMap((target) =>
		[target, ...target.aliases].flatMap(({ doc, docs }): ReadPath[] => {
			if (doc === docs) return [{ prefix: `/${doc}/`, kind: "either", target }];
			return [
				{ prefix: `/${doc}/`, kind: "doc", target },
				{ prefix: `/${docs}/`, kind: "docs", target },
			];
		}),
	);
	paths.sort((a, b) => b.prefix.length - a.prefix.length);
	pathsOfTargets.set(targets, paths);
	return paths;
}
