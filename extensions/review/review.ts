import { draftAddress } from "../../registry/draft.ts";
import { parseOwners } from "../../registry/owners.ts";
import type { LangPart1 } from "../../registry/registration.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { groupByOwners } from "./approvals/approvals.ts";
import { askServices, type CheckServices } from "./ask-services.ts";
import { fragmentChanges } from "./fragment-changes.ts";
import { type ChangedLayer, type Located, readChanges } from "./layer-changes.ts";

interface ReviewOptions {
	repository: string;
	/** The commit into which the change would be merged. It has the owners. */
	base: string;
	head: string;
	settings: FragmentSettings & { publicUrl?: string };
	check: CheckServices;
}

/** In the order in which they are shown. An `error` fails the check; `state` is for a table of layers. */
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

/** Layers that are shown with draft and fragments; of a larger change a table shows all layers. */
export const maxDetailed = 20;

/** The number of remarks that fail the check, and of obstacles. */
export function countErrors({ obstacle, remarks }: Pick<Review, "obstacle" | "remarks">): number {
	return remarks.filter(({ level }) => level === "error").length + (obstacle === null ? 0 : 1);
}

/** Also asks the services of the layers whose addresses a change touches. */
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
		const address = isDrafted ? await draftAddress(settings.publicUrl ?? "", row) : null;
		return {
			...row,
			/** Address of the page that shows the layer as a draft; null without such a page. */
			draft: address !== null && address.length <= maxDraftLength ? address : null,
			/** None of a wrong layer, or of one that is shown in the table only. */
			fragments: isDetailed && row.verb !== "wrong" ? fragmentChanges(row, settings) : [],
		};
	});
	const { owners } = parseOwners(changes.owners);
	return {
		/** Why it cannot be merged; null if it can. */
		obstacle,
		remarks,
		/** The number of layers whose services were not asked, because there are too many at once. */
		unasked,
		/** First those with something wrong, then the changed, the removed and the added ones. */
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
