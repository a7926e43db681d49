import { clientsWith } from "../../api/service/github.ts";
import { mapWithProgress } from "../../publish/build.ts";
import { draftAddress } from "../../registry/draft.ts";
import { lineAt, linesOf } from "../../registry/json.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import { groupByOwners, ownersPath, parseOwners } from "../../registry/owners.ts";
import { type LangEntry, type Registration, serviceTypeOf } from "../../registry/registration.ts";
import { type Lang, langs, layerPath } from "../../registry/smallkey.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { createCheckLayer } from "../harvest/check-layer.ts";
import type { Finding } from "../harvest/finding.ts";
import { fragmentChanges } from "./fragments.ts";
import { type ChangedLayer, checkChanges, type Located, readChanges } from "./layer-changes.ts";

interface ReviewOptions {
	/** Path of a git repository; nothing of it is checked out. */
	repository: string;
	/** The commit that the change would be merged into. The owners are read from it. */
	base: string;
	head: string;
	/** The address of the service is for links to drafts, if it is known. */
	settings: FragmentSettings & { publicUrl?: string };
	check: CheckServices;
}

/** A changed layer, with what a reviewer looks at. */
export type LayerChange = Awaited<ReturnType<typeof layerChange>>;

/** The services of a layer as it will be; none if it is removed or wrong. */
export function servicesOf({ after }: ChangedLayer): { lang: Lang; address: string }[] {
	return after ? langs.map((lang) => ({ lang, address: after.registration[lang].service_url })) : [];
}

/** The result of a review. */
export type Review = Awaited<ReturnType<typeof review>>;

/** Layers whose fragments are rendered: a comment has no room for more. */
const maxRendered = 100;

/** Characters of a draft's address in a comment, so that there is room for the rest. */
const maxDraftLength = 4_000;

export function isWrong({ problems, services, obstacle }: Review): boolean {
	return obstacle !== null || problems.length > 0 || services.wrong.length > 0;
}

/** Checks the changes of a head, and asks the services of the layers whose addresses it changes. */
export async function review(options: ReviewOptions) {
	const { repository, base, head, settings, check } = options;
	const changes = await readChanges(repository, base, head);
	const { layers, problems, warnings } = checkChanges(changes);
	const changed = layers.filter(({ verb }) => verb === "changed");
	const rendered = new Set([...new Set([...changed, ...layers])].slice(0, maxRendered));
	const { owners } = parseOwners(changes.before.get(ownersPath)?.bytes);
	const paths = [...changes.outside, ...changes.layers];
	return {
		/** Why it cannot be merged as it is; null if it can. */
		obstacle: changes.obstacle,
		/** Errors in the files: they fail the check. */
		problems,
		/** What is accepted, but probably not meant. */
		warnings,
		services: await askServices(layers, check),
		/** Sorted by smallkey. */
		layers: await Promise.all(
			layers.map((layer) => layerChange(layer, rendered.has(layer) ? settings : null)),
		),
		/** Who has to approve what; null if the owners file of the base is missing or invalid. */
		approvals: owners && groupByOwners(owners, paths),
		/** Changed files outside `layers/`, in git's order. */
		outside: changes.outside,
	};
}

async function layerChange(layer: ChangedLayer, settings: ReviewOptions["settings"] | null) {
	const { verb } = layer;
	const publicUrl = verb === "removed" ? "" : (settings?.publicUrl ?? "");
	const address = await draftAddress(publicUrl, layer);
	return {
		...layer,
		/** null if there are too many layers to render them all. */
		fragments: verb === "wrong" ? [] : settings && fragmentChanges(layer, settings),
		/** Address of the page that shows the layer as a draft; null without such a page. */
		draft: address !== null && address.length <= maxDraftLength ? address : null,
	};
}

/** Asks the services behind a layer; never rejects. */
export type CheckServices = (layer: CheckedLayer) => Promise<{ findings: Finding[] }>;

/** Longest time for asking all services of a change, in milliseconds, so that slow ones do not delay the review. */
const maxAskingMs = 8 * 60_000;

/** Asks through the guarded fetch; services without an answer in time are reported as down. */
export function createCheckServices(settings: Parameters<typeof clientsWith>[0]): CheckServices {
	const end = AbortSignal.timeout(maxAskingMs);
	const { ask } = clientsWith(settings);
	const check = createCheckLayer((address) => ask(address, end));
	return ({ registration }) => check(registration);
}

/** Layers of one change whose services are asked. A larger change is a batch; the weekly check asks its services. */
const maxAsked = 200;

/** Layers that are checked at the same time. The fetch (`clientsWith`) limits the number of requests. */
const maxConcurrent = 16;

/** Asks the services of the layers whose address, layer name or type a change touches, and no others. */
async function askServices(layers: readonly ChangedLayer[], check: CheckServices) {
	const touched = layers.flatMap((layer) => {
		const langs = touchedLangs(layer);
		return layer.after && langs.length > 0 ? [{ ...layer, after: layer.after, langs }] : [];
	});
	const asked = touched.slice(0, maxAsked);
	const found = await mapWithProgress(asked, "asking services", maxConcurrent, ({ after }) => check(after));
	const of = (state: Finding["state"]): Located[] =>
		asked.flatMap(({ smallkey, text, langs }, index) => {
			const all = found[index]?.findings ?? [];
			const own = all.filter((finding) => finding.state === state && langs.includes(finding.lang));
			const file = layerPath(smallkey);
			const lines = linesOf(own.length > 0 ? text : "");
			return own.map(({ pointer, text: said }) => {
				return { file, line: lineAt(lines, pointer), text: `${pointer}: ${said}` };
			});
		});
	return {
		/** The registration is wrong: these fail the check. */
		wrong: of("wrong"),
		/** Their server is down or odd: these never block. */
		down: of("down"),
		/** Smallkeys of the layers beyond `maxAsked`, whose services were not asked. */
		unasked: touched.slice(maxAsked).map(({ smallkey }) => smallkey),
	};
}

function touchedLangs({ before, after }: ChangedLayer): Lang[] {
	if (!after) return [];
	const [old, fresh] = [before?.registration, after.registration];
	/** What the requests to a service depend on, as a comparable text. */
	const requestOf = (one: Registration, lang: Lang) => {
		const { service_url, layer }: LangEntry = one[lang];
		return JSON.stringify([serviceTypeOf(one, lang), service_url, layer]);
	};
	return langs.filter((lang) => !old || requestOf(old, lang) !== requestOf(fresh, lang));
}
