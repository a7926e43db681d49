// From the WMS and ArcGIS links of a GeoNetwork 4 catalogue to a folder for `npx fragment-publisher register` (docs/publish.md).
// node docs/recipes/geonetwork.mjs https://catalogue.example/geonetwork 'groupOwner:12' my-layers energy-
// The interface: https://docs.geonetwork-opensource.org/4.2/api/search/ (search/records/_search)
import { createHash } from "node:crypto";
import { ask } from "./catalogue.mjs";
import { runRecipe } from "./folder.mjs";
import { identityOf } from "./links.mjs";
import { langsOf } from "./texts.mjs";

/** A text in a language: `{"default": "…", "langeng": "…", "langfre": "…"}`. Version 4.0 has plain texts. */
function textIn(lang, of, member) {
	const texts = of[`${member}Object`] ?? {};
	return (lang === "en" ? texts.langeng : texts.langfre || texts.langfra) || (texts.default ?? of[member]);
}

/** Canadian records (HNAP) end the description of a link with its languages: `Web Service;WMS;eng,fra`. */
function langsOfLink(link) {
	const description = textIn("en", link, "description");
	return langsOf(description?.match(/\b(?:eng|fra|zxx)(?=(?:[,\s]|eng|fra|zxx)*$)/g));
}

const hashOf = (text) => createHash("sha256").update(text).digest("hex").slice(0, 8);

function linksOf({ uuid, link = [] }, prefix) {
	const services = [link].flat().filter(({ protocol }) => /^(?:(?:OGC:)?WMS\b|ESRI[ :])/i.test(protocol));
	return services.map((service) => ({
		label: `${prefix}${uuid} (${textIn("en", service, "name") || service.protocol})`,
		// The hash follows from the layer, so that its smallkey stays when other links come and go.
		smallkeyOf: (node) => `${prefix}${uuid}-${hashOf(identityOf(node))}`,
		isWms: /WMS/i.test(service.protocol),
		langs: langsOfLink(service),
		url: (lang) => textIn(lang, service, "url"),
		name: (lang) => textIn(lang, service, "name"),
	}));
}

const fields = ["uuid", "resourceTitleObject", "link"];

/** All records that match. `from` ends at 10,000 records, `search_after` does not. @throws a sentence if some are missing */
async function search(catalogue, filter) {
	const headers = { "Content-Type": "application/json", Accept: "application/json" };
	const query = { bool: { filter: [{ query_string: { query: filter } }, { term: { isTemplate: "n" } }] } };
	const records = [];
	for (let after, total = 1; records.length < total; ) {
		const body = { size: 500, query, sort: [{ uuid: "asc" }], track_total_hits: true, _source: fields };
		if (after) body.search_after = after;
		const options = { method: "POST", headers, body: JSON.stringify(body) };
		const answer = await ask(`${catalogue}/srv/api/search/records/_search`, options);
		const { hits, total: all } = answer.hits ?? {};
		if (!Array.isArray(hits) || !all) throw new Error(`${catalogue}: does not answer as GeoNetwork 4`);
		records.push(...hits.map(({ _source }) => _source));
		total = all.value;
		if (answer.timed_out || answer._shards?.failed || (hits.length === 0 && records.length < total))
			throw new Error(`${catalogue}: sent ${records.length} records of ${total}; run this again`);
		after = hits.at(-1)?.sort ?? [records.at(-1)?.uuid];
	}
	return records;
}

await runRecipe(search, (record, prefix) => ({
	links: linksOf(record, prefix),
	titleIn: (lang) => textIn(lang, record, "resourceTitle"),
	metadata: { uuid: record.uuid },
}));
