// From the WMS and ArcGIS resources of a CKAN catalogue to a folder for `npx fragment-publisher register`.
// node docs/recipes/ckan.mjs https://open.canada.ca/data 'organization:nrcan-rncan' my-layers nrcan-
// The interface: https://docs.ckan.org/en/latest/api/ (package_search)
import { memberOf, writeLayer } from "./write.mjs";

const [catalogue, filter, folder, prefix = ""] = process.argv.slice(2);
const rows = 100;

/** Whether a resource is in a language. One that names no language is in both. */
function isIn(lang, { language = [] }) {
	const langs = [language].flat();
	return langs.length === 0 || langs.some((one) => one.startsWith(lang));
}

for (let start = 0, count = 1; start < count; start += rows) {
	const query = new URLSearchParams({ fq: filter, sort: "id asc", rows, start });
	const answer = await fetch(`${catalogue}/api/3/action/package_search?${query}`);
	if (!answer.ok) throw new Error(`${catalogue}: answers ${answer.status}`);
	const { result } = await answer.json();
	count = result.count;
	for (const { id, title, title_translated: titles = {}, resources } of result.results) {
		for (const format of [/^wms$/i, /^esri rest$/i]) {
			const ofFormat = resources.filter((one) => format.test(one.format));
			const french = ofFormat.filter((one) => isIn("fr", one));
			// The first English resource and the first French one belong together, and so on.
			for (const [at, one] of ofFormat.filter((one) => isIn("en", one)).entries()) {
				const other = french[at] ?? one;
				const metadata = { catalogue_url: `${catalogue}/dataset/${id}` };
				const en = memberOf({ url: one.url, title: titles.en ?? title }, metadata);
				const fr = memberOf({ url: other.url, title: titles.fr ?? title }, metadata);
				await writeLayer(folder, `${prefix}${one.id}`, en, fr);
			}
		}
	}
}
