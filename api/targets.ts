/** A form in which layers are read, as far as routes have to know it. */
export interface ReadTarget {
	/** `v0.9` */
	name: string;
	/** What stands between the base path and the lang, and whether one fragment or several are asked for there. */
	paths: readonly { prefix: string; kind: "doc" | "docs" }[];
	/** The element of `docs` for an item that is not registered, as JSON; null where it is left out. */
	missing: (item: string) => string | null;
}

/** For viewers before configuration schema 1.0 (specification, "Endpoints"). */
const v09: ReadTarget = {
	name: "v0.9",
	paths: [
		{ prefix: "/v0.9/doc/", kind: "doc" },
		{ prefix: "/v0.9/docs/", kind: "docs" },
	],
	missing: (item) => JSON.stringify({ error_code: 404, smallkey: item }),
};

/** Every form in which layers can be read. */
export const readTargets: readonly ReadTarget[] = [v09];
