import { draftAddress } from "../../registry/draft.ts";
import { parseOwners } from "../../registry/owners.ts";
import type { LangPart1 } from "../../registry/registration.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { groupByOwners } from "./approvals/approvals.ts";
import { askServices, type CheckServices } from "./ask-services.ts";
import { compareFragments } from "./fragment-changes.ts";
import { type ChangedLayer, type Located, readChanges } from "./layer-changes.ts";

interface ReviewOptions {
	repository: string;
	/** Its owners file decides. */
	base: string;
	head: string;
	settings: FragmentSettings & { publicUrl?: string };
	check: CheckServices;
}

/** The order is that of the report. An `error` fails the check; `state` is for a table. */
const kinds = [
	{ source: "problems", level: "error", state: "to correct", title: "To correct" },
	{
		source: "wrong",
		level: "error",
		state: "wrong service",
		title: "The services say that this change is wrong",
	},
	{
		source: "down",
		level: "warning",
		state: "service down",
		title: "Their server is down or odd. This blocks nothing.",
	},
	{ source: "warnings", level: "warning", state: "odd", title: "Accepted, but probably not meant" },
] as const;

export type Remark = (typeof kinds)[number] & Located;

export type Review = Awaited<ReturnType<typeof review>>;

export type LayerRow = Review["layers"][number];

const maxDraftLength = 4_000;

/** Layers shown with draft and fragments. A larger change also has a table. */
export const maxDetailed = 20;

/** An obstacle is an error, too. */
export function countErrors({ obstacle, remarks }: Pick<Review, "obstacle" | "remarks">): number {
	return remarks.filter(({ level }) => level === "error").length + (obstacle === null ? 0 : 1);
}

/** Also asks the services whose addresses the change touches. */
export async function review({ repository, base, head, settings, check }: ReviewOptions) {
	const changes = await readChanges(repository, base, head);
	const { obstacle, paths, outside, problems, warnings } = changes;
	const { wrong, down, unasked } = await askServices(changes.layers, check);
	const sources = { problems, wrong, down, warnings };
	const remarks = kinds.flatMap((kind) =>
		sources[kind.source].map((place): Remark => ({ ...place, ...kind })),
	);
	const layers = rowsOf(changes.layers, remarks).map(async (row, index) => {
		const isDetailed = index < maxDetailed;
		const isDrafted = isDetailed && row.verb !== "removed";
		const address = isDrafted ? draftAddress(settings.publicUrl ?? "", row) : null;
		return {
			...row,
			/** Address; null if the layer cannot be shown as a draft. */
			draft: address !== null && address.length <= maxDraftLength ? address : null,
			/** Empty for a wrong layer, and for one in the table only. */
			fragments: isDetailed && row.verb !== "wrong" ? compareFragments(row, settings) : [],
		};
	});
	const { owners } = parseOwners(changes.owners);
	return {
		obstacle,
		remarks,
		/** The number of layers whose services were not asked. */
		unasked,
		/** Wrong layers come first, then changed, removed and added ones. */
		layers: await Promise.all(layers),
		/** Who has to approve what; null if the owners file of the base is missing or invalid. */
		approvals: owners && groupByOwners(owners, paths),
		outside,
	};
}

const verbs: readonly ChangedLayer["verb"][] = ["wrong", "changed", "removed", "added"];

function rowsOf(layers: readonly ChangedLayer[], remarks: readonly Remark[]) {
	const states = new Map(remarks.toReversed().map(({ file, state }) => [file, state]));
	const order: string[] = [...kinds.map(({ state }) => state), ""];
	const rows = layers.map((layer) => {
		const { file, verb, before, after } = layer;
		const en: Partial<LangPart1> = (after ?? before)?.registration.en ?? {};
		return {
			...layer,
			/** Empty if nothing is wrong or odd. */
			state: verb === "wrong" ? "to correct" : (states.get(file) ?? ""),
			name: en.service_name || (en.layer ?? ""),
		} as const;
	});
	const rankOf = ({ state, verb }: (typeof rows)[number]) =>
		order.indexOf(state) * verbs.length + verbs.indexOf(verb);
	return rows.sort((a, b) => rankOf(a) - rankOf(b));
}
