// From the WMS and ArcGIS links of a GeoNetwork 4 catalogue to a folder for `npx fragment-publisher register`.
// node docs/recipes/geonetwork.mjs https://catalogue.example/geonetwork 'groupOwner:12' my-layers energy-
// The interface: https://docs.geonetwork-opensource.org/4.2/api/search/ (search/records/_search)
import { writeLayers } from "./write.mjs";

const [catalogue, filter, folder, prefix = ""] = process.argv.slice(2);
const address = `${catalogue}/srv/api/search/records/_search`;
const headers = { "Content-Type": "application/json", Accept: "application/json" };
const query = { bool: { filter: [{ query_string: { query: filter } }, { term: { isTemplate: "n" } }] } };
const fields = { sort: [{ uuid: "asc" }], _source: ["uuid", "resourceTitleObject", "link"] };

/** A text in a language: `{"default": "…", "langeng": "…", "langfre": "…"}`. Version 4.0 has plain texts. */
function textIn(lang, of, member) {
	const texts = of[`${member}Object`] ?? {};
	return (lang === "en" ? texts.langeng : texts.langfre || texts.langfra) || (texts.default ?? of[member]);
}

function linksOf({ uuid, link = [] }) {
	const services = [link].flat().filter(({ protocol }) => /^(?:OGC:WMS|ESRI[ :])/i.test(protocol));
	return services.map((one, at) => ({
		smallkey: `${prefix}${uuid}-${at + 1}`,
		isWms: /WMS/i.test(one.protocol),
		// Canadian records (HNAP) end the description of a link with its languages: `Web Service;WMS;eng,fra`.
		langs: textIn("en", one, "description")?.match(/\b(?:eng|fra|zxx)(?=(?:[,\s]|eng|fra|zxx)*$)/g) ?? [],
		url: (lang) => textIn(lang, one, "url"),
		name: (lang) => textIn(lang, one, "name"),
	}));
}

for (let from = 0, total = 1; from < total; from += 100) {
	const body = JSON.stringify({ from, size: 100, track_total_hits: true, query, ...fields });
	const answer = await fetch(address, { method: "POST", headers, body });
	if (!answer.ok) throw new Error(`${catalogue}: answers ${answer.status}`);
	const { hits } = await answer.json();
	for (const { _source: record } of hits.hits) {
		const title = (lang) => textIn(lang, record, "resourceTitle");
		await writeLayers(folder, linksOf(record), title, { uuid: record.uuid });
	}
	total = hits.total.value;
}
