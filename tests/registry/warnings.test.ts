import * as assert from "uvu/assert";
import { type LangPart2, type Registration1, warningsOf } from "../../registry/registration.ts";
import { textsOf } from "../../registry/texts.ts";
import { test } from "../helpers/suite.ts";

type Type = "wms" | "feature";

function registrationOf(payload_type: Type, en: string, fr: string): Registration1 {
	const layer = payload_type === "wms" ? { layer: "a" } : {};
	const [english, french] = [en, fr].map((service_url) => ({ service_url, ...layer }));
	return { version: "1.0.0", payload_type, en: english, fr: french } as Registration1;
}

function saidOf(payload_type: Type, address: string): string[] {
	const other = payload_type === "wms" ? "https://h.example/fr" : "https://h.example/fr/MapServer/1";
	const warnings = textsOf(warningsOf(registrationOf(payload_type, address, other)));
	for (const warning of warnings) assert.match(warning, /^\/en\/service_url: /);
	return warnings.map((warning) => warning.replace("/en/service_url: ", ""));
}

const lostQuery = "has a query, which RAMP 4.0 drops when it requests a legend or a clicked feature";
const kept = (name: string) =>
	`has parameters that everyone can read in the fragment, and on which GeoView fails: "${name}"`;
const wholeService = (name: string) => `must end with the number of one layer: …/${name} is a whole service`;
const unreachable = (host: string) => `is at ${host}, which readers elsewhere cannot reach`;

const addresses: [Type, string, string[]][] = [
	["wms", "h.example/wms", []],
	["wms", "h.example/wms?", []],
	["wms", "h.example/wms?map=a", [lostQuery]],
	["wms", "h.example/wms?SERVICE=WMS", []],
	["wms", "h.example/wms?map=a&request=GetMap", [lostQuery]],
	["wms", "localhost/wms", [unreachable("localhost")]],
	["wms", "maps.localhost/wms", [unreachable("maps.localhost")]],
	["wms", "10.1.2.3/wms", [unreachable("10.1.2.3")]],
	["wms", "0x7f.1/wms", [unreachable("127.0.0.1")]],
	["wms", "172.31.0.1/wms", [unreachable("172.31.0.1")]],
	["wms", "172.32.0.1/wms", []],
	["wms", "[::1]/wms", [unreachable("::1")]],
	["wms", "[::ffff:192.168.0.1]/wms", [unreachable("::ffff:c0a8:1")]],
	["wms", "192.0.66.1/wms", []],
	["wms", "10.example/wms", []],
	["feature", "h.example/a/MapServer/12", []],
	["feature", "h.example/a/FeatureServer/0/", []],
	["feature", "h.example/a/MapServer?f=json", [wholeService("MapServer")]],
	["feature", "h.example/a/mapserver/3?token=a", [kept("token")]],
	["feature", "h.example/a/MapServer/3?_=1&path=a%20b", [kept("path")]],
	[
		"feature",
		"h.example/a/FeatureServer/1/query?where=1%3D1",
		[
			"must be the address of a layer or service, without /query: https://h.example/a/FeatureServer/1",
			kept("where"),
		],
	],
];

test("what is odd about an address", () => {
	assert.equal(saidOf("wms", "http://h.example/wms"), ["is not https: a page over https cannot load it"]);
	for (const [payload_type, address, expected] of addresses)
		assert.equal(saidOf(payload_type, `https://${address}`), expected, `${payload_type} at ${address}`);
});

test("a type of feature info that no viewer of version 1.x reads, and another address for a target", () => {
	const registration = registrationOf("wms", "https://h.example/en", "https://h.example/fr");
	const fr = {
		...registration.fr,
		feature_info_type: "text/xml",
		metadata: { metadata_url: "http://h.example/m" },
	};
	const targets = { v2: { en: { service_url: "https://h.example/ows?map=a" } } };
	assert.equal(textsOf(warningsOf({ ...registration, fr, targets })), [
		`/targets/v2/en/service_url: ${lostQuery}`,
		"/fr/feature_info_type: viewers read text/html, text/plain, application/json only",
	]);
});

test("a name in one language only", () => {
	const registration = registrationOf("wms", "https://h.example/en", "https://h.example/fr");
	const { en, fr } = registration;
	const rest = "viewers show the service's own name here";
	const named = (english: object, french: object) =>
		textsOf(warningsOf({ ...registration, en: { ...en, ...english }, fr: { ...fr, ...french } }));
	const name = { service_name: "Roads" };
	assert.equal(named(name, {}), [`/fr/service_name: is missing, and /en has one: ${rest}`]);
	assert.equal(named({ service_name: "" }, name), [`/en/service_name: is missing, and /fr has one: ${rest}`]);
	assert.equal([...named(name, name), ...named({}, { service_name: "" })], []);
});

test("services of version 2.0", () => {
	const fr: LangPart2 = { service_type: "esriTile", service_url: "https://h.example/t/MapServer" };
	const numbered = "must be the address of a layer or service, without /3: …/MapServer";
	for (const [service_type, path, ...texts] of [
		["esriMapServer", "MapServer"],
		["esriMapServer", "MapServer/3", numbered],
		["esriFeature", "MapServer", wholeService("MapServer")],
		["ogcWms", "b?c=d", lostQuery],
	] as const) {
		const en = { service_type, service_url: `https://h.example/a/${path}` };
		const warnings = textsOf(warningsOf({ version: "2.0", en, fr }));
		assert.equal(
			warnings,
			texts.map((text) => `/en/service_url: ${text}`),
		);
	}
});

test.run();
