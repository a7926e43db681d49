import type { TargetName } from "../../registry/targets/target.ts";

/** What an operator says of the page. */
export interface OperatorSettings {
	/** Tiles of EPSG:3978 in its official grid, with `{z}`, `{y}` and `{x}`; empty: the land's outline. */
	baseMap: string;
	/** Who made the base map; shown in its corner. */
	baseMapAttribution: string;
	/** Address of the public repository, such as `https://github.com/owner/name`; empty where it is not public. */
	repository: string;
	branch: string;
}

/** The content of `site.json`, which the pages hold too. */
export interface SiteSettings extends OperatorSettings {
	targets: readonly TargetName[];
	mapWkid: number;
	/** Whether the service behind this page takes signed requests. */
	canSend: boolean;
	metadataUrl: string;
	catalogueUrl: string;
}
