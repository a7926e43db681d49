import { targetNames } from "../../../registry/targets/table.ts";
import { type PageSettings, pagesVersion, type SiteSettings } from "../../../site/static/page-settings.ts";

export const plainSettings: SiteSettings = {
	targets: ["v0.9", "v1", "v2", "ramp4"],
	mapWkid: 3978,
	name: null,
	contact: "",
	terms: null,
	baseMap: "",
	baseMapAttribution: "",
	repository: "",
	branch: "main",
	canSend: false,
	metadataUrl: "",
	catalogueUrl: "",
	hasLayerPages: true,
};

export const plainOptions = { site: plainSettings, publicUrl: "", look: { theme: "", signature: "" } };

/** What pages of entries need, with names of assets that are none. */
export const pageSettings: PageSettings = {
	version: pagesVersion,
	assets: {
		script: "a/main.js",
		choose: "a/choose.js",
		styles: "a/styles.css",
		icon: "a/icon.svg",
		land: "l.svg",
		worker: "a/worker.js",
		imports: [],
		layerImports: [],
		english: "a/english.js",
		french: "a/french.js",
		theme: null,
		signature: null,
	},
	publicUrl: "",
	site: { ...plainSettings, targets: targetNames },
};
