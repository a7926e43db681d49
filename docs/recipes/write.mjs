import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Accepts one layer of an ArcGIS MapServer or FeatureServer. */
const arcgisLayer = /\/(?:Map|Feature)Server\/\d+\/?$/i;

/** Parameters of a request, which are no part of the address of a service. */
const ofRequest = /^(?:service|version|request|layers|styles|format|legend_format|feature_info_type|f)$/i;

/**
 * Pairs the links of one kind: the first English one with the first French one, and so on. A link in both languages,
 * or in none of them, is a pair by itself; so is each link if the other language has none.
 * @param links each with `langs`, the languages it names, such as ["en"], ["eng", "fra"] or ["zxx"]
 * @returns [English, French]; a link alone if there are not as many of the other language
 */
function pairsOf(links) {
	const isIn = (lang, { langs }) => langs.some((one) => one.startsWith(lang));
	const english = links.filter((link) => isIn("en", link) && !isIn("fr", link));
	const french = links.filter((link) => isIn("fr", link) && !isIn("en", link));
	if (english.length === 0 || french.length === 0) return links.map((link) => [link, link]);
	const both = links.filter((link) => isIn("en", link) === isIn("fr", link)).map((link) => [link, link]);
	if (english.length !== french.length) return [...both, ...[...english, ...french].map((link) => [link])];
	return [...both, ...english.map((link, at) => [link, french[at]])];
}

/**
 * The members of a registration for one language, from the link of a catalogue.
 * @param url of the link, which may have `layers`
 * @param name of the layer in a WMS, if the address has no `layers`
 * @returns null if the link names no single layer of a WMS or of ArcGIS
 */
function memberOf(url, name, { title, metadata }) {
	if (!URL.canParse(url)) return null;
	const address = new URL(url);
	const parameters = new Map([...address.searchParams].map(([key, text]) => [key.toLowerCase(), text]));
	for (const key of [...address.searchParams.keys()])
		if (ofRequest.test(key)) address.searchParams.delete(key);
	const service_url = address.href.replace(/\?$/, "");
	const common = { service_url, ...(title && { service_name: title }), metadata };
	if (arcgisLayer.test(address.pathname)) return { payload_type: "feature", member: common };
	const layer = parameters.get("layers") || name;
	// Commas separate several layers. A name with spaces is a title for people.
	if (!layer || /[,\s]/.test(layer)) return null;
	const infos = ["legend_format", "feature_info_type"].filter((key) => parameters.get(key));
	const types = Object.fromEntries(infos.map((key) => [key, parameters.get(key)]));
	return { payload_type: "wms", member: { ...common, layer, ...types } };
}

/**
 * Writes the layers of a data set into the folder, and says which are left out and why.
 * @param links each with its smallkey, whether it is of a WMS, its languages (see `pairsOf`), and in each language its
 * address and name: `url(lang)`, `name(lang)`
 * @param title returns the title in a language
 */
export async function writeLayers(folder, links, title, metadata) {
	const memberIn = (lang, link) =>
		memberOf(link.url(lang), link.name(lang), { title: title(lang), metadata });
	const pairs = [true, false].flatMap((isWms) => pairsOf(links.filter((link) => link.isWms === isWms)));
	for (const [first, second] of pairs) {
		const { smallkey } = first;
		const [en, fr] = [memberIn("en", first), second && memberIn("fr", second)];
		const reason = reasonAgainst(smallkey, en, fr);
		if (reason) {
			console.error(`left out: ${smallkey}: ${reason}`);
			continue;
		}
		const registration = { version: "1.0.0", payload_type: en.payload_type, en: en.member, fr: fr.member };
		await mkdir(folder, { recursive: true });
		await writeFile(join(folder, `${smallkey}.json`), `${JSON.stringify(registration, null, 2)}\n`);
		console.log(smallkey);
	}
}

function reasonAgainst(smallkey, en, fr) {
	if (!/^[\w=+-]{1,64}$/.test(smallkey)) return "is not a smallkey (1 to 64 of A-Z a-z 0-9 _ - + =)";
	if (fr === undefined) return "as many English as French links are needed to pair them";
	if (en === null || fr === null) return "names no single layer";
	return en.payload_type === fr.payload_type ? "" : "is a WMS in one language and ArcGIS in the other";
}
