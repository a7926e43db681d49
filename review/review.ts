import { type Draft, draftAddress } from "../registry/draft.ts";
import type { CheckedLayer } from "../registry/judge.ts";
import { groupByOwners, type OwnedPaths, ownersPath, parseOwners } from "../registry/owners.ts";
import { type Lang, langs } from "../registry/smallkey.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import { readChanges } from "./changes.ts";
import { type ChangedLayer, checkChanges, type Located } from "./check.ts";
import { type FragmentChange, fragmentChanges } from "./fragments.ts";
import { askServices, type CheckServices, type ServiceFindings } from "./services.ts";

export interface ReviewOptions {
	/** Path of a git repository; nothing of it is checked out. */
	repository: string;
	/** The commit that the change would be merged into. The owners are read from it. */
	base: string;
	head: string;
	settings: FragmentSettings;
	/** Address of the service, for links to drafts, if it is known. */
	publicUrl?: string | undefined;
	check: CheckServices;
}

export interface LayerChange {
	smallkey: string;
	verb: "added" | "removed" | "changed" | "wrong";
	/** null if there are too many layers to render them all. */
	fragments: FragmentChange[] | null;
	/** Address of the page that shows the layer as a draft; null if there is none. */
	draft: string | null;
	/** Addresses of its services; empty if the layer is wrong. */
	services: { lang: Lang; address: string }[];
}

export interface Review {
	/** Errors in the files: they fail the check. */
	problems: Located[];
	/** What is accepted, but probably not meant. */
	warnings: Located[];
	services: ServiceFindings;
	/** Sorted by smallkey. */
	layers: LayerChange[];
	/** Who has to approve what; null if the owners file of the base is missing or invalid. */
	approvals: OwnedPaths[] | null;
	/** Changed files outside `layers/`, in git's order. */
	outside: string[];
}

/** Layers whose fragments are rendered: a comment has no room for more. */
const maxRendered = 100;

/** Characters of a draft's address in a comment, so that there is room for the rest. */
const maxDraftLength = 4_000;

export function isWrong({ problems, services }: Review): boolean {
	return problems.length > 0 || services.wrong.length > 0;
}

/** Checks the changes of a head, and asks the services of the layers whose addresses it changes. */
export async function review(options: ReviewOptions): Promise<Review> {
	const { repository, base, head, settings, publicUrl = "", check } = options;
	const changes = await readChanges(repository, base, head);
	const { layers, problems, warnings } = checkChanges(changes);
	const ownersFile = changes.before.get(ownersPath);
	const owners = ownersFile ? parseOwners(ownersFile.bytes).owners : null;
	const paths = [...changes.outside, ...changes.layers];
	return {
		problems,
		warnings,
		services: await askServices(layers, check),
		layers: await Promise.all(
			layers.map((layer, index) => layerChange(layer, index < maxRendered ? settings : null, publicUrl)),
		),
		approvals: owners && groupByOwners(owners, paths),
		outside: changes.outside,
	};
}

async function layerChange(
	layer: ChangedLayer,
	settings: FragmentSettings | null,
	publicUrl: string,
): Promise<LayerChange> {
	const { smallkey, before, after, removed, text } = layer;
	const draft = settings && !removed ? await shortDraft(publicUrl, { smallkey, text }) : null;
	if (!after && !removed) return { smallkey, verb: "wrong", fragments: [], draft, services: [] };
	const verb = removed ? "removed" : before ? "changed" : "added";
	const fragments = settings && fragmentChanges(layer, settings);
	return { smallkey, verb, fragments, draft, services: after ? servicesOf(after) : [] };
}

async function shortDraft(publicUrl: string, draft: Draft): Promise<string | null> {
	const address = await draftAddress(publicUrl, draft);
	return address !== null && address.length <= maxDraftLength ? address : null;
}

function servicesOf({ registration }: CheckedLayer): LayerChange["services"] {
	return langs.map((lang) => ({ lang, address: registration[lang].service_url }));
}
