import { type Owners, ownersPath, parseOwners } from "../../registry/owners.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { type Approval, approvals } from "./approvers.ts";
import { type Changes, FileReader, readChanges } from "./changes.ts";
import { type ChangedLayer, checkChanges, entriesToRead } from "./check.ts";
import { type FragmentChange, fragmentChanges } from "./fragments.ts";
import type { Located } from "./locate.ts";
import { askServices, type CheckServices, type ServiceFindings } from "./services.ts";

/** What a review looks at, and with what. */
export interface ReviewOptions {
	/** Path of a git repository; nothing of it is checked out. */
	repository: string;
	/** The commit that the change would be merged into: owners come from it. */
	base: string;
	head: string;
	settings: FragmentSettings;
	check: CheckServices;
}

/** What becomes of a layer. */
export interface LayerChange {
	smallkey: string;
	verb: "added" | "removed" | "changed" | "wrong";
	/** null where there are too many layers for that. */
	fragments: FragmentChange[] | null;
}

/** Everything that is said of a change. */
export interface Review {
	/** What is wrong in the files: fails the check. */
	problems: Located[];
	services: ServiceFindings;
	/** Sorted by smallkey. */
	layers: LayerChange[];
	/** null where the base has no usable owners file. */
	approvals: Approval[] | null;
	/** Changed files outside `layers/`, in git's order. */
	outside: string[];
}

/** Layers whose fragments are rendered: a comment has no room for more. */
const mostRendered = 100;

/** Whether a review fails the check. */
export function isWrong({ problems, services }: Review): boolean {
	return problems.length > 0 || services.wrong.length > 0;
}

/** Looks at what a head changes, and asks the services that it newly names. */
export async function review(options: ReviewOptions): Promise<Review> {
	const { repository, base, head, settings, check } = options;
	const changes = await readChanges(repository, base, head);
	const reader = await FileReader.open(repository, entriesToRead(changes));
	try {
		const { layers, problems } = await checkChanges(changes, reader);
		const owners = await readOwners(changes, reader);
		return {
			problems,
			services: await askServices(layers, check),
			layers: layers.map((layer, index) => layerChange(layer, index < mostRendered ? settings : null)),
			approvals: owners && approvals(changes, owners),
			outside: changes.outside,
		};
	} finally {
		reader.close();
	}
}

function layerChange(layer: ChangedLayer, settings: FragmentSettings | null): LayerChange {
	const { smallkey, before, after, removed } = layer;
	if (!after && !removed) return { smallkey, verb: "wrong", fragments: [] };
	const verb = removed ? "removed" : before ? "changed" : "added";
	return { smallkey, verb, fragments: settings && fragmentChanges(layer, settings) };
}

async function readOwners(changes: Changes, reader: FileReader): Promise<Owners | null> {
	const entry = changes.catalogue.get(ownersPath);
	if (!entry) return null;
	return parseOwners((await reader.read(ownersPath, entry)).bytes).owners;
}
