// From the WMS and ArcGIS links of a GeoNetwork 4 catalogue to a folder for `npx fragment-publisher register`.
// node docs/recipes/geonetwork.mjs https://catalogue.example/geonetwork 'groupOwner:12' my-layers energy-
// The interface: https://docs.geonetwork-opensource.org/4.2/api/search/ (search/records/_search)
import { pairsOf, writeLayer } from "./write.mjs";

const [catalogue, filter, folder, prefix = ""] = process.argv.slice(2);
const size = 100;
const protocols = /^(?:OGC:WMS|ESRI[ :])/i;
const langs = [["eng"], ["fre", "fra"]];

/** A text of a record in one language: `{"default": "…", "langeng": "…", "langfre": "…"}`. Version 4.0 has plain texts. */
function textIn(codes, texts, plain) {
	return codes.map((code) => texts?.[`lang${code}`]).find(Boolean) ?? texts?.default ?? plain;
}

/** The languages that a Canadian record (HNAP) names in a link's description: `Web Service;WMS;eng,fra`. */
function langsOf({ descriptionObject, description }) {
	const named = /;\s*((?:eng|fra|zxx)(?:\s*,\s*(?:eng|fra|zxx))*)\s*$/.exec(
		textIn(langs[0], descriptionObject, description) ?? "",
	);
	return named ? named[1].split(",").map((one) => one.trim()) : [];
}

async function write({ uuid, resourceTitleObject, link = [] }) {
	const links = [link]
		.flat()
		.filter(({ protocol }) => protocols.test(protocol))
		.map((one, at) => ({ ...one, number: at + 1, langs: langsOf(one) }));
	for (const ofWms of [true, false]) {
		for (const pair of pairsOf(links.filter(({ protocol }) => /WMS/i.test(protocol) === ofWms))) {
			const described = langs.map((codes, at) => {
				if (!pair[at]) return undefined;
				const { url, urlObject, name, nameObject } = pair[at];
				const title = textIn(codes, resourceTitleObject);
				const metadata = { uuid };
				return { url: textIn(codes, urlObject, url), name: textIn(codes, nameObject, name), title, metadata };
			});
			await writeLayer(folder, `${prefix}${uuid}-${pair[0].number}`, described);
		}
	}
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
	for (const { _source: record } of hits.hits) await write(record);
	total = hits.total.value;
}
