import { etagOf } from "../api/read.ts";
import { type Health, healthPath, parseHealth } from "../registry/health.ts";
import { entryOf } from "../registry/index/layer-entry.ts";
import type { CheckedLayer, LayerFile } from "../registry/judge.ts";
import { ownersOf, ownersPath, parseOwners } from "../registry/owners.ts";
import { langs, layerPath } from "../registry/smallkey.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import { renderLayer } from "../registry/targets/render.ts";
import { targetNames } from "../registry/targets/table.ts";
import type { ListedLayer } from "./catalogue.ts";
import type { LastChange } from "./history.ts";

/** What is known of layers beside their own files. */
export interface News {
	changes: ReadonlyMap<string, LastChange>;
	health: Health;
}

/** A layer as the catalogue has it. */
export function listedLayer(layer: CheckedLayer, news: News, settings: FragmentSettings): ListedLayer {
	const { smallkey, registration, description } = layer;
	const { targets = targetNames, mapWkid } = settings;
	const [en = [], fr = []] = langs.map((lang) =>
		renderLayer(targets, lang, smallkey, registration, description, settings),
	);
	const fragments = Object.fromEntries(
		targets.map((target, at) => [target, { en: en[at] ?? null, fr: fr[at] ?? null }]),
	);
	const last = news.changes.get(smallkey);
	const health = news.health.get(smallkey);
	const entry = entryOf(
		{ smallkey, registration, description, fragments },
		{
			...(mapWkid !== undefined && { mapWkid }),
			...(last && { changed: last.changed }),
			...(last?.sender && { sender: last.sender }),
			...(health && { health }),
		},
		(text) => etagOf(Buffer.from(text)).slice(1, -1),
	);
	return { entry, addresses: { en: registration.en.service_url, fr: registration.fr.service_url } };
}

/** The files that belong to reviewers, as the catalogue needs them. */
export interface Reviewers {
	health: Health;
	/** Who can mend a layer; nobody where there is no list of owners that is in order. */
	owners: (smallkey: string) => string[];
}

/** Reads them. @param files some of the layers' files */
export function readReviewers(files: readonly LayerFile[]): Reviewers {
	const { owners } = parseOwners(Buffer.from(contentOf(files, ownersPath) ?? ""));
	return {
		health: parseHealth(contentOf(files, healthPath)),
		owners: (smallkey) => (owners ? ownersOf(owners, layerPath(smallkey)) : []),
	};
}

function contentOf(files: readonly LayerFile[], path: string): string | null {
	const file = files.find((one) => one.path === path && one.kind === "file");
	return file ? Buffer.from(file.bytes).toString("utf8") : null;
}
