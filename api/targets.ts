import { targetOf } from "../registry/targets/table.ts";
import type { Target, TargetName } from "../registry/targets/target.ts";

/** A path below which layers are read. */
export interface ReadPath {
	/** What stands between the base path and the lang: `/v0.9/doc/`; the whole path of a `query`. */
	prefix: string;
	/** `either`: a comma makes the difference. `query`: lang and keys stand in the query. */
	kind: "doc" | "docs" | "either" | "query";
	target: Target;
}

const pathsOfTargets = new WeakMap<readonly TargetName[], readonly ReadPath[]>();

/** The paths of targets, the longer ones first: one may be the beginning of another. */
export function readPaths(names: readonly TargetName[]): readonly ReadPath[] {
	const known = pathsOfTargets.get(names);
	if (known) return known;
	const paths = names
		.map(targetOf)
		.flatMap((target) => [
			...[target, ...target.aliases].flatMap((place) => pathsOf(place, target)),
			...(target.queryDoor ? [{ prefix: `/${target.queryDoor.path}`, kind: "query" as const, target }] : []),
		]);
	paths.sort((a, b) => b.prefix.length - a.prefix.length);
	pathsOfTargets.set(names, paths);
	return paths;
}

function pathsOf({ doc, docs }: Pick<Target, "doc" | "docs">, target: Target): ReadPath[] {
	if (doc === docs) return [{ prefix: `/${doc}/`, kind: "either", target }];
	return [
		{ prefix: `/${doc}/`, kind: "doc", target },
		{ prefix: `/${docs}/`, kind: "docs", target },
	];
}
