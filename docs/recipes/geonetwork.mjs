// From the WMS and ArcGIS links of a GeoNetwork 4 catalogue to a folder for `npx fragment-publisher register`.
// node docs/recipes/geonetwork.mjs https://catalogue.example/geonetwork 'groupOwner:12' my-layers energy-
// The interface: https://docs.geonetwork-opensource.org/4.2/api/search/ (search/records/_search)
import { memberOf, writeLayer } from "./write.mjs";

const [catalogue, filter, folder, prefix = ""] = process.argv.slice(2);
const size = 100;
const protocols = /^(?:OGC:WMS|ESRI:REST)/i;

/** A text of a record in one language: `{"default": "…", "langeng": "…", "langfre": "…"}`. */
function textIn(lang, texts, plain) {
	return texts?.[`lang${lang}`] ?? texts?.default ?? plain;
}

for (let from = 0, total = 1; from < total; from += size) {
	const answer = await fetch(`${catalogue}/srv/api/search/records/_search`, {
		method: "POST",
		headers: { "Content-Type": "application/json", Accept: "application/json" },
		body: JSON.stringify({
			...{ from, size, sort: [{ uuid: "asc" }], track_total_hits: true },
			query: { bool: { filter: [{ query_string: { query: filter } }, { term: { isTemplate: "n" } }] } },
			_source: ["uuid", "resourceTitleObject", "link"],
		}),
	});
	if (!answer.ok) throw new Error(`${catalogue}: answers ${answer.status}`);
	const { hits } = await answer.json();
	total = hits.total.value;
	for (const { _source: record } of hits.hits) {
		const links = [record.link ?? []].flat().filter(({ protocol = "" }) => protocols.test(protocol));
		for (const [at, { url, urlObject, name, nameObject }] of links.entries()) {
			const [en, fr] = ["eng", "fre"].map((lang) => {
				const title = textIn(lang, record.resourceTitleObject);
				const link = { url: textIn(lang, urlObject, url), name: textIn(lang, nameObject, name), title };
				return memberOf(link, { uuid: record.uuid });
			});
			await writeLayer(folder, `${prefix}${record.uuid}-${at + 1}`, en, fr);
		}
	}
}
