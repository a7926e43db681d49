// From the WMS and ArcGIS resources of a CKAN catalogue to a folder for `npx fragment-publisher register`.
// node docs/recipes/ckan.mjs https://open.canada.ca/data 'organization:nrcan-rncan' my-layers nrcan-
// The interface: https://docs.ckan.org/en/2.11/api/ (package_search). Languages as in open.canada.ca's schema:
// https://github.com/open-data/ckanext-canada
import { pairsOf, writeLayer } from "./write.mjs";

const [catalogue, filter, folder, prefix = ""] = process.argv.slice(2);
const kinds = [/^wms$/i, /^(?:esri rest|(?:esri )?(?:map|feature) ?server|arcgis geoservices rest api)$/i];

/** The title in a language, otherwise its machine translation, otherwise the only title. */
function titleIn(lang, { title, title_translated: titles }) {
	return titles?.[lang] || titles?.[lang === "en" ? "en-t-fr" : "fr-t-en"] || title;
}

async function write(dataset) {
	const metadata = { catalogue_url: `${catalogue}/dataset/${dataset.id}` };
	for (const kind of kinds) {
		const links = (dataset.resources ?? [])
			.filter(({ format }) => kind.test(format?.trim()))
			.map(({ language, ...resource }) => ({ ...resource, langs: [language ?? []].flat() }));
		for (const pair of pairsOf(links)) {
			const described = ["en", "fr"].map((lang, at) => {
				if (!pair[at]) return undefined;
				// GeoServer's and data.gov.au's resources name their layer in wms_layer.
				return { url: pair[at].url, name: pair[at].wms_layer, title: titleIn(lang, dataset), metadata };
			});
			await writeLayer(folder, `${prefix}${pair[0].id}`, described);
		}
	}
}

for (let start = 0, count = 1; start < count; ) {
	const query = new URLSearchParams({ fq: filter, sort: "id asc", rows: 100, start });
	const answer = await fetch(`${catalogue}/api/3/action/package_search?${query}`);
	if (!answer.ok) throw new Error(`${catalogue}: answers ${answer.status}`);
	const { result } = await answer.json();
	for (const dataset of result.results) await write(dataset);
	// A catalogue may send fewer rows than it was asked for.
	start += result.results.length || result.count;
	count = result.count;
}
